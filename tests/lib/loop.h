/* SPDX-License-Identifier: MIT */
/*
 * Serial ports in their loop mode, in which a program types to itself: what it sends comes in.
 *
 * Their registers are reached by the first parameter of the program, the right to all devices.
 */
#ifndef TEST_LOOP_H
#define TEST_LOOP_H

#include <stdint.h>

#define LOOP_COM0 0x3f8
#define LOOP_COM1 0x2f8

/*
 * May be called often: the ports stay the task's, as memory of its that is there before any test
 * counts.
 */
void loop_use_ports(void);

/* Until all that was sent is on the line. */
void loop_await_sent(uint16_t base);

/* From here on what is sent comes back, or goes out again. */
void loop_begin(uint16_t base);
void loop_end(uint16_t base);

void loop_type(uint16_t base, const char *text);

#endif
