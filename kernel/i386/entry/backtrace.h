/* SPDX-License-Identifier: MIT */
/* Walking a kernel stack by its frame pointers. */
#ifndef I386_ENTRY_BACKTRACE_H
#define I386_ENTRY_BACKTRACE_H

#include <stdint.h>

struct frame;

/*
 * Prints `pc` and the return addresses that the frame pointer `ebp` leads to, by name.  Goes
 * through interrupts to what they interrupted.  Reads only memory that is mapped, and ends with the
 * stack, whatever it finds there.
 */
void backtrace_print(uint32_t pc, uint32_t ebp);

/* As backtrace_print(), from where `frame` was, in kernel mode. */
void backtrace_print_frame(const struct frame *frame);

#endif
