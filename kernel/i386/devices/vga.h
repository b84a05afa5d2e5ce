/* SPDX-License-Identifier: MIT */
/* The VGA text screen, 80 by 25. */
#ifndef I386_DEVICES_VGA_H
#define I386_DEVICES_VGA_H

/* Puts one character at the cursor; newline, return, backspace and tab move it. */
void vga_put(char c);

#endif
