/* SPDX-License-Identifier: MIT */
/*
 * The device "console": output to where programs print, input from the first serial line.
 *
 * Bytes are passed on as they are.  A read waits for the first byte and takes what is there.
 */
#ifndef DEVICE_CONSOLE_H
#define DEVICE_CONSOLE_H

/* At boot, before there is another CPU. */
void console_init(void);

#endif
