/* SPDX-License-Identifier: MIT */
/*
 * Whose a sample in the ring is, and who goes on after it: threads whose stacks can be read.
 *
 * A ring is read before its CPU gives another thread the CPU, so that the sampled one is where it
 * was.  A sample that comes after that, in the few dozen instructions to the switch and in it, is
 * read when the next thread is about to leave the kernel: the sampled one waits then.
 */
#include <stddef.h>

#include <mach/prof.h>

#include "base/cpu.h"
#include "base/lock.h"
#include "base/machine.h"
#include "prof/sampler_cpu.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

/* Who has just given this CPU away: it waits as it did, unless it has run elsewhere since. */
static const struct thread *sampler_thread_that_left(const struct prof_sample *sample)
{
	struct task *task = task_find(sample->task);
	const struct thread *thread = task != NULL ? thread_find(task, sample->thread) : NULL;

	if (thread == NULL || thread->state != THREAD_WAITING || thread->cpu != cpu_self())
		return NULL;
	return thread;
}

const struct thread *sampler_thread_of(const struct prof_sample *sample)
{
	const struct thread *thread =
		machine_sampled_thread(sample->cpu, sample->thread, sample->kernel_pc);

	assert(kernel_locked());
	if (thread == NULL && sample->cpu == cpu_number())
		thread = sampler_thread_that_left(sample);
	return thread;
}

const struct thread *sampler_thread_behind(const struct prof_sample *sample,
					   const struct thread *sampled)
{
	const struct cpu *cpu = cpu_self();

	if (sample->cpu != cpu->number)
		return NULL;
	return sampled == cpu->thread ? cpu->goes_on : cpu->thread;
}
