/* SPDX-License-Identifier: MIT */
/*
 * Work of a known amount, for programs whose profile should be known beforehand.
 *
 * work(n) executes n times the same WORK_TURN instructions, in the function that it is used in: the
 * compiler cannot move it to another one, nor leave it out.  Most of them do nothing, and there are
 * as many as a page shows: an emulator takes as long for a turn of two as for one of ten.
 */
#ifndef WORK_H
#define WORK_H

#define WORK_TURN 10u

#define work(times)                                                            \
	do {                                                                   \
		unsigned times_ = (times);                                     \
		__asm__ volatile("1: .rept 8\n nop\n .endr\n decl %0\n jnz 1b" \
				 : "+r"(times_)                                \
				 :                                             \
				 : "cc", "memory");                            \
	} while (0)

/* For functions that a profile is to show: never merged into another. */
#define SHOWN __attribute__((noinline, noclone))

#endif
