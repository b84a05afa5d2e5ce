/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls, counted (<mach/calls.h>, docs/kernel-profile.md).
 *
 * The machine has each call site count in a counter of 32 bits of each CPU's.  They are added up
 * here: of a sum the lower half is what its counter was when it was looked at last, so that nobody
 * but the CPU ever writes to a counter.  A timer looks at all of them in turn, sooner than one can
 * go round.  What is told is as of one moment.  The memory is there from the first count to a reset
 * while nothing is counted.
 *
 * Guarded by the kernel lock.
 */
#include "prof/calls.h"

#include <mach/calls.h>
#include <mach/mach_types.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/string.h"
#include "base/timer.h"
#include "ipc/kernel_object.h"
#include "mach/assay_server.h"
#include "thread/cpu_state.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/kernel_memory.h"

/* Counters of each CPU that are looked at in a tick: all of them well within a second. */
#define AT_A_TICK 128u

static struct calls {
	bool counts;
	void *counters; /* NULL: nothing has been counted. */
	void *moment;   /* As they were when somebody asked. */
	uint64_t *sums; /* Of each CPU's first site, its second, and so on. */
	struct timer timer;
	uint32_t next; /* That the timer looks at. */
} calls;

static uint64_t *calls_sum_of(uint32_t cpu, uint32_t n)
{
	return &calls.sums[cpu * machine_call_count() + n];
}

static uint32_t calls_sums_size(void)
{
	return n_cpus * machine_call_count() * sizeof(uint64_t);
}

/* ---------------- Sums ---------------- */

static void calls_add_up(uint32_t n, const void *counters)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		uint64_t *sum = calls_sum_of(cpu, n);

		*sum += machine_call_counter(counters, cpu, n) - (uint32_t)*sum;
	}
}

/* Has the sums be those of one moment, which they are as long as the timer does not look. */
static void calls_look(void)
{
	assert(!timer_is_set(&calls.timer));
	machine_calls_copy(calls.moment, calls.counters);
	for (uint32_t n = 0; n < machine_call_count(); n++) {
		calls_add_up(n, calls.moment);
		pause_each();
	}
}

static void calls_tick(struct timer *timer)
{
	for (uint32_t i = 0; i < AT_A_TICK; i++) {
		calls_add_up(calls.next, calls.counters);
		calls.next = (calls.next + 1) % machine_call_count();
	}
	timer_set(timer, timer_now() + 1);
}

/* ---------------- Memory ---------------- */

static void calls_free_one(void *memory, uint32_t size)
{
	if (memory != NULL)
		kernel_memory_free(memory, size);
}

static void calls_free(void)
{
	calls_free_one(calls.counters, machine_call_counters_size());
	calls_free_one(calls.moment, machine_call_counters_size());
	calls_free_one(calls.sums, calls_sums_size());
	calls.counters = NULL;
}

static bool calls_allocate(void)
{
	calls.counters = kernel_memory_alloc(machine_call_counters_size());
	calls.moment = kernel_memory_alloc(machine_call_counters_size());
	calls.sums = kernel_memory_alloc(calls_sums_size());
	if (calls.counters == NULL || calls.moment == NULL || calls.sums == NULL) {
		calls_free();
		return false;
	}
	memset(calls.counters, 0, machine_call_counters_size());
	memset(calls.sums, 0, calls_sums_size());
	return true;
}

/* ---------------- Calls of programs ---------------- */

static kern_return_t calls_begin(void)
{
	bool is_new = calls.counters == NULL;

	if (is_new && !calls_allocate())
		return KERN_RESOURCE_SHORTAGE;
	if (!machine_calls_count(calls.counters)) {
		if (is_new)
			calls_free();
		return KERN_RESOURCE_SHORTAGE;
	}
	kernel_object_find_stubs();
	timer_init(&calls.timer, calls_tick);
	timer_set(&calls.timer, timer_now() + 1);
	calls.counts = true;
	return KERN_SUCCESS;
}

static void calls_end(void)
{
	machine_calls_end();
	kernel_object_find_stubs();
	timer_cancel(&calls.timer);
	calls.counts = false;
}

void calls_start(void)
{
	if (!argument_present("count-calls") && !machine_calls_are_counted())
		return;
	if (calls_begin() == KERN_SUCCESS)
		klog("calls: the kernel's calls are counted, at %u places\n", machine_call_count());
	else
		klog("calls: no memory for counters\n");
}

kern_return_t host_calls_count(struct host *host, boolean_t on)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (on && !calls.counts)
		return calls_begin();
	if (!on && calls.counts)
		calls_end();
	return KERN_SUCCESS;
}

kern_return_t host_calls_reset(struct host *host)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (calls.counters == NULL)
		return KERN_SUCCESS;
	if (!calls.counts) {
		calls_free();
		return KERN_SUCCESS;
	}
	machine_calls_clear(calls.counters);
	memset(calls.sums, 0, calls_sums_size());
	return KERN_SUCCESS;
}

/* What is told of whom, and how far it is. */
struct calls_list {
	struct host_call *next;
	uint32_t first_cpu;
	uint32_t end_cpu;
};

static void calls_list_one(void *context, uint32_t n, uint32_t from, uint32_t to)
{
	struct calls_list *list = context;
	uint64_t count = 0;

	for (uint32_t cpu = list->first_cpu; cpu < list->end_cpu; cpu++)
		count += *calls_sum_of(cpu, n);
	if (count != 0)
		*list->next++ =
			(struct host_call){from, to, {(uint32_t)count, (uint32_t)(count >> 32)}};
}

/* All of them, as a copy to be sent: NULL if there are none.  False without memory. */
static bool calls_list(uint32_t first_cpu, uint32_t end_cpu, struct copy **copy, uint32_t *n)
{
	uint32_t size = machine_call_count() * sizeof(struct host_call);
	struct host_call *all = kernel_memory_alloc(size);
	struct calls_list list = {all, first_cpu, end_cpu};

	if (all == NULL)
		return false;
	timer_cancel(&calls.timer);
	calls_look();
	machine_calls_read(calls_list_one, &list);
	if (calls.counts)
		timer_set(&calls.timer, timer_now() + 1);
	*n = (uint32_t)(list.next - all);
	*copy = *n > 0 ? copy_of_kernel(all, *n * sizeof *all) : NULL;
	kernel_memory_free(all, size);
	return *n == 0 || *copy != NULL;
}

kern_return_t host_calls_get(struct host *host, int cpu, boolean_t *on, host_call_array_t *list,
			     mach_msg_type_number_t *n_words)
{
	uint32_t first = cpu == HOST_CALLS_ALL_CPUS ? 0 : (uint32_t)cpu;
	uint32_t end = cpu == HOST_CALLS_ALL_CPUS ? n_cpus : first + 1;
	struct copy *copy = NULL;
	uint32_t n = 0;

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (first >= n_cpus)
		return KERN_INVALID_ARGUMENT;
	if (calls.counters != NULL && !calls_list(first, end, &copy, &n))
		return KERN_RESOURCE_SHORTAGE;
	*on = calls.counts;
	*list = (host_call_array_t)copy;
	*n_words = n * HOST_CALL_WORDS;
	return KERN_SUCCESS;
}
