/* SPDX-License-Identifier: MIT */
/*
 * The device "console": output to where programs print, input from the first serial port.  And the
 * device "com1", the second serial port: if there is one, and neither the kernel's log nor what
 * programs print goes there.  And the device "log", which can only be written to: the kernel's log.
 */
#ifndef DEVICE_CONSOLE_H
#define DEVICE_CONSOLE_H

/* At boot, before there is another CPU, when the log knows where it goes. */
void console_init(void);

#endif
