/* SPDX-License-Identifier: MIT */
/* Serial ports in their loop mode: see loop.h. */
#include "loop.h"

#include <stdbool.h>

#include "check.h"
#include "ipc.h"

#define MODEM       4 /* From the base. */
#define STATUS      5
#define LAST        7
#define MODEM_USUAL 0x0b
#define MODEM_LOOP  0x1b
#define ALL_SENT    0x40

static void out(uint16_t port, uint8_t byte)
{
	__asm__ volatile("outb %0, %1" ::"a"(byte), "Nd"(port));
}

static uint8_t in(uint16_t port)
{
	uint8_t byte;

	__asm__ volatile("inb %1, %0" : "=a"(byte) : "Nd"(port));
	return byte;
}

static void loop_use(uint16_t base)
{
	mach_port_t ports;

	EXPECT_EQ(i386_io_perm_create(check_number(0), base, base + LAST, &ports), KERN_SUCCESS);
	EXPECT_EQ(i386_io_perm_modify(mach_task_self(), ports, TRUE), KERN_SUCCESS);
	port_drop_send(ports);
	in(base + STATUS);
}

void loop_use_ports(void)
{
	static bool used;

	if (used)
		return;
	used = true;
	loop_use(LOOP_COM0);
	loop_use(LOOP_COM1);
	balance_note();
}

void loop_await_sent(uint16_t base)
{
	while ((in(base + STATUS) & ALL_SENT) == 0)
		continue;
}

void loop_begin(uint16_t base)
{
	loop_await_sent(base);
	out(base + MODEM, MODEM_LOOP);
}

void loop_end(uint16_t base)
{
	loop_await_sent(base);
	out(base + MODEM, MODEM_USUAL);
}

void loop_type(uint16_t base, const char *text)
{
	loop_begin(base);
	for (; *text != '\0'; text++)
		out(base, (uint8_t)*text);
	loop_end(base);
}
