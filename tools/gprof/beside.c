/* SPDX-License-Identifier: MIT */
/*
 * A recording has each sample with its stack but counts no calls; a gmon.out counts all calls, but
 * of its samples only says where they were.  Of one run, the two together say both.
 *
 * The samples of one run are the same time, looked at twice: they come from the recording alone.  A
 * gmon.out is of a run that was recorded if the recording knows its process under the number that
 * its task had.  Samples with stacks and others are not added up at all, for inclusive times of the
 * sum would have only those with stacks in them.
 */
#include "beside.h"

#include "gmon.h"
#include "graph.h"

static bool beside_says_its_run(const struct profile *counted)
{
	return profile_knows(counted, GMON_PID) && counted->values[GMON_TASK] != 0;
}

static bool beside_is_recorded(const struct profile *recorded, const struct profile *counted)
{
	uint32_t place = map_get(&recorded->task_places, (uint32_t)counted->values[GMON_TASK]);

	return beside_says_its_run(counted) && place != MAP_NONE &&
	       recorded->tasks[place].pid >= 0 &&
	       (uint64_t)recorded->tasks[place].pid == counted->values[GMON_PID];
}

enum beside beside_what(const struct profile *recorded, const struct profile *counted)
{
	if (beside_is_recorded(recorded, counted))
		return BESIDE_CALLS;
	if (!stacks_are_there(recorded))
		return BESIDE_ADDS;
	return beside_says_its_run(counted) ? BESIDE_NOTHING : BESIDE_CALLS;
}

void beside_take_calls(struct profile *recorded, struct profile *counted)
{
	for (size_t i = 0; i < counted->n_arcs; i++)
		profile_add_arc(recorded, counted->arcs[i].from, counted->arcs[i].self,
				counted->arcs[i].count);
	if (profile_knows(counted, GMON_ARCS_LOST))
		profile_add_value(recorded, GMON_ARCS_LOST, counted->values[GMON_ARCS_LOST]);
	recorded->is_beside = true;
	recorded->is_of_any_run |= !beside_is_recorded(recorded, counted);
	profile_finish(counted, NULL, NULL);
	for (size_t i = 0; i < counted->n_flavors; i++)
		recorded->set_aside += profile_total(&counted->flavors[i]);
	recorded->set_aside += counted->values[GMON_PROFILER];
}
