/* SPDX-License-Identifier: MIT */
/* What a CPU does in a loop that waits for another CPU. */
#ifndef I386_CPU_RELAX_H
#define I386_CPU_RELAX_H

#include <stdbool.h>

/* thread/holder.h: whether an emulator runs the CPUs in turn, so that a pause is the next one's. */
extern bool cpus_in_turn;
void holder_pause(void);

static inline void machine_pause(void)
{
	__asm__ volatile("pause" ::: "memory");
}

static inline void machine_relax(void)
{
	if (__builtin_expect(cpus_in_turn, 0))
		holder_pause();
	else
		machine_pause();
}

#endif
