/* SPDX-License-Identifier: MIT */
/* Where text goes: the console devices by their names in kern/machine.h. */
#include "i386/serial.h"
#include "i386/vga.h"
#include "kern/assert.h"
#include "kern/machine.h"

/* Guarded by the log's lock, as both devices are. */
static struct serial serials[] = {
	[MACHINE_CONSOLE_COM0] = {.base = SERIAL_COM0},
	[MACHINE_CONSOLE_COM1] = {.base = SERIAL_COM1},
};

void machine_console_put(enum machine_console console, char c)
{
	assert(console < MACHINE_CONSOLES);
	if (console == MACHINE_CONSOLE_VGA)
		vga_put(c);
	else
		serial_put(&serials[console], c);
}

void machine_console_drain(void)
{
	for (unsigned n = 0; n < sizeof serials / sizeof serials[0]; n++)
		serial_drain(&serials[n]);
}
