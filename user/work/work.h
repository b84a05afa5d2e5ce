/* SPDX-License-Identifier: MIT */
/*
 * Work of a known amount, for programs whose profile should be known beforehand.
 *
 * work(n) executes n times the same two instructions, in the function that it is used in: the
 * compiler cannot move it to another one, nor leave it out.
 */
#ifndef WORK_H
#define WORK_H

#define work(times)                                                                        \
	do {                                                                               \
		unsigned times_ = (times);                                                 \
		__asm__ volatile("1: decl %0\n jnz 1b" : "+r"(times_) : : "cc", "memory"); \
	} while (0)

/* For functions that a profile is to show: never merged into another. */
#define SHOWN __attribute__((noinline, noclone))

#endif
