/* SPDX-License-Identifier: MIT */
/* Where text goes and comes from: the console devices by their names in kern/machine.h. */
#include "i386/ioapic.h"
#include "i386/serial.h"
#include "i386/vectors.h"
#include "i386/vga.h"
#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/machine.h"

/* Guarded by the log's lock, as both devices are; but for input. */
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

/* ---------------- Input: from the first serial port ---------------- */

static struct serial *const input = &serials[MACHINE_CONSOLE_COM0];

void machine_console_prepare(void)
{
	serial_find(input);
}

/* To one CPU: of two that read the same port each would get a part. */
void machine_console_listen(unsigned interrupt, bool listen)
{
	if (!ioapic_has(SERIAL_COM0_IRQ))
		return;
	if (listen)
		ioapic_route_to(SERIAL_COM0_IRQ, (uint8_t)(VECTOR_DEVICE + interrupt),
				cpus[0].machine.apic_id);
	serial_listen(input, listen);
	if (!listen)
		ioapic_mask(SERIAL_COM0_IRQ);
}

bool machine_console_take(char *byte)
{
	return serial_take(input, byte);
}
