/* SPDX-License-Identifier: MIT */
/* Assay's own traps (<assay/traps.h>): what boot programs need to run without a server. */
#include <assay/report.h>
#include <assay/traps.h>

#include "base/assert.h"
#include "base/clock.h"
#include "boot/report.h"
#include "task/task.h"
#include "task/traps.h"
#include "thread/cpu_state.h"
#include "thread/run_queue.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "vm/map/map.h"

#define FOREVER_MS UINT32_MAX
#define ANY_CPU    UINT32_MAX

static kern_return_t trap_copyout_result(user_address_t to, const void *from, uint32_t size)
{
	return copyout(to, from, size) ? KERN_SUCCESS : KERN_INVALID_ADDRESS;
}

/* ---------------- The task and its threads ---------------- */

/* The caller is one of the threads that end; it does so on its way out. */
TRAP_ABI kern_return_t trap_exit(uint32_t status)
{
	task_end(current_task(), (int)status);
	return KERN_SUCCESS;
}

TRAP_ABI kern_return_t trap_thread_create(uint32_t entry, uint32_t stack, uint32_t priority,
					  user_address_t id)
{
	struct thread *thread;
	uint32_t new_id;

	if (priority >= PRIORITIES)
		return KERN_INVALID_ARGUMENT;
	/* Before the thread is there: it could not be taken back afterwards. */
	if (!copyout(id, &(uint32_t){0}, sizeof(uint32_t)))
		return KERN_INVALID_ADDRESS;
	if (current_task()->ending)
		return KERN_ABORTED;
	thread = thread_create_user(current_task(), entry, stack, priority);
	if (thread == NULL)
		return KERN_RESOURCE_SHORTAGE;
	/* The thread may be gone by the time that its id has been copied out. */
	new_id = thread->id;
	thread_start(thread);
	return trap_copyout_result(id, &new_id, sizeof new_id);
}

TRAP_ABI kern_return_t trap_thread_exit(void)
{
	thread_kill(current_thread());
	return KERN_SUCCESS;
}

TRAP_ABI kern_return_t trap_thread_join(uint32_t id, uint32_t timeout_ms)
{
	struct task *task = current_task();
	uint64_t due = timeout_ms == FOREVER_MS ? WAIT_FOREVER : tick_after_ms(timeout_ms);

	if (id == current_thread()->id)
		return KERN_INVALID_ARGUMENT;
	while (thread_find(task, id) != NULL) {
		switch (thread_wait(&task->thread_gone, due, WAIT_THREAD)) {
		case WAIT_TIMED_OUT:
			return KERN_TIMEDOUT;
		case WAIT_INTERRUPTED:
			return KERN_ABORTED;
		case WAIT_WOKEN:
			break;
		}
	}
	return KERN_SUCCESS;
}

TRAP_ABI kern_return_t trap_thread_bind(uint32_t cpu)
{
	if (cpu != ANY_CPU && cpu >= n_cpus)
		return KERN_INVALID_ARGUMENT;
	/* A user's threads wait for their owner's turn, in the common queue. */
	if (current_thread()->share != NULL)
		return KERN_NO_ACCESS;
	sched_bind(cpu == ANY_CPU ? NULL : &cpus[cpu]);
	return KERN_SUCCESS;
}

/* ---------------- Memory ---------------- */

TRAP_ABI kern_return_t trap_memory_map(uint32_t start, uint32_t size, uint32_t rights)
{
	return map_allocate(current_task()->map, start, size, rights);
}

TRAP_ABI kern_return_t trap_memory_unmap(uint32_t start, uint32_t size)
{
	return map_deallocate(current_task()->map, start, size);
}

TRAP_ABI kern_return_t trap_memory_protect(uint32_t start, uint32_t size, uint32_t rights)
{
	return map_protect(current_task()->map, start, size, rights);
}

/* ---------------- Clocks and counts ---------------- */

TRAP_ABI kern_return_t trap_clock_read(uint32_t clock, user_address_t value)
{
	uint64_t now;

	switch (clock) {
	case ASSAY_CLOCK_MONOTONIC:
		now = clock_now();
		break;
	case ASSAY_CLOCK_WALL:
		now = clock_wall();
		break;
	case ASSAY_CLOCK_TSC_HZ:
		now = clock_hz();
		break;
	default:
		return KERN_INVALID_ARGUMENT;
	}
	return trap_copyout_result(value, &now, sizeof now);
}

TRAP_ABI kern_return_t trap_counts(user_address_t counts, uint32_t room, user_address_t n)
{
	struct machine_count copy[MACHINE_COUNTS];
	uint32_t there = report_counts(copy, MACHINE_COUNTS);

	assert(there <= MACHINE_COUNTS);
	if (!copyout(counts, copy, (room < there ? room : there) * (uint32_t)sizeof copy[0]))
		return KERN_INVALID_ADDRESS;
	return trap_copyout_result(n, &there, sizeof there);
}

TRAP_ABI kern_return_t trap_cpu_info(user_address_t to)
{
	struct assay_cpu_info info = {.cpu = cpu_number(), .cpus = n_cpus};

	for (uint32_t n = 0; n < n_cpus; n++) {
		const struct cpu *cpu = &cpus[n];

		info.cr3_loads += cpu->machine.cr3_loads;
		info.tlb_flushes += cpu->machine.tlb_flushes;
		info.ipis += cpu->machine.ipis;
		info.switches += cpu->switches;
		info.ticks += cpu->ticks;
	}
	return trap_copyout_result(to, &info, sizeof info);
}
