/* SPDX-License-Identifier: MIT */
/*
 * Samples of events: each is taken where the event is counted (fault_event()), so that there are as
 * many samples as the statistics say.  Guarded by the kernel lock.
 */
#include "prof/stream_internal.h"
#include "prof/unclaimed.h"

#include <stddef.h>

#include <mach/calls.h>

#include "base/clock.h"
#include "base/cpu.h"
#include "base/machine.h"
#include "thread/thread.h"

static const uint16_t flavors[FAULT_FLAVORS] = {
	[FAULT_ZFILL] = SAMPLED_PC_VM_ZFILL_FAULTS,
	[FAULT_COW] = SAMPLED_PC_VM_COW_FAULTS,
	[FAULT_PAGEIN] = SAMPLED_PC_VM_PAGEIN_FAULTS,
	[FAULT_REACTIVATION] = SAMPLED_PC_VM_REACTIVATION_FAULTS,
	[FAULT_ANY] = SAMPLED_PC_VM_FAULTS_ANY,
};

/* A sample with room for its frames: the kernel's and the user's. */
union event_sample {
	struct prof_sample sample;
	uint32_t words[sizeof(struct prof_sample) / 4 + 2 * SAMPLE_DEPTH_MAX];
};

bool stream_is_of(const struct stream *stream, const struct thread *thread, uint32_t label)
{
	const struct sampler_target *target = &stream->target;

	switch (target->kind) {
	case PROF_TARGET_TASK:
		return thread->home == target->id;
	case PROF_TARGET_THREAD:
		return thread->id == target->id;
	case PROF_TARGET_LABEL:
		return label == target->id;
	case PROF_TARGET_HOST:
		return true;
	case PROF_TARGET_JOB:
		return (thread->jobs & target->job) != 0;
	}
	return false;
}

static void event_fill_in(struct prof_sample *sample, const struct thread *thread,
			  enum fault_flavor flavor, uint32_t kernel_pc)
{
	uint64_t now = clock_now();

	*sample = (struct prof_sample){
		.record = {.type = PROF_SAMPLE, .version = PROF_VERSION},
		.pc = thread->task != NULL ? thread_user_pc(thread) : 0,
		.kernel_pc = machine_event_pc(thread, kernel_pc),
		.thread = thread->id,
		.task = thread->home,
		.label = unclaimed_is_event(thread->label) ? HOST_CALLS_SYSTEM : thread->label,
		.flavor = flavors[flavor],
		.cpu = (uint8_t)cpu_number(),
		.time = {(uint32_t)now, (uint32_t)(now >> 32)},
	};
}

/* The sample as this stream wants it: with its depth of the stacks. */
static void event_add_stacks(struct prof_sample *sample, const struct thread *thread,
			     uint32_t kernel_pc, uint32_t depth)
{
	uint32_t kernel = 0, user = 0;
	bool kernel_cut = false, user_cut = false;

	if (depth > 0 && sample->kernel_pc != 0)
		kernel = machine_event_stack(thread, kernel_pc, sample->frames, depth, &kernel_cut);
	if (depth > 0 && thread->task != NULL)
		user = sampler_user_stack(thread, sample->frames + kernel, depth, &user_cut);
	sample->kernel_frames = (uint8_t)kernel;
	sample->user_frames = (uint8_t)user;
	sample->flags = thread->task == NULL ? PROF_NO_USER_PC : 0;
	if (kernel_cut || user_cut)
		sample->flags |= PROF_STACK_CUT;
	sample->record.words = (uint16_t)(sizeof *sample / 4 + kernel + user);
}

void stream_event(enum fault_flavor flavor, uint32_t kernel_pc)
{
	const struct thread *thread = current_thread();
	union event_sample event;

	event_fill_in(&event.sample, thread, flavor, kernel_pc);
	list_for_each_object (struct stream, stream, &all_streams, link) {
		if ((stream->flavors & flavors[flavor]) == 0 || stream->end != 0 ||
		    !stream_is_of(stream, thread, thread->label))
			continue;
		event_add_stacks(&event.sample, thread, kernel_pc, stream->depth);
		stream_take_event(stream, &event.sample);
	}
}
