/* SPDX-License-Identifier: MIT */
/* Serial ports (16550), written by polling. */
#ifndef I386_SERIAL_H
#define I386_SERIAL_H

#include <stdint.h>

/* One port.  It is looked for when the first character is put. */
struct serial {
	uint16_t base;
	enum {
		SERIAL_UNKNOWN,
		SERIAL_PRESENT,
		SERIAL_MISSING
	} state;
};

#define SERIAL_COM0 0x3f8
#define SERIAL_COM1 0x2f8

/* Sends one character as it is; drops it where there is no port or nothing leaves it. */
void serial_put(struct serial *serial, char c);

/* Waits until the last character has left, but not for ever. */
void serial_drain(const struct serial *serial);

#endif
