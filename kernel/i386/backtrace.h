/* SPDX-License-Identifier: MIT */
/* Walking a kernel stack by its frame pointers. */
#ifndef I386_BACKTRACE_H
#define I386_BACKTRACE_H

#include <stdint.h>

/*
 * Prints `pc` and the return addresses that the frame pointer `ebp` leads to, by name.  Reads only
 * memory that is mapped, and ends with the stack, whatever it finds there.
 */
void backtrace_print(uint32_t pc, uint32_t ebp);

#endif
