/* SPDX-License-Identifier: MIT */
/* links: prof/job.c */
/* Jobs (prof/job.h) of many tasks and threads: who has which bits, and that loops have pauses. */
#include "prof/job.h"

#include <string.h>

#include "base/lock.h"
#include "host/kernel.h"
#include "prof/sampler.h"
#include "task/task.h"
#include "thread/work.h"

#define TASKS   1000
#define THREADS 1000
#define TURNS   64 /* As many tasks and threads there may be between two pauses. */

/* Held all the while. */
uint32_t kernel_lock_word = 1;

struct list all_tasks;

static struct task tasks[TASKS];
static struct thread threads[THREADS];
static unsigned pauses;
uint32_t pause_turns_left = TURNS;

void kernel_pause(void)
{
	pauses++;
	pause_turns_left = TURNS;
}

struct task *task_find(uint32_t id)
{
	return &tasks[id];
}

static void add_threads(struct task *task, unsigned n)
{
	for (unsigned i = 0; i < n; i++) {
		threads[i].jobs = task->jobs;
		list_add_last(&task->threads, &threads[i].task_link);
	}
}

/* So many tasks, all with these bits. */
static void reset(unsigned n, uint32_t jobs)
{
	list_init(&all_tasks);
	memset(threads, 0, sizeof(threads));
	for (unsigned i = 0; i < n; i++) {
		tasks[i].jobs = jobs;
		list_init(&tasks[i].threads);
		list_add_last(&all_tasks, &tasks[i].link);
	}
	pauses = 0;
}

static struct sampler_target begin(void)
{
	struct sampler_target target = {.kind = PROF_TARGET_JOB, .id = 0};

	EXPECT(job_begin(&target));
	return target;
}

TEST(jobs_end_with_pauses)
{
	struct sampler_target one, other;

	reset(TASKS, 0);
	one = begin();
	other = begin();
	EXPECT_NE(one.job, other.job);
	for (unsigned i = 1; i < TASKS; i++)
		tasks[i].jobs = tasks[0].jobs;
	job_end(&one);
	EXPECT_LE(TASKS / TURNS, pauses);
	for (unsigned i = 0; i < TASKS; i++)
		EXPECT_EQ(tasks[i].jobs, other.job);
	EXPECT_EQ(one.job, 0);
	job_end(&other);
	EXPECT_EQ(tasks[TASKS - 1].jobs, 0);
}

TEST(threads_are_turns_too)
{
	struct sampler_target target;

	reset(1, 0);
	add_threads(&tasks[0], THREADS);
	target = begin();
	EXPECT_LE(THREADS / TURNS, pauses);
	EXPECT_EQ(threads[THREADS - 1].jobs, target.job);
	pauses = 0;
	job_end(&target);
	EXPECT_LE(THREADS / TURNS, pauses);
	EXPECT_EQ(threads[THREADS - 1].jobs, 0);
}

TEST(the_last_of_a_job_leaves_with_pauses)
{
	reset(TASKS, 0);
	tasks[0].jobs = 5;
	tasks[TASKS - 1].jobs = 4;
	EXPECT_EQ(job_leave(&tasks[0]), 1);
	EXPECT_EQ(tasks[0].jobs, 0);
	EXPECT_LE(TASKS / TURNS, pauses);
	EXPECT_EQ(job_leave(&tasks[TASKS - 1]), 4);
}
