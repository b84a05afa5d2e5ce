/* SPDX-License-Identifier: MIT */
/* Limits that are decided when the kernel is built. */
#ifndef BASE_CONFIG_H
#define BASE_CONFIG_H

#define MAX_CPUS    8   /* CPUs that run. */
#define MAX_MODULES 32  /* Boot programs. */
#define TICK_HZ     100 /* Scheduler's ticks in a second. */
#define QUANTUM     10  /* Ticks that a thread runs before another of its priority has its turn. */

#endif
