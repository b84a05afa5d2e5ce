/* SPDX-License-Identifier: MIT */
/*
 * The six calls of Mach 3.0 (<mach/pc_sample.h>): the last samples of a task or a thread, kept in a
 * ring to be fetched.
 *
 * The ring belongs to a stream of its own, 100 times a second as the clock was that these calls
 * were made for.  A sample in kernel mode has the program counter of the trap that led there.
 * Flavors that there are not, which these calls never refused, never happen.  Guarded by the kernel
 * lock.
 */
#include <mach/mach_types.h>
#include <mach/pc_sample.h>

#include "mach/mach4_server.h"
#include "prof/stream_internal.h"
#include "task/task.h"
#include "thread/thread.h"

#define RATE    100u
#define TICK_US (1000000u / RATE)

/* ---------------- What the calls do, of either kind ---------------- */

/* A second call only changes the flavors. */
static kern_return_t pc_sampling_enable(struct sampler_target target, int *tick, unsigned flavors)
{
	struct stream *stream = stream_with_ring(target);
	struct stream_wish wish = {target, flavors & SAMPLED_PC_ALL, RATE, {0}, false};
	kern_return_t result;

	if (target.kind == 0)
		return KERN_INVALID_ARGUMENT;
	if (stream == NULL)
		result = stream_begin(&wish, PORT_NULL);
	else
		result = stream_set_flavors(stream, wish.flavors);
	if (result == KERN_SUCCESS)
		*tick = TICK_US;
	return result;
}

/* Tells how many samples there were, of which the ring had the last. */
static kern_return_t pc_sampling_disable(struct sampler_target target, int *sample_count)
{
	struct stream *stream = stream_with_ring(target);

	if (stream == NULL)
		return KERN_FAILURE;
	stream_stop_clock(stream);
	*sample_count = (int)stream->ring.seqno;
	stream_destroy(stream);
	return KERN_SUCCESS;
}

/* Copies the last `n` samples of the ring, the oldest first. */
static void pc_sampling_read_ring(const struct pc_ring *ring, uint32_t n, sampled_pc_t *samples)
{
	uint32_t first = ring->seqno - n + 1;

	for (uint32_t i = 0; i < n; i++)
		samples[i] = *ring_place(ring, first + i);
}

/* Reads the ring's samples after number *seqno: none if that number is still to come. */
static kern_return_t pc_sampling_fetch(struct sampler_target target, unsigned *seqno,
				       sampled_pc_t *samples, mach_msg_type_number_t *n_samples)
{
	struct stream *stream = stream_with_ring(target);
	const struct pc_ring *ring;
	uint32_t n;

	if (stream == NULL)
		return KERN_FAILURE;
	stream_collect(stream);
	ring = &stream->ring;
	n = *seqno < ring->seqno ? ring->seqno - *seqno : 0;
	if (n > MAX_PC_SAMPLES)
		n = MAX_PC_SAMPLES;
	pc_sampling_read_ring(ring, n, samples);
	*seqno = ring->seqno;
	*n_samples = n;
	return KERN_SUCCESS;
}

/* ---------------- The calls ---------------- */

kern_return_t task_enable_pc_sampling(task_t task, int *tick, unsigned flavors)
{
	return pc_sampling_enable(stream_target_of_task(task), tick, flavors);
}

kern_return_t task_disable_pc_sampling(task_t task, int *sample_count)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	return pc_sampling_disable(stream_target_of_task(task), sample_count);
}

kern_return_t task_get_sampled_pcs(task_t task, unsigned *seqno, sampled_pc_array_t samples,
				   mach_msg_type_number_t *n_samples)
{
	if (task == NULL)
		return KERN_INVALID_ARGUMENT;
	return pc_sampling_fetch(stream_target_of_task(task), seqno, samples, n_samples);
}

kern_return_t thread_enable_pc_sampling(thread_t thread, int *tick, unsigned flavors)
{
	return pc_sampling_enable(stream_target_of_thread(thread), tick, flavors);
}

kern_return_t thread_disable_pc_sampling(thread_t thread, int *sample_count)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	return pc_sampling_disable(stream_target_of_thread(thread), sample_count);
}

kern_return_t thread_get_sampled_pcs(thread_t thread, unsigned *seqno, sampled_pc_array_t samples,
				     mach_msg_type_number_t *n_samples)
{
	if (thread == NULL)
		return KERN_INVALID_ARGUMENT;
	return pc_sampling_fetch(stream_target_of_thread(thread), seqno, samples, n_samples);
}
