/* SPDX-License-Identifier: MIT */
/* Jobs: see job.h.  Guarded by the kernel lock. */
#include "prof/job.h"

#include "base/assert.h"
#include "base/lock.h"
#include "prof/sampler.h"
#include "task/task.h"
#include "thread/thread.h"
#include "thread/work.h"

/* The bits of streams that have not ended. */
static uint32_t jobs_used;

/* The task has these bits instead of those; its threads see it at the next interrupt. */
static void job_set_jobs(struct task *task, uint32_t jobs)
{
	task->jobs = jobs;
	list_for_each_object (struct thread, thread, &task->threads, task_link) {
		thread->jobs = jobs;
		pause_each();
	}
}

bool job_begin(struct sampler_target *target)
{
	struct task *first;

	assert(kernel_locked() && target->job == 0);
	if (target->kind != PROF_TARGET_JOB)
		return true;
	if (jobs_used == UINT32_MAX)
		return false;
	first = task_find(target->id);
	assert(first != NULL);
	target->job = ~jobs_used & (jobs_used + 1);
	jobs_used |= target->job;
	job_set_jobs(first, first->jobs | target->job);
	return true;
}

void job_end(struct sampler_target *target)
{
	uint32_t job = target->job;

	assert(kernel_locked() && (jobs_used & job) == job);
	if (job == 0)
		return;
	list_for_each_object (struct task, task, &all_tasks, link) {
		if ((task->jobs & job) != 0)
			job_set_jobs(task, task->jobs & ~job);
		pause_each();
	}
	jobs_used &= ~job;
	target->job = 0;
}

uint32_t job_leave(struct task *task)
{
	uint32_t jobs = task->jobs;

	assert(kernel_locked());
	task->jobs = 0;
	list_for_each_object (struct task, task, &all_tasks, link) {
		jobs &= ~task->jobs;
		pause_each();
	}
	return jobs;
}
