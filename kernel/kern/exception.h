/* SPDX-License-Identifier: MIT */
/* Exceptions of user programs, in Mach's terms. */
#ifndef KERN_EXCEPTION_H
#define KERN_EXCEPTION_H

#include <stdint.h>

#define EXC_BAD_ACCESS      1 /* code: a kern_return_t, subcode: the address */
#define EXC_BAD_INSTRUCTION 2
#define EXC_ARITHMETIC      3
#define EXC_EMULATION       4
#define EXC_SOFTWARE        5
#define EXC_BREAKPOINT      6

/*
 * The current thread has caused an exception in user mode: ends its task, with a line in the log,
 * and status 128 + exception.  Returns; the thread ends on its way out.  Under the kernel lock.
 */
void exception_raise(int exception, int code, uint32_t subcode);

#endif
