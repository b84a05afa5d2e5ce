/* SPDX-License-Identifier: MIT */
/*
 * A collector's stream, and what is asked of it: see collector.h.
 *
 * What has been taken reaches the collection when the kernel sends it; to have all of it, the
 * stream is flushed, and goes on.
 */
#include <mach.h>
#include <mach/prof.h>

#include "arcs.h"
#include "collector.h"
#include "gmon_file.h"
#include "message.h"
#include "pages.h"

#define END_WAIT_MS 10000u /* An end comes at once; without a kernel that sends it, none comes. */

/* ---------------- Streams ---------------- */

static void note_end(struct prof_collector *collector)
{
	collector->target_ended = true;
	collector->flavors = 0;
}

static void take_samples(struct prof_collector *collector, mach_msg_header_t *message)
{
	size_t count = 0;
	const uint32_t *words = __message_samples(message, &count);

	if (words != NULL) {
		if (collector->target.watch != NULL)
			collector->target.watch(collector->target.context, words, count);
		__collection_add(&collector->collection, words, count);
	}
	mach_msg_destroy(message);
	if (collector->collection.is_over && collector->collection.end == PROF_END_TARGET)
		note_end(collector);
}

/* Who asks for the end is answered later: first the collector's thread ends what it does. */
static void note_end_thread(struct prof_collector *collector, mach_msg_header_t *message)
{
	collector->ended = message->msgh_remote_port;
	message->msgh_remote_port = MACH_PORT_NULL;
	mach_msg_destroy(message);
}

/* What came to the port of the samples, also while a request waits for more of them. */
static void take(struct prof_collector *collector, mach_msg_header_t *message)
{
	if (message->msgh_id == ID_END_THREAD) {
		note_end_thread(collector, message);
	} else if (message->msgh_id == MACH_NOTIFY_DEAD_NAME) {
		collector->target_died = true;
		mach_msg_destroy(message);
	} else {
		take_samples(collector, message);
	}
}

static kern_return_t start(const struct prof_collector *collector, uint32_t flavors, uint32_t rate,
			   sample_options_t options)
{
	const struct prof_collector_target *target = &collector->target;

	return target->begin != NULL
		       ? target->begin(target->context, flavors, rate, options, collector->samples)
		       : task_sample_start(target->task, flavors, rate, options,
					   collector->samples);
}

/* By whose right a stream is stopped: of a job the receiver's, as its own task may be over. */
static mach_port_t speaker(const struct prof_collector_target *target)
{
	return target->with_children ? mach_task_self_cached() : target->task;
}

static kern_return_t stop(const struct prof_collector *collector)
{
	const struct prof_collector_target *target = &collector->target;

	return target->end != NULL ? target->end(target->context, collector->samples)
				   : task_sample_stop(speaker(target), collector->samples);
}

static kern_return_t flush(const struct prof_collector *collector, uint64_t *delivered)
{
	const struct prof_collector_target *target = &collector->target;

	return target->begin != NULL
		       ? target->flush(target->context, collector->samples, delivered)
		       : task_sample_flush(speaker(target), collector->samples, delivered);
}

static kern_return_t begin_stream(struct prof_collector *collector, uint32_t flavors)
{
	const gprof_options_t *chosen = &collector->chosen;
	sample_options_t options = {
		.flags = chosen->flags, .age_ms = chosen->age_ms, .depth = chosen->depth};
	kern_return_t result;

	if (collector->target.with_children)
		options.flags |= SAMPLE_CHILDREN;
	result = start(collector, flavors, chosen->rate, options);
	if (result == KERN_RESOURCE_SHORTAGE)
		return GPROF_NO_SAMPLING;
	if (result != KERN_SUCCESS)
		return collector->target.proxy != 0 ? GPROF_ENDED : GPROF_NO_SAMPLING;
	collector->flavors = flavors;
	return KERN_SUCCESS;
}

/*
 * Receives a message, and more until so many samples of the stream are there, or its end.  Requests
 * wait meanwhile: the port is taken out of the set, as nobody can receive from a port that is in
 * one.
 */
static void await(struct prof_collector *collector, uint64_t delivered,
		  mach_msg_timeout_t timeout_ms)
{
	const struct collection *collection = &collector->collection;
	mach_port_t self = mach_task_self_cached();
	union {
		mach_msg_header_t head;
		char room[PROF_MESSAGE_MAX];
	} message;
	bool is_enough = false;

	if (mach_port_move_member(self, collector->samples, MACH_PORT_NULL) != KERN_SUCCESS)
		return;
	while (!collection->is_over && !is_enough &&
	       mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message,
			collector->samples, timeout_ms, MACH_PORT_NULL) == MACH_MSG_SUCCESS) {
		take(collector, &message.head);
		is_enough = collection->stream.delivered >= delivered;
	}
	mach_port_move_member(self, collector->samples, collector->set);
}

static void await_end(struct prof_collector *collector, mach_msg_timeout_t timeout_ms)
{
	await(collector, UINT64_MAX, timeout_ms);
	if (collector->target_died)
		note_end(collector);
}

/* If it cannot be stopped, it has ended with its target: the end comes, too, or has come. */
void __collector_end_stream(struct prof_collector *collector)
{
	stop(collector);
	await_end(collector, END_WAIT_MS);
	collector->flavors = 0;
}

/* The task's own stream ends with it; another one is not of the task alone, and goes on. */
static void end_with_target(struct prof_collector *collector)
{
	if (collector->flavors != 0 && collector->target.begin != NULL)
		__collector_end_stream(collector);
	else
		await_end(collector, collector->flavors != 0 ? END_WAIT_MS : 0);
}

/*
 * Brings all that was taken up to now.  Without the memory that it takes to send it, there is what
 * has come already.  A stream that cannot be flushed otherwise has ended with its target.
 */
static void bring_all(struct prof_collector *collector)
{
	uint64_t delivered = 0;
	kern_return_t result;

	if (collector->flavors == 0)
		return;
	result = flush(collector, &delivered);
	if (result == KERN_RESOURCE_SHORTAGE)
		return;
	if (result == KERN_SUCCESS)
		await(collector, delivered, END_WAIT_MS);
	if (result != KERN_SUCCESS || collector->target_died)
		end_with_target(collector);
}

void __collector_take(struct prof_collector *collector, mach_msg_header_t *message)
{
	take(collector, message);
	if (collector->target_died && !collector->target_ended)
		end_with_target(collector);
}

/* ---------------- Records from elsewhere ---------------- */

void prof_collector_add(struct prof_collector *collector, const uint32_t *words, size_t count)
{
	__collection_add(&collector->collection, words, count);
}

void prof_collector_add_others(struct prof_collector *collector, uint64_t count)
{
	collector->collection.others += count;
}

void prof_collector_clear(struct prof_collector *collector, uint32_t flavors)
{
	__collection_clear(&collector->collection, flavors);
}

/* ---------------- Requests ---------------- */

static void set_counting(uint32_t bit, bool is_on)
{
	if (is_on)
		__atomic_or_fetch(&__mcount_is_on, bit, __ATOMIC_RELEASE);
	else
		__atomic_and_fetch(&__mcount_is_on, ~bit, __ATOMIC_RELEASE);
}

void __collector_count_calls(const struct prof_collector *collector, bool is_on)
{
	if (collector->target.counts_calls)
		set_counting(ARCS_IN_TABLE, is_on);
}

/* What the kernel is asked for; it says what it gives with the first samples. */
static uint32_t wanted_rate(const struct prof_collector *collector, uint32_t flavors)
{
	if ((flavors & SAMPLED_PC_PERIODIC) == 0)
		return 0;
	return collector->chosen.rate != 0 ? collector->chosen.rate : SAMPLE_RATE_DEFAULT;
}

/* Whether what was collected may be added to: each sample of it is worth the same. */
static bool may_resume(const struct prof_collector *collector, uint32_t flavors)
{
	return collector->chosen.resume != 0 && collector->collection.flavors == flavors &&
	       collector->collection.rate == wanted_rate(collector, flavors);
}

static void forget_collected(struct prof_collector *collector, uint32_t flavors)
{
	__collection_clear(&collector->collection, flavors);
	collector->collection.rate = wanted_rate(collector, flavors);
	if (collector->target.counts_calls)
		__arcs_clear();
}

/* Where nothing can be sampled any more, what was collected stays, lest it be in no file. */
static kern_return_t begin(struct prof_collector *collector, uint32_t flavors)
{
	kern_return_t result;

	if (collector->target_ended)
		return GPROF_ENDED;
	collector->chosen = collector->options;
	result = begin_stream(collector, flavors);
	if (result == GPROF_ENDED)
		return result;
	if (may_resume(collector, flavors))
		__collection_next_stream(&collector->collection);
	else
		forget_collected(collector, flavors);
	collector->beginnings++;
	__collector_count_calls(collector, true);
	return result;
}

kern_return_t prof_collector_switch(struct prof_collector *collector, uint32_t *flavors)
{
	uint32_t wanted = *flavors, before = collector->flavors, known = SAMPLED_PC_ALL;

	/* A wait has a length, which only whoever reads the records has a use for. */
	if (collector->target.watch != NULL)
		known |= SAMPLED_PC_WAIT;
	if ((wanted & ~known) != 0)
		return GPROF_BAD_FLAVOR;
	__collector_count_calls(collector, false);
	if (before != 0)
		__collector_end_stream(collector);
	*flavors = before;
	if (wanted == 0)
		return KERN_SUCCESS;
	return begin(collector, wanted);
}

kern_return_t prof_collector_options(struct prof_collector *collector,
				     const gprof_options_t *options)
{
	const uint32_t flags = SAMPLE_FIXED | SAMPLE_STACK | SAMPLE_NMI | SAMPLE_CLIENTS;

	if ((options->flags & ~flags) != 0 || options->rate > SAMPLE_RATE_MAX ||
	    options->depth > SAMPLE_DEPTH_MAX || options->format > GPROF_BSD)
		return GPROF_BAD_OPTIONS;
	collector->options = *options;
	if (collector->target.counts_calls)
		set_counting(ARCS_BY_LABEL, options->by_label != 0);
	return KERN_SUCCESS;
}

static void put_u64(unsigned words[2], uint64_t number)
{
	words[0] = (unsigned)number;
	words[1] = (unsigned)(number >> 32);
}

static void put_clock(struct gprof_clock *clock, struct clock_counts counts)
{
	put_u64(clock->due, counts.due);
	put_u64(clock->fired, counts.fired);
	put_u64(clock->missed, counts.missed);
	put_u64(clock->parked, counts.parked);
	put_u64(clock->idle, counts.idle);
	put_u64(clock->elsewhere, counts.elsewhere);
	put_u64(clock->taken, counts.taken);
}

void prof_collector_status(struct prof_collector *collector, gprof_status_t *status)
{
	const struct collection *collection = &collector->collection;
	struct stream_counts counts;
	struct clock_counts clocks;

	bring_all(collector);
	counts = __collection_counts(collection);
	clocks = __collection_clocks(collection);
	*status = (gprof_status_t){
		.pid = collection->pid,
		.flavors = collector->flavors,
		.rate = collection->rate,
		.proxy = collector->target.proxy,
		.arcs = collector->target.counts_calls,
		.low = collection->low,
		.high = collection->high,
		.task = collection->task,
		.options = collector->options,
		.cpus = collection->cpus,
		.in_turn = collection->cpus_in_turn,
	};
	put_u64(status->taken, counts.taken);
	put_u64(status->delivered, counts.delivered);
	put_u64(status->lost, counts.lost);
	put_u64(status->buffered, counts.buffered);
	put_u64(status->due, clocks.due);
	put_u64(status->fired, clocks.fired);
	put_u64(status->missed, clocks.missed);
	for (uint32_t cpu = 0; cpu < GPROF_CPUS; cpu++)
		put_clock(&status->clocks[cpu], __collection_clock(collection, cpu));
}

kern_return_t prof_collector_dump(struct prof_collector *collector, char **data, size_t *size)
{
	size_t room, kept;

	bring_all(collector);
	*data = __gmon_make(&collector->collection, collector->target.counts_calls,
			    collector->options.format, size, &room);
	if (*data == NULL)
		return GPROF_NO_MEMORY;
	/* As many pages as its size says: whoever gets it gives no more back. */
	kept = (*size + PROF_PAGE - 1) & ~(size_t)(PROF_PAGE - 1);
	if (room > kept)
		__prof_pages_free(*data + kept, room - kept);
	return KERN_SUCCESS;
}
