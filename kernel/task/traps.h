/* SPDX-License-Identifier: MIT */
/*
 * Mach's traps: the table that the call gate goes by, and the functions in it.
 *
 * A trap runs under the kernel lock with interrupts on, on the caller's kernel stack.  Its
 * arguments have been copied; what they point to has not, and is an allegation.  Its result goes to
 * %eax.
 */
#ifndef TASK_TRAPS_H
#define TASK_TRAPS_H

#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/traps.h>

#include "i386/entry/entry.h"
#include "i386/mmu/copy.h"
#include "ipc/mach_msg.h"

typedef void trap_function(void); /* Called by entry.S with the words that its row says. */

struct trap {
	trap_function *function;
	void (*arguments)(void); /* Where entry.S copies its words: gate_arguments_0() to _11(). */
};

/* Where a trap stands, by its number from 1 on: so the gate has it by an addition to %eax. */
#define TRAP_ROW(number) (MACH_TRAP_COUNT - 1 - (number))

extern const struct trap trap_table[TRAP_ROW(0)];

/* At boot: no slot is empty, since the gate calls whatever stands there. */
void traps_check(void);

/* task/traps.c */
TRAP_ABI kern_return_t trap_invalid(void);
TRAP_ABI uint32_t trap_no_port(void);
TRAP_ABI kern_return_t trap_mach_print(user_address_t string);

/* ipc/mach_msg.c */
TRAP_ABI mach_msg_return_t trap_mach_msg(struct mach_msg_words words);
TRAP_ABI uint32_t trap_mach_reply_port(void);

/* task/port_traps.c */
TRAP_ABI kern_return_t trap_mach_port_allocate(uint32_t task, uint32_t right, user_address_t name);
TRAP_ABI kern_return_t trap_mach_port_deallocate(uint32_t task, uint32_t name);
TRAP_ABI kern_return_t trap_mach_port_insert_right(uint32_t task, uint32_t name, uint32_t right,
						   uint32_t disposition);
TRAP_ABI kern_return_t trap_mach_port_allocate_name(uint32_t task, uint32_t right, uint32_t name);

/* task/self_traps.c, task/switch_traps.c, task/task_traps.c, task/label.c */
TRAP_ABI uint32_t trap_mach_thread_self(void);
TRAP_ABI uint32_t trap_mach_task_self(void);
TRAP_ABI uint32_t trap_mach_host_self(void);
TRAP_ABI boolean_t trap_swtch_pri(uint32_t priority);
TRAP_ABI boolean_t trap_swtch(void);
TRAP_ABI kern_return_t trap_thread_switch(uint32_t thread, uint32_t option, uint32_t ms);
TRAP_ABI kern_return_t trap_task_create(uint32_t parent, uint32_t inherit, user_address_t child);
TRAP_ABI kern_return_t trap_task_terminate(uint32_t task);
TRAP_ABI kern_return_t trap_task_suspend(uint32_t task);
TRAP_ABI kern_return_t trap_task_set_special_port(uint32_t task, uint32_t which, uint32_t port);
TRAP_ABI kern_return_t trap_thread_depress_abort(uint32_t thread);
TRAP_ABI kern_return_t trap_thread_serve(uint32_t name);
TRAP_ABI uint32_t trap_thread_label(void);

/* task/memory_traps.c */
TRAP_ABI kern_return_t trap_vm_map(uint32_t map, user_address_t address, uint32_t size,
				   uint32_t mask, uint32_t anywhere, uint32_t object,
				   uint32_t offset, uint32_t copy, uint32_t protection,
				   uint32_t max_protection, uint32_t inheritance);
TRAP_ABI kern_return_t trap_vm_allocate(uint32_t map, user_address_t address, uint32_t size,
					uint32_t anywhere);
TRAP_ABI kern_return_t trap_vm_deallocate(uint32_t map, uint32_t address, uint32_t size);

/* i386/thread/thread_status.c */
TRAP_ABI uint32_t trap_thread_set_self_state(uint32_t flavor, user_address_t state, uint32_t count);

/* boot/assay_traps.c: what <assay/traps.h> declares. */
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
TRAP_ABI kern_return_t trap_counts(user_address_t counts, uint32_t room, user_address_t n);
TRAP_ABI kern_return_t trap_cpu_info(user_address_t info);

/* base/alloc_site.c: also of <assay/traps.h>. */
TRAP_ABI kern_return_t trap_fail_allocation(uint32_t number, uint32_t nth);
TRAP_ABI kern_return_t trap_allocation_site(uint32_t number, user_address_t to);

TRAP_ABI kern_return_t trap_count_call(uint32_t from, uint32_t self); /* prof/requests.c */

TRAP_ABI kern_return_t trap_event_pass(uint32_t name, uint32_t known); /* prof/unclaimed.c */
TRAP_ABI kern_return_t trap_event_attribute(uint32_t name);

/* boot/interrupts_off.c: also of <assay/traps.h>. */
TRAP_ABI kern_return_t trap_interrupts_off(uint32_t microseconds);

#endif
