/* SPDX-License-Identifier: MIT */
/*
 * What samples and timers say that the fuzzer would take for an address of the kernel's, and is
 * none that it keeps to itself: where in the kernel a sample was taken is told to whoever may take
 * one.
 */
#include "fuzz.h"

#include <mach/messages.h>

/* The answer of task_vtimer_update(), and where in the message the time is that is left. */
#define TIMER_LEFT 12u

/* Where the kernel's code is, with room. */
#define KERNEL_CODE     0xc0100000u
#define KERNEL_CODE_END 0xc0240000u

static void forget_code(uint32_t *word)
{
	if (*word >= KERNEL_CODE && *word < KERNEL_CODE_END)
		*word = 0;
}

static void forget_frames(uint32_t *frames, uint32_t n)
{
	for (uint32_t i = 0; i < n && i < SAMPLE_DEPTH_MAX; i++)
		forget_code(&frames[i]);
}

/* The lower half of a time can be any number. */
static void forget_in_sample(struct prof_sample *sample)
{
	sample->time[0] = 0;
	forget_code(&sample->kernel_pc);
	forget_frames(sample->frames, sample->kernel_frames);
}

static void forget_in_wait(struct prof_wait *wait)
{
	wait->time[0] = wait->length[0] = 0;
	forget_code(&wait->kernel_pc);
	forget_frames(wait->frames, wait->kernel_frames);
}

static void forget_in_waits(struct prof_waits *times)
{
	times->taken[0] = times->delivered[0] = times->lost[0] = times->buffered[0] = 0;
}

static void forget_in_record(struct prof_record *record)
{
	switch (record->type) {
	case PROF_BEGIN:
		((struct prof_begin *)record)->time[0] = 0;
		break;
	case PROF_SAMPLE:
		forget_in_sample((struct prof_sample *)record);
		break;
	case PROF_WAIT:
		forget_in_wait((struct prof_wait *)record);
		break;
	case PROF_WAITS:
		forget_in_waits((struct prof_waits *)record);
		break;
	case PROF_END:
		((struct prof_end *)record)->time[0] = 0;
		break;
	default:
		break;
	}
}

void fuzz_forget_samples_own(const struct fuzz *fuzz, uint32_t *words, uint32_t n)
{
	const mach_msg_header_t *head = (const mach_msg_header_t *)fuzz->buffer;
	uint32_t at = 0;

	while (head->msgh_id == ID_SAMPLES && at < n) {
		struct prof_record *record = (struct prof_record *)(words + at);

		if (record->words == 0 || record->version != PROF_VERSION)
			return;
		at += record->words;
		forget_in_record(record);
	}
}

void fuzz_forget_timers_own(struct fuzz *fuzz)
{
	const mach_msg_header_t *head = (const mach_msg_header_t *)fuzz->buffer;

	if (head->msgh_id == ID_TASK_VTIMER_UPDATE_REPLY)
		fuzz_clean(fuzz->buffer + TIMER_LEFT, 2);
}
