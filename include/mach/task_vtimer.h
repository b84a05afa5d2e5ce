/* SPDX-License-Identifier: MIT */
/*
 * Timers that run while a task has a CPU: which there are (task_vtimer_set() and its like).
 *
 * When one expires, the thread that runs at that moment has an exception EXC_SOFTWARE before it
 * goes on in user mode.  Its code is EXC_VTIMER_VIRTUAL or EXC_VTIMER_PROF (<mach/exception.h>),
 * its subcode the number of expiries that it stands for.
 */
#ifndef MACH_TASK_VTIMER_H
#define MACH_TASK_VTIMER_H

#define TASK_VTIMER_VIRTUAL 0 /* Counts the task's time in user mode, */
#define TASK_VTIMER_PROF    1 /* and this one its time in the kernel too. */
#define TASK_VTIMERS        2

#endif
