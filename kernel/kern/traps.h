/* SPDX-License-Identifier: MIT */
/*
 * Mach's traps: the table that the call gate goes by, and the functions in it.
 *
 * A trap runs under the kernel lock with interrupts on, on the caller's kernel stack.  Its
 * arguments have been copied; what they point to has not, and is an allegation.  Its result goes to
 * %eax.
 */
#ifndef KERN_TRAPS_H
#define KERN_TRAPS_H

#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/traps.h>

#include "i386/copy.h"
#include "i386/entry.h"

typedef void trap_function(void); /* Called by entry.S with what `words` says. */

struct trap {
	trap_function *function;
	uint32_t words; /* How many words of arguments are copied. */
};

extern const struct trap trap_table[MACH_TRAP_COUNT];

/* kern/traps.c: Mach's own. */
TRAP_ABI kern_return_t trap_invalid(void);
TRAP_ABI kern_return_t trap_mach_print(user_address_t string);
TRAP_ABI uint32_t trap_swtch_pri(uint32_t priority);
TRAP_ABI uint32_t trap_swtch(void);
TRAP_ABI kern_return_t trap_thread_switch(uint32_t thread, uint32_t option, uint32_t ms);

/* kern/assay_traps.c: what <assay/traps.h> declares. */
TRAP_ABI kern_return_t trap_exit(uint32_t status);
TRAP_ABI kern_return_t trap_thread_create(uint32_t entry, uint32_t stack, uint32_t priority,
					  user_address_t id);
TRAP_ABI kern_return_t trap_thread_exit(void);
TRAP_ABI kern_return_t trap_thread_join(uint32_t id, uint32_t timeout_ms);
TRAP_ABI kern_return_t trap_thread_bind(uint32_t cpu);
TRAP_ABI kern_return_t trap_memory_map(uint32_t start, uint32_t size, uint32_t rights);
TRAP_ABI kern_return_t trap_memory_unmap(uint32_t start, uint32_t size);
TRAP_ABI kern_return_t trap_memory_protect(uint32_t start, uint32_t size, uint32_t rights);
TRAP_ABI kern_return_t trap_clock_read(uint32_t clock, user_address_t value);
TRAP_ABI kern_return_t trap_sample_clock(uint32_t hz, uint32_t flags);
TRAP_ABI kern_return_t trap_sample_counts(uint32_t cpu, user_address_t counts);
TRAP_ABI kern_return_t trap_counts(user_address_t counts, uint32_t room, user_address_t n);
TRAP_ABI kern_return_t trap_cpu_info(user_address_t info);

#endif
