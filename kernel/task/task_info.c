/* SPDX-License-Identifier: MIT */
/* What can be known of tasks: task_info().  Guarded by the kernel lock. */
#include <mach/mach_types.h>

#include "i386/mmu/pmap.h"
#include "mach/mach_server.h"
#include "task/info.h"
#include "task/task.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/map.h"

/* What its page tables show: pages in memory that it has not touched lately are not counted. */
static uint32_t task_info_resident_size(const struct vm_map *map)
{
	return map->active ? map->pmap->pages * PAGE_SIZE : 0;
}

static kern_return_t task_info_basic(const struct task *task, integer_t *out,
				     mach_msg_type_number_t *room)
{
	const time_value64_t creation = info_time64_of_creation(task->created);
	const struct task_basic_info info = {
		.suspend_count = (integer_t)task->suspend_count,
		.base_priority = task->priority,
		.virtual_size = map_size(task->map),
		.resident_size = task_info_resident_size(task->map),
		.user_time = info_time_of_ticks(task->ended_ticks - task->ended_system_ticks),
		.system_time = info_time_of_ticks(task->ended_system_ticks),
		.creation_time = info_in_micros(creation),
		.user_time64 = info_time64_of_ticks(task->ended_ticks - task->ended_system_ticks),
		.system_time64 = info_time64_of_ticks(task->ended_system_ticks),
		.creation_time64 = creation,
	};

	return info_give_some(out, room, &info, sizeof info, TASK_BASIC_INFO_OLD_COUNT);
}

static kern_return_t task_info_events_info(const struct task *task, integer_t *out,
					   mach_msg_type_number_t *room)
{
	const uint32_t *faults = task->faults.n;
	const struct task_events_info info = {
		.faults = faults[FAULT_ANY],
		.zero_fills = faults[FAULT_ZFILL],
		.reactivations = faults[FAULT_REACTIVATION],
		.pageins = faults[FAULT_PAGEIN],
		.cow_faults = faults[FAULT_COW],
		.messages_sent = task->messages_sent,
		.messages_received = task->messages_received,
	};

	return info_give(out, room, &info, sizeof info);
}

static kern_return_t task_info_thread_times(struct task *task, integer_t *out,
					    mach_msg_type_number_t *room)
{
	struct task_thread_times_info info;
	uint32_t ticks = 0, system_ticks = 0;

	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		ticks += thread->ticks;
		system_ticks += thread->system_ticks;
		pause_each();
	}
	info.user_time = info_time_of_ticks(ticks - system_ticks);
	info.system_time = info_time_of_ticks(system_ticks);
	info.user_time64 = info_time64_of_ticks(ticks - system_ticks);
	info.system_time64 = info_time64_of_ticks(system_ticks);
	return info_give_some(out, room, &info, sizeof info, TASK_THREAD_TIMES_INFO_OLD_COUNT);
}

static kern_return_t task_info_usage_info(struct task *task, integer_t *out,
					  mach_msg_type_number_t *room)
{
	mach_msg_type_number_t times = TASK_THREAD_TIMES_INFO_COUNT;
	mach_msg_type_number_t events = TASK_EVENTS_INFO_COUNT;
	struct task_usage_info info = {
		.served_user_time =
			info_time_of_ticks(task->served_ticks - task->served_system_ticks),
		.served_system_time = info_time_of_ticks(task->served_system_ticks),
		.ended_user_time = info_time_of_ticks(task->ended_ticks - task->ended_system_ticks),
		.ended_system_time = info_time_of_ticks(task->ended_system_ticks),
		.resident_size = task_info_resident_size(task->map),
	};

	task_info_thread_times(task, (integer_t *)&info.living, &times);
	task_info_events_info(task, (integer_t *)&info.events, &events);
	return info_give(out, room, &info, sizeof info);
}

kern_return_t task_info(task_t task, int flavor, task_info_t out, mach_msg_type_number_t *room)
{
	if (task == NULL || task->ending)
		return KERN_INVALID_ARGUMENT;
	switch (flavor) {
	case TASK_BASIC_INFO:
		return task_info_basic(task, out, room);
	case TASK_EVENTS_INFO:
		return task_info_events_info(task, out, room);
	case TASK_THREAD_TIMES_INFO:
		return task_info_thread_times(task, out, room);
	case TASK_ID_INFO:
		return info_give(out, room, &task->id, sizeof(struct task_id_info));
	case TASK_USAGE_INFO:
		return task_info_usage_info(task, out, room);
	case TASK_MAKER_INFO:
		return info_give(out, room, &task->maker, sizeof(struct task_maker_info));
	default:
		return KERN_INVALID_ARGUMENT;
	}
}
