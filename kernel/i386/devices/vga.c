/* SPDX-License-Identifier: MIT */
/*
 * The VGA text screen.
 *
 * Owns the cells at 0xb8000 and the cursor's registers.  The caller serialises; the console does so
 * by the log's lock.  Without a VGA the cells keep nothing, and every character is dropped.
 */
#include "i386/devices/vga.h"

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "i386/cpu/io.h"
#include "i386/cpu/memory.h"

#define CELLS_PHYSICAL 0xb8000
#define COLUMNS        80
#define ROWS           25
#define CELLS          (COLUMNS * ROWS)
#define TAB            8

#define GREY_ON_BLACK 0x0700
#define BLANK         (GREY_ON_BLACK | ' ')

#define PORT_INDEX         0x3d4
#define PORT_VALUE         0x3d5
#define REGISTER_CURSOR_HI 0x0e
#define REGISTER_CURSOR_LO 0x0f

static struct {
	enum {
		VGA_UNKNOWN,
		VGA_PRESENT,
		VGA_MISSING
	} state;
	unsigned cursor; /* The cell that the next character goes to. */
} vga;

static volatile uint16_t *vga_cell(unsigned number)
{
	assert(number < CELLS);
	return (volatile uint16_t *)phys_to_virt(CELLS_PHYSICAL) + number;
}

static void vga_fill(unsigned from, unsigned to)
{
	for (unsigned i = from; i < to; i++)
		*vga_cell(i) = BLANK;
}

static bool vga_keeps(uint16_t value)
{
	*vga_cell(0) = value;
	return *vga_cell(0) == value;
}

static void vga_find(void)
{
	bool present = vga_keeps(0x55aa) && vga_keeps(0xaa55);

	vga.state = present ? VGA_PRESENT : VGA_MISSING;
	if (present)
		vga_fill(0, CELLS);
}

static void vga_scroll(void)
{
	for (unsigned i = 0; i < CELLS - COLUMNS; i++)
		*vga_cell(i) = *vga_cell(i + COLUMNS);
	vga_fill(CELLS - COLUMNS, CELLS);
	vga.cursor -= COLUMNS;
}

static void vga_show_cursor(void)
{
	outb(PORT_INDEX, REGISTER_CURSOR_HI);
	outb(PORT_VALUE, (uint8_t)(vga.cursor >> 8));
	outb(PORT_INDEX, REGISTER_CURSOR_LO);
	outb(PORT_VALUE, vga.cursor & 0xff);
}

static void vga_put_one(char c)
{
	unsigned column = vga.cursor % COLUMNS;

	switch (c) {
	case '\n':
		vga.cursor += COLUMNS - column;
		break;
	case '\r':
		vga.cursor -= column;
		break;
	case '\b':
		vga.cursor -= column != 0;
		break;
	case '\t':
		vga.cursor += TAB - column % TAB;
		break;
	default:
		*vga_cell(vga.cursor++) = GREY_ON_BLACK | (uint8_t)c;
	}
}

void vga_put(char c)
{
	if (vga.state == VGA_UNKNOWN)
		vga_find();
	if (vga.state == VGA_MISSING)
		return;
	vga_put_one(c);
	if (vga.cursor >= CELLS)
		vga_scroll();
	vga_show_cursor();
}
