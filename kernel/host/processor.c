/* SPDX-License-Identifier: MIT */
/*
 * Processors and the processor set: routines of defs/mach/mach_host.defs.
 *
 * There is one set, which has all processors, tasks and threads for good.  Whoever wants another,
 * or wants to start and stop processors, is told KERN_FAILURE, as by GNU Mach without MACH_HOST.
 * Guarded by the kernel lock.
 */
#include <mach/mach_types.h>

#include "host/host.h"
#include "ipc/port.h"
#include "mach/mach_host_server.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/load.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/page/kernel_memory.h"

struct processor processors[MAX_CPUS];
struct processor_set default_set;

/* ---------------- Arrays of rights ---------------- */

/* Send rights to ports that are gathered one by one, for a reply. */
struct rights {
	struct port **ports; /* NULL while they are only counted. */
	uint32_t n;
};

/* An object that has ended has no port and is passed over. */
static void processor_gather(struct rights *rights, struct port *port)
{
	pause_each();
	if (port == NULL)
		return;
	if (rights->ports != NULL)
		rights->ports[rights->n] = port_make_send(port);
	rights->n++;
}

/*
 * What is told of `object`, if there is one.  Counts, allocates, gathers: nothing can come or go
 * meanwhile, since nothing here blocks.
 */
static kern_return_t processor_give_rights(const void *object, void (*each)(struct rights *rights),
					   mach_port_t **list, mach_msg_type_number_t *count)
{
	struct rights rights = {.ports = NULL};

	if (object == NULL)
		return KERN_INVALID_ARGUMENT;
	each(&rights);
	if (rights.n > KERNEL_MEMORY_MAX / sizeof *rights.ports)
		return KERN_RESOURCE_SHORTAGE;
	if (rights.n > 0) {
		rights.ports = kernel_memory_alloc(rights.n * sizeof *rights.ports);
		if (rights.ports == NULL)
			return KERN_RESOURCE_SHORTAGE;
		rights.n = 0;
		each(&rights);
	}
	*list = (mach_port_t *)rights.ports;
	*count = rights.n;
	return KERN_SUCCESS;
}

static void processor_each_processor(struct rights *rights)
{
	for (uint32_t n = 0; n < n_cpus; n++)
		processor_gather(rights, processors[n].port);
}

static void processor_each_task(struct rights *rights)
{
	list_for_each_object (struct task, task, &all_tasks, link)
		processor_gather(rights, task->port);
}

static void processor_each_thread(struct rights *rights)
{
	list_for_each_object (struct task, task, &all_tasks, link) {
		list_for_each_object (struct thread, thread, &task->threads, task_link)
			processor_gather(rights, thread->port);
	}
}

static void processor_each_set_name(struct rights *rights)
{
	processor_gather(rights, default_set.name_port);
}

kern_return_t host_processors(host_t host, processor_array_t *list, mach_msg_type_number_t *count)
{
	return processor_give_rights(host, processor_each_processor, list, count);
}

kern_return_t host_processor_sets(host_t host, processor_set_name_array_t *list,
				  mach_msg_type_number_t *count)
{
	return processor_give_rights(host, processor_each_set_name, list, count);
}

kern_return_t processor_set_processors(processor_set_t set, processor_array_t *list,
				       mach_msg_type_number_t *count)
{
	return processor_give_rights(set, processor_each_processor, list, count);
}

kern_return_t processor_set_tasks(processor_set_t set, task_array_t *list,
				  mach_msg_type_number_t *count)
{
	return processor_give_rights(set, processor_each_task, list, count);
}

kern_return_t processor_set_threads(processor_set_t set, thread_array_t *list,
				    mach_msg_type_number_t *count)
{
	return processor_give_rights(set, processor_each_thread, list, count);
}

/* ---------------- Processors ---------------- */

static kern_return_t processor_info_basic(processor_t processor, processor_info_t out,
					  mach_msg_type_number_t *count)
{
	struct processor_basic_info info = {
		.cpu_type = PROCESSOR_TYPE,
		.cpu_subtype = CPU_SUBTYPE_AT386,
		.running = processor < &processors[n_cpus],
		.slot_num = processor - processors,
		.is_master = processor == &processors[0],
	};

	return host_give_info(out, count, &info, PROCESSOR_BASIC_INFO_COUNT);
}

static kern_return_t processor_ticks_info(processor_t processor, processor_info_t out,
					  mach_msg_type_number_t *count)
{
	const struct cpu *cpu = &cpus[processor - processors];
	struct processor_ticks_info info = {
		.ticks = __atomic_load_n(&cpu->ticks, __ATOMIC_RELAXED),
		.parked = __atomic_load_n(&cpu->parked_ticks, __ATOMIC_RELAXED),
	};

	return host_give_info(out, count, &info, PROCESSOR_TICKS_INFO_COUNT);
}

kern_return_t processor_info(processor_t processor, int flavor, host_t *host, processor_info_t out,
			     mach_msg_type_number_t *count)
{
	if (processor == NULL)
		return KERN_INVALID_ARGUMENT;
	*host = &the_host;
	switch (flavor) {
	case PROCESSOR_BASIC_INFO:
		return processor_info_basic(processor, out, count);
	case PROCESSOR_TICKS_INFO:
		return processor_ticks_info(processor, out, count);
	default:
		return KERN_FAILURE;
	}
}

/* What only a kernel with several sets, or with processors that come and go, can do. */
static kern_return_t processor_refuse(const void *object)
{
	return object == NULL ? KERN_INVALID_ARGUMENT : KERN_FAILURE;
}

kern_return_t processor_start(processor_t processor)
{
	return processor_refuse(processor);
}

kern_return_t processor_exit(processor_t processor)
{
	return processor_refuse(processor);
}

kern_return_t processor_control(processor_t processor, const processor_info_t command,
				mach_msg_type_number_t count)
{
	(void)command;
	(void)count;
	return processor_refuse(processor);
}

kern_return_t processor_assign(processor_t processor, processor_set_t set, boolean_t wait)
{
	(void)set;
	(void)wait;
	return processor_refuse(processor);
}

kern_return_t processor_get_assignment(processor_t processor, processor_set_t *set)
{
	if (processor == NULL)
		return KERN_INVALID_ARGUMENT;
	*set = &default_set;
	return KERN_SUCCESS;
}

/* ---------------- Sets ---------------- */

kern_return_t processor_set_default(host_t host, processor_set_t *set)
{
	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	*set = &default_set;
	return KERN_SUCCESS;
}

kern_return_t host_processor_set_priv(host_t host, processor_set_t name, processor_set_t *set)
{
	if (host == NULL || name == NULL)
		return KERN_INVALID_ARGUMENT;
	*set = name;
	return KERN_SUCCESS;
}

kern_return_t processor_set_create(host_t host, processor_set_t *set, processor_set_t *name)
{
	*set = *name = NULL;
	return processor_refuse(host);
}

kern_return_t processor_set_destroy(processor_set_t set)
{
	return processor_refuse(set);
}

static kern_return_t processor_set_basic_info(processor_set_info_t out,
					      mach_msg_type_number_t *count)
{
	struct rights tasks = {.ports = NULL};
	struct rights threads = {.ports = NULL};
	struct host_load_info load;
	struct processor_set_basic_info info;

	processor_each_task(&tasks);
	processor_each_thread(&threads);
	load_read(&load);
	info = (struct processor_set_basic_info){
		.processor_count = (integer_t)n_cpus,
		.task_count = (integer_t)tasks.n,
		.thread_count = (integer_t)threads.n,
		.load_average = load.avenrun[0],
		.mach_factor = load.mach_factor[0],
	};
	return host_give_info(out, count, &info, PROCESSOR_SET_BASIC_INFO_COUNT);
}

static kern_return_t processor_set_sched_info(processor_set_info_t out,
					      mach_msg_type_number_t *count)
{
	struct processor_set_sched_info info = {
		.policies = (integer_t)sched_policies,
		.max_priority = sched_max_priority,
	};

	return host_give_info(out, count, &info, PROCESSOR_SET_SCHED_INFO_COUNT);
}

kern_return_t processor_set_info(processor_set_t set, int flavor, host_t *host,
				 processor_set_info_t out, mach_msg_type_number_t *count)
{
	if (set == NULL)
		return KERN_INVALID_ARGUMENT;
	*host = &the_host;
	switch (flavor) {
	case PROCESSOR_SET_BASIC_INFO:
		return processor_set_basic_info(out, count);
	case PROCESSOR_SET_SCHED_INFO:
		return processor_set_sched_info(out, count);
	default:
		return KERN_INVALID_ARGUMENT;
	}
}

kern_return_t processor_set_policy_enable(processor_set_t set, int policy)
{
	if (set == NULL || invalid_policy(policy))
		return KERN_INVALID_ARGUMENT;
	sched_policies |= (uint32_t)policy;
	return KERN_SUCCESS;
}

/* Time sharing is what there is when all else is forbidden. */
kern_return_t processor_set_policy_disable(processor_set_t set, int policy, boolean_t change)
{
	if (set == NULL || invalid_policy(policy) || policy == POLICY_TIMESHARE)
		return KERN_INVALID_ARGUMENT;
	sched_policies &= ~(uint32_t)policy;
	if (change)
		thread_policies_reset();
	return KERN_SUCCESS;
}
