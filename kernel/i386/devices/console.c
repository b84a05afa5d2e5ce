/* SPDX-License-Identifier: MIT */
/* Where text goes and comes from: the console devices by their names in base/machine.h. */
#include "base/assert.h"
#include "base/machine.h"
#include "i386/cpu/vectors.h"
#include "i386/devices/ioapic.h"
#include "i386/devices/serial.h"
#include "i386/devices/vga.h"
#include "thread/cpu_state.h"

/* Guarded by the log's lock, where the log goes; but for input. */
static struct serial serials[] = {
	[MACHINE_CONSOLE_COM0] = {.base = SERIAL_COM0},
	[MACHINE_CONSOLE_COM1] = {.base = SERIAL_COM1, .comes_in_bulk = true},
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

/* ---------------- Input ---------------- */

static const unsigned irqs[] = {
	[MACHINE_CONSOLE_COM0] = SERIAL_COM0_IRQ,
	[MACHINE_CONSOLE_COM1] = SERIAL_COM1_IRQ,
};

static struct serial *console_serial_of(enum machine_console console)
{
	assert(console < sizeof serials / sizeof serials[0]);
	return &serials[console];
}

bool machine_console_prepare(enum machine_console console)
{
	struct serial *serial = console_serial_of(console);

	serial_find(serial);
	return serial->state == SERIAL_PRESENT;
}

/* To one CPU: of two that read the same port each would get a part. */
void machine_console_listen(enum machine_console console, unsigned interrupt, bool listen)
{
	const struct serial *serial = console_serial_of(console);
	unsigned irq = irqs[console];

	if (!ioapic_has(irq))
		return;
	if (listen)
		ioapic_route_to(irq, (uint8_t)(VECTOR_DEVICE + interrupt), cpus[0].machine.apic_id);
	serial_listen(serial, listen);
	if (!listen)
		ioapic_mask(irq);
}

bool machine_console_take(enum machine_console console, char *byte)
{
	return serial_take(console_serial_of(console), byte);
}
