/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls, counted (<mach/calls.h>, docs/kernel-profile.md).
 *
 * The machine has each call site count in a counter of 32 bits of each CPU's.  They are added up
 * here: of a sum the lower half is what its counter was when it was looked at last, so that nobody
 * but the CPU ever writes to a counter that counts.  A timer looks at all of them in turn, a run
 * each tick, sooner than one can go round.
 *
 * There is a table of counters and sums for whatever is told apart: calls on behalf of a label, if
 * somebody has asked for it, of the system then, of events, and of all others.  A call is counted
 * in one of them, and moves to another if it was an event's and is known to be somebody's.  What is
 * told of one is as of one moment.  The memory is there from the first count, or the first label,
 * to a reset while nothing is counted.
 *
 * Guarded by the kernel lock.
 */
#include "prof/calls.h"

#include <mach/calls.h>
#include <mach/mach_types.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/config.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/string.h"
#include "base/timer.h"
#include "ipc/kernel_object.h"
#include "mach/assay_server.h"
#include "prof/requests.h"
#include "prof/unclaimed.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/kernel_memory.h"

/* Of a label. */
struct calls_table {
	uint32_t label;
	struct machine_call_counters *counters;
	uint64_t *sums[MAX_CPUS]; /* Of each CPU's first counter, its second, and so on. */
};

#define FIRST_EVENT 2u

static struct calls {
	bool counts;
	uint32_t n; /* Tables that there are: others', the system's, events', and labels'. */
	struct calls_table tables[1 + HOST_CALLS_LABELS + UNCLAIMED_EVENTS];
	struct machine_call_counters *moment; /* A table's counters when somebody asked. */
	struct timer timer;
	uint32_t next_table; /* That the timer looks at, */
	uint32_t next;       /* from this counter on. */
	bool children;       /* Those of a task of this era are of it, too. */
	uint32_t era;        /* Which time it is that there are tables. */
	uint32_t missed;     /* Children for which there was no room. */
} calls = {.era = 1};

static uint32_t calls_sums_size(void)
{
	return machine_call_counters_of_each() * sizeof(uint64_t);
}

/* ---------------- Sums ---------------- */

/* Of the run that begins at `first`. */
static void calls_add_up(const struct calls_table *table, uint32_t first,
			 const struct machine_call_counters *counters)
{
	/* An event's begin at 0 each time that it has been attributed. */
	bool begins = unclaimed_is_event(table->label);

	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		const volatile uint32_t *run = machine_call_run(counters, cpu, first);
		uint64_t *sums = table->sums[cpu] + first;

		for (uint32_t i = 0; i < MACHINE_CALL_RUN; i++)
			sums[i] = begins ? run[i] : sums[i] + (run[i] - (uint32_t)sums[i]);
	}
}

/* Has a table's sums be those of one moment, which they are as long as the timer does not look. */
static void calls_look(const struct calls_table *table)
{
	assert(!timer_is_set(&calls.timer));
	machine_calls_copy(calls.moment, table->counters);
	for (uint32_t n = 0; n < machine_call_counters_of_each(); n += MACHINE_CALL_RUN) {
		calls_add_up(table, n, calls.moment);
		kernel_pause();
	}
}

static void calls_tick(struct timer *timer)
{
	const struct calls_table *table = &calls.tables[calls.next_table];

	calls_add_up(table, calls.next, table->counters);
	calls.next += MACHINE_CALL_RUN;
	if (calls.next == machine_call_counters_of_each()) {
		calls.next = 0;
		calls.next_table = (calls.next_table + 1) % calls.n;
	}
	timer_set(timer, timer_now() + 1);
}

/* ---------------- Memory ---------------- */

static void calls_free_sums(const struct calls_table *table)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++)
		if (table->sums[cpu] != NULL)
			kernel_memory_free(table->sums[cpu], calls_sums_size());
}

/* The last one.  The timer begins anew: it may be about to look at this. */
static void calls_free_table(void)
{
	const struct calls_table *table = &calls.tables[--calls.n];

	machine_call_counters_free(table->counters);
	calls_free_sums(table);
	calls.next_table = 0;
	calls.next = 0;
}

static void calls_clear_sums(const struct calls_table *table)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		memset(table->sums[cpu], 0, calls_sums_size());
		kernel_pause();
	}
}

/* Of each CPU apart: all together are more than can be had in one piece. */
static bool calls_allocate_sums(struct calls_table *table)
{
	for (uint32_t cpu = 0; cpu < n_cpus; cpu++) {
		table->sums[cpu] = kernel_memory_alloc(calls_sums_size());
		if (table->sums[cpu] == NULL)
			return false;
	}
	return true;
}

/* Another table, for a label; NULL without memory. */
static struct calls_table *calls_add_table(uint32_t label)
{
	struct calls_table table = {.label = label, .counters = machine_call_counters_make()};

	if (table.counters == NULL || !calls_allocate_sums(&table)) {
		calls_free_sums(&table);
		if (table.counters != NULL)
			machine_call_counters_free(table.counters);
		return NULL;
	}
	if (unclaimed_is_event(label))
		machine_call_counters_watch(table.counters);
	calls_clear_sums(&table);
	calls.tables[calls.n] = table;
	return &calls.tables[calls.n++];
}

static void calls_free(void)
{
	while (calls.n > 0)
		calls_free_table();
	calls.era++;
	calls.children = false;
	calls.missed = 0;
	requests_end();
	if (calls.moment != NULL)
		machine_call_counters_free(calls.moment);
	calls.moment = NULL;
}

/* What there is always, if it is not there yet. */
static bool calls_allocate(void)
{
	if (calls.n > 0)
		return true;
	calls.moment = machine_call_counters_make();
	if (calls.moment != NULL && calls_add_table(HOST_CALLS_OTHERS) != NULL)
		return true;
	calls_free();
	return false;
}

static const struct calls_table *calls_table_of(uint32_t label)
{
	for (uint32_t n = 0; n < calls.n; n++)
		if (calls.tables[n].label == label)
			return &calls.tables[n];
	return NULL;
}

bool calls_are_counted(void)
{
	return calls.counts;
}

uint32_t calls_label(uint32_t label)
{
	return calls_table_of(label) != NULL ? label : HOST_CALLS_OTHERS;
}

/* ---------------- Calls of programs ---------------- */

static void calls_follow(uint32_t first)
{
	for (uint32_t n = first; n < calls.n; n++)
		machine_calls_follow(calls.tables[n].label, calls.tables[n].counters);
}

static kern_return_t calls_begin(void)
{
	bool is_new = calls.n == 0;

	if (!calls_allocate())
		return KERN_RESOURCE_SHORTAGE;
	if (!machine_calls_count(calls.tables[0].counters)) {
		if (is_new)
			calls_free();
		return KERN_RESOURCE_SHORTAGE;
	}
	calls_follow(1);
	kernel_object_find_stubs();
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
	timer_init(&calls.timer, calls_tick);
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
	if (!calls.counts)
		calls_free();
	requests_clear();
	for (uint32_t n = 0; n < calls.n; n++) {
		machine_calls_clear(calls.tables[n].counters);
		calls_clear_sums(&calls.tables[n]);
	}
	return KERN_SUCCESS;
}

/* ---------------- By label ---------------- */

/* The system's table, and behind it the events'. */
static bool calls_add_nobodys(void)
{
	bool added = calls_add_table(HOST_CALLS_SYSTEM) != NULL;

	for (uint32_t n = 0; added && n < unclaimed_events(); n++)
		added = calls_add_table(PROF_LABEL_EVENTS + n) != NULL;
	return added;
}

/* With the first label comes what is nobody's. */
static bool calls_add_label(uint32_t label)
{
	uint32_t first = calls.n;

	if ((first == 1 && !calls_add_nobodys()) || calls_add_table(label) == NULL) {
		while (calls.n > first)
			calls_free_table();
		return false;
	}
	if (calls.counts)
		calls_follow(first);
	return true;
}

/* False: there is no room for it, or no memory. */
static bool calls_add_task(struct task *task)
{
	if (calls_table_of(task->id) != NULL)
		return true;
	return calls.n <= HOST_CALLS_LABELS + unclaimed_events() && calls_add_label(task->id);
}

kern_return_t host_calls_for(struct host *host, struct task *task, unsigned *label)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	*label = task->id;
	if (!calls_allocate() || !calls_add_task(task))
		return KERN_RESOURCE_SHORTAGE;
	task->calls_era = calls.era;
	return KERN_SUCCESS;
}

kern_return_t host_calls_children(struct host *host)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (!calls_allocate())
		return KERN_RESOURCE_SHORTAGE;
	calls.children = true;
	return KERN_SUCCESS;
}

/* One for which there was no room has children, which are missed as well. */
void calls_follow_child(struct task *child, const struct task *parent)
{
	if (!calls.children || parent->calls_era != calls.era)
		return;
	child->calls_era = calls.era;
	calls.missed += !calls_add_task(child);
}

/* They are behind those of others, of the system and of events. */
kern_return_t host_calls_labels(struct host *host, host_call_labels_t *labels)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	*labels = (host_call_labels_t){.missed = calls.missed};
	for (uint32_t n = FIRST_EVENT + unclaimed_events(); n < calls.n; n++)
		labels->labels[labels->n++] = calls.tables[n].label;
	return KERN_SUCCESS;
}

/* There is one as soon as anybody's calls are told apart. */
static const struct calls_table *calls_table_of_event(uint32_t event)
{
	uint32_t n = FIRST_EVENT + (event - PROF_LABEL_EVENTS);

	return n < calls.n ? &calls.tables[n] : NULL;
}

void calls_attribute(uint32_t event, uint32_t label)
{
	const struct calls_table *from = calls_table_of_event(event), *to;

	if (from == NULL || !machine_calls_are_to_move(from->counters))
		return;
	to = calls_table_of(label);
	machine_calls_move((to != NULL ? to : calls.tables)->counters, from->counters);
}

/* ---------------- What is told ---------------- */

/* Of which tables and CPUs, and how far it is. */
struct calls_list {
	struct host_call *next;
	const struct calls_table *first;
	const struct calls_table *end;
	uint32_t first_cpu;
	uint32_t end_cpu;
};

static uint64_t calls_count_of(const struct calls_list *list, uint32_t counter)
{
	uint64_t count = 0;

	for (const struct calls_table *table = list->first; table < list->end; table++)
		for (uint32_t cpu = list->first_cpu; cpu < list->end_cpu; cpu++)
			count += table->sums[cpu][counter];
	return count;
}

static void calls_list_one(void *context, uint32_t n, uint32_t from, uint32_t to)
{
	struct calls_list *list = context;
	uint32_t now = machine_call_counter_of(n);
	uint64_t count = calls_count_of(list, n) + (now != n ? calls_count_of(list, now) : 0);

	if (count != 0)
		*list->next++ =
			(struct host_call){from, to, {(uint32_t)count, (uint32_t)(count >> 32)}};
}

static void calls_look_at(const struct calls_list *list)
{
	timer_cancel(&calls.timer);
	for (const struct calls_table *table = list->first; table < list->end; table++)
		calls_look(table);
}

/* As a copy to be sent: NULL if there are none.  False without memory. */
static bool calls_list_all(struct calls_list *list, host_call_array_t *to,
			   mach_msg_type_number_t *n_words)
{
	uint32_t size = machine_call_count() * sizeof(struct host_call), n;
	struct host_call *all = kernel_memory_alloc(size);
	struct copy *copy;

	if (all == NULL)
		return false;
	list->next = all;
	calls_look_at(list);
	machine_calls_read(calls_list_one, list);
	if (calls.counts)
		timer_set(&calls.timer, timer_now() + 1);
	n = (uint32_t)(list->next - all);
	copy = n > 0 ? copy_of_kernel(all, n * sizeof *all) : NULL;
	kernel_memory_free(all, size);
	*to = (host_call_array_t)copy;
	*n_words = n * HOST_CALL_WORDS;
	return n == 0 || copy != NULL;
}

kern_return_t host_calls_get(struct host *host, int cpu, boolean_t *on, host_call_array_t *list,
			     mach_msg_type_number_t *n_words)
{
	struct calls_list all = {
		.first = calls.tables,
		.end = calls.tables + calls.n,
		.first_cpu = cpu == HOST_CALLS_ALL_CPUS ? 0 : (uint32_t)cpu,
		.end_cpu = cpu == HOST_CALLS_ALL_CPUS ? n_cpus : (uint32_t)cpu + 1,
	};

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (all.first_cpu >= n_cpus)
		return KERN_INVALID_ARGUMENT;
	*on = calls.counts;
	*list = NULL;
	*n_words = 0;
	if (calls.n > 0 && !calls_list_all(&all, list, n_words))
		return KERN_RESOURCE_SHORTAGE;
	return KERN_SUCCESS;
}

kern_return_t host_calls_get_for(struct host *host, unsigned label, host_call_array_t *list,
				 mach_msg_type_number_t *n_words)
{
	const struct calls_table *table = calls_table_of(label);
	struct calls_list one = {.first = table, .end_cpu = n_cpus};

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (table == NULL)
		return KERN_INVALID_ARGUMENT;
	/* What nobody has claimed is the system's, until somebody does. */
	one.end = table + 1 + (label == HOST_CALLS_SYSTEM ? unclaimed_events() : 0);
	return calls_list_all(&one, list, n_words) ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}
