/* SPDX-License-Identifier: MIT */
/* What can be known of threads: thread_info().  Guarded by the kernel lock. */
#include <mach/mach_types.h>

#include "base/clock.h"
#include "base/divide.h"
#include "base/machine.h"
#include "mach/mach_server.h"
#include "task/info.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

/* The thread's share of a CPU since it was made. */
static integer_t thread_info_usage(const struct thread *thread)
{
	uint64_t age = clock_cycles_to_ns(machine_cycles() - thread->created);
	uint64_t age_ticks = divide(age, NS_PER_SECOND / TICK_HZ) + 1;
	uint64_t share;

	if (age_ticks > UINT32_MAX)
		return 0;
	share = divide((uint64_t)thread->ticks * TH_USAGE_SCALE, (uint32_t)age_ticks);
	return share < TH_USAGE_SCALE ? (integer_t)share : TH_USAGE_SCALE;
}

static integer_t thread_info_run_state(const struct thread *thread)
{
	switch (thread->state) {
	case THREAD_RUNNABLE:
	case THREAD_RUNNING:
		return TH_STATE_RUNNING;
	case THREAD_WAITING:
		if (thread->wait_kind == WAIT_UNINTERRUPTIBLE)
			return TH_STATE_UNINTERRUPTIBLE;
		return (thread->asked & THREAD_ASKED_STOP) != 0 ? TH_STATE_STOPPED
								: TH_STATE_WAITING;
	case THREAD_STOPPED:
		return TH_STATE_STOPPED;
	default:
		return TH_STATE_HALTED;
	}
}

static bool thread_info_is_depressed(const struct thread *thread)
{
	return thread->run_priority != thread->priority;
}

/* How long a thread has slept is not kept. */
static kern_return_t thread_info_basic(const struct thread *thread, integer_t *out,
				       mach_msg_type_number_t *room)
{
	const time_value64_t creation = info_time64_of_creation(thread->created);
	const struct thread_basic_info info = {
		.user_time = info_time_of_ticks(thread->ticks - thread->system_ticks),
		.system_time = info_time_of_ticks(thread->system_ticks),
		.cpu_usage = thread_info_usage(thread),
		.base_priority = thread->priority,
		.cur_priority = thread->run_priority,
		.run_state = thread_info_run_state(thread),
		.flags = 0,
		.suspend_count = (integer_t)thread->suspend_count,
		.sleep_time = 0,
		.creation_time = info_in_micros(creation),
		.user_time64 = info_time64_of_ticks(thread->ticks - thread->system_ticks),
		.system_time64 = info_time64_of_ticks(thread->system_ticks),
		.creation_time64 = creation,
	};

	return info_give_some(out, room, &info, sizeof info, THREAD_BASIC_INFO_OLD_COUNT);
}

static kern_return_t thread_info_sched(const struct thread *thread, integer_t *out,
				       mach_msg_type_number_t *room)
{
	const struct thread_sched_info info = {
		.policy = thread->policy,
		.data = thread->policy_data,
		.base_priority = thread->priority,
		.max_priority = thread->max_priority,
		.cur_priority = thread->run_priority,
		.depressed = thread_info_is_depressed(thread),
		.depress_priority = thread_info_is_depressed(thread) ? thread->priority : -1,
		.last_processor = thread->cpu != NULL ? (integer_t)thread->cpu->number : 0,
	};

	return info_give(out, room, &info, sizeof info);
}

static kern_return_t thread_info_id(const struct thread *thread, integer_t *out,
				    mach_msg_type_number_t *room)
{
	const struct thread_id_info info = {.id = thread->id, .label = thread->label};

	return info_give(out, room, &info, sizeof info);
}

kern_return_t thread_info(thread_t thread, int flavor, thread_info_t out,
			  mach_msg_type_number_t *room)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	switch (flavor) {
	case THREAD_BASIC_INFO:
		return thread_info_basic(thread, out, room);
	case THREAD_SCHED_INFO:
		return thread_info_sched(thread, out, room);
	case THREAD_ID_INFO:
		return thread_info_id(thread, out, room);
	default:
		return KERN_INVALID_ARGUMENT;
	}
}
