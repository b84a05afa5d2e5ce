/* SPDX-License-Identifier: MIT */
/*
 * The programmable interval timer.
 *
 * Owns ports 0x40 to 0x43 and the two bits of port 0x61 that gate channel 2.  Channel 2 is used at
 * boot only.  Channel 0 belongs to the sampling clock, which sees to it that one CPU at a time
 * programs it; some of that happens in an NMI.
 */
#include "i386/devices/pit.h"

#include "i386/cpu/io.h"

#define PORT_CHANNEL_0 0x40
#define PORT_CHANNEL_2 0x42
#define PORT_CONTROL   0x43
#define PORT_GATE      0x61

/* Mode 0: the output goes low at once and high when the count has passed, and stays there. */
#define CONTROL_0_ONE_SHOT 0x30 /* Channel 0, low byte then high byte, mode 0. */
#define CONTROL_2_RULER    0xb0 /* Channel 2, the same. */
#define CONTROL_2_LATCH    0x80

#define GATE_CHANNEL_2 0x01
#define GATE_SPEAKER   0x02

void pit_one_shot(uint32_t counts)
{
	outb(PORT_CHANNEL_0, (uint8_t)counts);
	outb(PORT_CHANNEL_0, (uint8_t)(counts >> 8));
}

uint32_t pit_one_shot_begin(uint32_t counts)
{
	outb(PORT_CHANNEL_0, (uint8_t)counts);
	return counts >> 8;
}

void pit_one_shot_end(uint32_t rest)
{
	outb(PORT_CHANNEL_0, (uint8_t)rest);
}

/* The mode without a count: the chip waits for one. */
void pit_halt(void)
{
	outb(PORT_CONTROL, CONTROL_0_ONE_SHOT);
}

void pit_ruler_start(void)
{
	outb(PORT_GATE, (inb(PORT_GATE) & ~GATE_SPEAKER) | GATE_CHANNEL_2);
	outb(PORT_CONTROL, CONTROL_2_RULER);
	outb(PORT_CHANNEL_2, 0xff);
	outb(PORT_CHANNEL_2, 0xff);
}

void pit_ruler_latch(void)
{
	outb(PORT_CONTROL, CONTROL_2_LATCH);
}

uint16_t pit_ruler_latched(void)
{
	uint8_t low = inb(PORT_CHANNEL_2);

	return (uint16_t)(low | inb(PORT_CHANNEL_2) << 8);
}
