/* SPDX-License-Identifier: MIT */
/* Serial ports (16550), written by polling and read by interrupt. */
#ifndef I386_DEVICES_SERIAL_H
#define I386_DEVICES_SERIAL_H

#include <stdbool.h>
#include <stdint.h>

/* One port.  It is looked for when the first character is put, or by serial_find(). */
struct serial {
	uint16_t base;
	bool comes_in_bulk; /* Files rather than keys: an interrupt for every 14 bytes is enough. */
	enum {
		SERIAL_UNKNOWN,
		SERIAL_PRESENT,
		SERIAL_MISSING
	} state;
};

#define SERIAL_COM0 0x3f8
#define SERIAL_COM1 0x2f8

#define SERIAL_COM0_IRQ 4
#define SERIAL_COM1_IRQ 3

/* Sends one character as it is; drops it where there is no port or nothing leaves it. */
void serial_put(struct serial *serial, char c);

/* Looks for the port, if that has not been done. */
void serial_find(struct serial *serial);

/* Whether bytes that come interrupt, as an edge; if some are there, at once. */
void serial_listen(const struct serial *serial, bool listen);

/* Takes a byte that has come; false if none has. */
bool serial_take(const struct serial *serial, char *byte);

/* Waits until the last character has left, but not for ever. */
void serial_drain(const struct serial *serial);

#endif
