/* SPDX-License-Identifier: MIT */
/* What a CPU does in a loop that waits for another CPU. */
#ifndef I386_RELAX_H
#define I386_RELAX_H

static inline void machine_relax(void)
{
	__asm__ volatile("pause" ::: "memory");
}

#endif
