/* SPDX-License-Identifier: MIT */
/*
 * Serial ports, written by polling: the last words of a dying kernel need no interrupt.  What comes
 * in does interrupt.
 *
 * The caller serialises; the console does so by the log's lock.  Reading and writing do not disturb
 * each other: input needs one reader at a time, and no lock.  No carriage return is added to a
 * newline: what a program prints is what its runner reads, byte for byte.
 */
#include "i386/devices/serial.h"

#include "i386/cpu/io.h"
#include "i386/cpu/relax.h"

/* Registers, from the port's base. */
#define DATA         0 /* With DIVISOR_ACCESS set, the divisor's low byte, */
#define INTERRUPTS   1 /* and its high byte. */
#define FIFO_CONTROL 2
#define LINE_CONTROL 3
#define MODEM        4
#define LINE_STATUS  5
#define SCRATCH      7

#define DIVISOR_ACCESS 0x80
#define EIGHT_BITS     0x03 /* No parity, one stop bit. */
#define DIVISOR_115200 1
#define FIFO_CLEAR     0x07 /* Enabled, both directions emptied; each byte interrupts. */
#define FIFO_TOGETHER  0xc0 /* 14 do, or fewer after which nothing comes for four bytes' time. */
#define READY          0x0b /* DTR and RTS: the other side may send; OUT2: so may we interrupt. */
#define WHEN_RECEIVED  0x01
#define RECEIVED       0x01
#define HOLDING_EMPTY  0x20
#define ALL_SENT       0x40 /* The shift register is empty too. */

/* Reads of the status before a port counts as stuck: some 50 ms, 500 characters' time. */
#define PATIENCE 65536

/* The scratch register keeps a value; where no port is, reads do not depend on writes. */
static bool serial_is_present(uint16_t base)
{
	outb(base + SCRATCH, 0x5a);
	if (inb(base + SCRATCH) != 0x5a)
		return false;
	outb(base + SCRATCH, 0xa5);
	return inb(base + SCRATCH) == 0xa5;
}

static void serial_set_up(uint16_t base, bool comes_in_bulk)
{
	outb(base + INTERRUPTS, 0);
	outb(base + LINE_CONTROL, DIVISOR_ACCESS);
	outb(base + DATA, DIVISOR_115200);
	outb(base + INTERRUPTS, 0);
	outb(base + LINE_CONTROL, EIGHT_BITS);
	outb(base + FIFO_CONTROL, FIFO_CLEAR | (comes_in_bulk ? FIFO_TOGETHER : 0));
	outb(base + MODEM, READY);
}

void serial_find(struct serial *serial)
{
	if (serial->state != SERIAL_UNKNOWN)
		return;
	serial->state = serial_is_present(serial->base) ? SERIAL_PRESENT : SERIAL_MISSING;
	if (serial->state == SERIAL_PRESENT)
		serial_set_up(serial->base, serial->comes_in_bulk);
}

static bool serial_wait_for(uint16_t base, uint8_t status)
{
	for (unsigned turn = 0; turn < PATIENCE; turn++) {
		if ((inb(base + LINE_STATUS) & status) != 0)
			return true;
		machine_relax();
	}
	return false;
}

void serial_put(struct serial *serial, char c)
{
	if (serial->state == SERIAL_UNKNOWN)
		serial_find(serial);
	if (serial->state == SERIAL_PRESENT && serial_wait_for(serial->base, HOLDING_EMPTY))
		outb(serial->base + DATA, (uint8_t)c);
}

void serial_drain(const struct serial *serial)
{
	if (serial->state == SERIAL_PRESENT)
		serial_wait_for(serial->base, ALL_SENT);
}

void serial_listen(const struct serial *serial, bool listen)
{
	if (serial->state == SERIAL_PRESENT)
		outb(serial->base + INTERRUPTS, listen ? WHEN_RECEIVED : 0);
}

bool serial_take(const struct serial *serial, char *byte)
{
	if (serial->state != SERIAL_PRESENT || (inb(serial->base + LINE_STATUS) & RECEIVED) == 0)
		return false;
	*byte = (char)inb(serial->base + DATA);
	return true;
}
