/* SPDX-License-Identifier: MIT */
/* Exceptions: what exception_raise() says has happened. */
#ifndef MACH_EXCEPTION_H
#define MACH_EXCEPTION_H

#define EXC_BAD_ACCESS      1 /* The code is a kern_return_t, the subcode the address. */
#define EXC_BAD_INSTRUCTION 2
#define EXC_ARITHMETIC      3
#define EXC_EMULATION       4
#define EXC_SOFTWARE        5 /* Also told, and never fatal: a virtual timer has expired. */
#define EXC_BREAKPOINT      6

/* Codes of EXC_BAD_INSTRUCTION: an invalid opcode, or the number of a fault of the processor. */
#define EXC_I386_INVOP     1
#define EXC_I386_DBLFLT    8
#define EXC_I386_INVTSSFLT 10
#define EXC_I386_SEGNPFLT  11
#define EXC_I386_STKFLT    12
#define EXC_I386_GPFLT     13
#define EXC_I386_PGFLT     14

/* Codes of EXC_ARITHMETIC. */
#define EXC_I386_DIV    1
#define EXC_I386_INTO   2
#define EXC_I386_NOEXT  3
#define EXC_I386_EXTOVR 4
#define EXC_I386_EXTERR 5
#define EXC_I386_EMERR  6
#define EXC_I386_BOUND  7

/* Codes of EXC_SOFTWARE besides EXC_I386_BOUND: <mach/task_vtimer.h>. */
#define EXC_VTIMER_VIRTUAL 0x10001
#define EXC_VTIMER_PROF    0x10002

/* Codes of EXC_BREAKPOINT. */
#define EXC_I386_SGL 1
#define EXC_I386_BPT 2

#endif
