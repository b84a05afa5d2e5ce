/* SPDX-License-Identifier: MIT */
/* The tasks that a process was, one after the other.  See perf_tasks.h. */
#include "perf_tasks.h"

#include <stdlib.h>

#include "model.h"
#include "perf_format.h"
#include "util.h"

#define TURNS_MAX 4096u

uint32_t perf_tasks_find(const struct perf_tasks *tasks, uint32_t pid, uint64_t time)
{
	uint32_t i = map_get(&tasks->last, pid);

	if (i == MAP_NONE)
		return pid | PERF_TASK_OF_PID;
	while (tasks->turns[i].time > time && tasks->turns[i].before != MAP_NONE)
		i = tasks->turns[i].before;
	return tasks->turns[i].task;
}

static bool perf_turn(struct perf_tasks *tasks, uint32_t pid, uint32_t task, uint64_t time)
{
	uint32_t before = map_get(&tasks->last, pid);
	struct perf_turn next = {.time = time, .task = task, .before = before};

	if (before != MAP_NONE && tasks->turns[before].task == task)
		return true;
	if (before != MAP_NONE)
		next.number = tasks->turns[before].number + 1;
	if (next.number == TURNS_MAX)
		return false;
	tasks->turns = grow(tasks->turns, tasks->n, &tasks->room, sizeof(*tasks->turns));
	map_set(&tasks->last, pid, (uint32_t)tasks->n);
	tasks->turns[tasks->n++] = next;
	return true;
}

void perf_tasks_label(struct perf_tasks *tasks, uint32_t pid, uint32_t task)
{
	map_set(&tasks->labels, pid, task);
	if (map_get(&tasks->last, pid) == MAP_NONE)
		perf_turn(tasks, pid, task, 0);
}

bool perf_tasks_turn(struct perf_tasks *tasks, uint32_t pid, uint64_t time)
{
	uint32_t task = map_get(&tasks->labels, pid);

	return task == MAP_NONE || perf_turn(tasks, pid, task, time);
}

void perf_tasks_free(struct perf_tasks *tasks)
{
	free(tasks->turns);
	map_free(&tasks->last);
	map_free(&tasks->labels);
}

/* At its end it has words of eight bytes, of the same things that the samples have. */
uint64_t perf_record_time(const unsigned char *rest, size_t size, uint64_t sample_type)
{
	static const uint32_t parts[] = {
		PERF_HAS_TIME, PERF_HAS_ID, PERF_HAS_STREAM_ID, PERF_HAS_CPU, PERF_HAS_IDENTIFIER,
	};
	size_t from_end = 0;

	if ((sample_type & PERF_HAS_TIME) == 0)
		return PROFILE_NO_TIME;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		if ((sample_type & parts[i]) != 0)
			from_end += sizeof(uint64_t);
	return size < from_end ? PROFILE_NO_TIME : load_u64(rest + size - from_end);
}
