/* SPDX-License-Identifier: MIT */
/*
 * Jobs: tasks that a stream samples because it samples the task that made them (SAMPLE_CHILDREN).
 *
 * Each such stream has a bit.  A task has those of all streams that are to sample it, and gives
 * them to the tasks that are made as its children; its threads have them too, for the interrupt
 * that samples.  So to follow costs an interrupt nothing, and a task a word that is copied.
 *
 * Who makes a task says whose child it is.  Whoever has a task's control port may sample it and all
 * that comes of it, unless the maker says that it is another's child: the Unix server does, if a
 * program has rights that the process before it had not.  Guarded by the kernel lock.
 */
#ifndef PROF_JOB_H
#define PROF_JOB_H

#include <stdbool.h>
#include <stdint.h>

/* Streams of jobs that there can be at a time: a bit each. */
#define JOBS_MAX 32u

struct sampler_target;
struct task;

/*
 * Each of these goes through all tasks, or a task's threads, and does interrupts' work meanwhile
 * (kernel_pause()): what the caller has in hand must not be half changed.
 */

/* Gives a stream's target its bit, if it is a job, and the first task that; false: none is free. */
bool job_begin(struct sampler_target *target);

/* Takes it back from all tasks.  Harmless if it has none. */
void job_end(struct sampler_target *target);

/* The task has ended, and is in no job any more; returns the bits that no task has now. */
uint32_t job_leave(struct task *task);

#endif
