/* SPDX-License-Identifier: MIT */
/*
 * The collector: see collector.h.
 *
 * Samples and requests come to ports of one set, from which its thread receives: so nothing here is
 * guarded.  What has been taken reaches the collection when the kernel sends it; to have all of it,
 * the stream is flushed, and goes on.
 */
#include "collector.h"

#include <mach.h>
#include <mach/prof.h>
#include <servers/gprof_server.h>

#include "arcs.h"
#include "collection.h"
#include "gmon_file.h"
#include "message.h"
#include "pages.h"
#include "ports.h"
#include "prof_thread.h"

#define MESSAGE_MAX 1024u  /* No request or answer is as long. */
#define STACK_SIZE  65536u /* Of its thread. */
#define END_WAIT_MS 10000u /* An end comes at once; without a kernel that sends it, none comes. */

boolean_t gprof_server(mach_msg_header_t *request, mach_msg_header_t *reply);

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[MESSAGE_MAX];
};

_Static_assert(sizeof(gprof_status_t) + 128 < MESSAGE_MAX, "the longest answer");

static struct {
	struct collector_target target;
	mach_port_t set;
	mach_port_t samples;     /* Where the kernel sends them. */
	mach_port_t control;     /* Where requests come, */
	mach_port_t known;       /* and where everybody's come: perhaps the same. */
	gprof_options_t options; /* For the next beginning, */
	gprof_options_t chosen;  /* and those that the last one was with. */
	uint32_t flavors;        /* Of the stream under way; 0: none is. */
	uint32_t beginnings;
	bool target_died;  /* Its task is gone, */
	bool target_ended; /* and all its samples have come. */
	struct collection collection;
	void *stack; /* Of its own thread, if it has one. */
} collector;

/* ---------------- Streams ---------------- */

static void note_end(void)
{
	collector.target_ended = true;
	collector.flavors = 0;
}

static void take_samples(mach_msg_header_t *message)
{
	size_t count = 0;
	const uint32_t *words = __message_samples(message, &count);

	if (words != NULL) {
		if (collector.target.watch != NULL)
			collector.target.watch(words, count);
		__collection_add(&collector.collection, words, count);
	}
	mach_msg_destroy(message);
	if (collector.collection.is_over && collector.collection.end == PROF_END_TARGET)
		note_end();
}

/* What came to the port of the samples. */
static void take(mach_msg_header_t *message)
{
	if (message->msgh_id != MACH_NOTIFY_DEAD_NAME) {
		take_samples(message);
		return;
	}
	collector.target_died = true;
	mach_msg_destroy(message);
}

static kern_return_t start(uint32_t flavors, uint32_t rate, sample_options_t options)
{
	const struct collector_target *target = &collector.target;

	return target->begin != NULL
		       ? target->begin(flavors, rate, options, collector.samples)
		       : task_sample_start(target->task, flavors, rate, options, collector.samples);
}

/* By whose right a stream is stopped: of a job the receiver's, as its own task may be over. */
static mach_port_t speaker(const struct collector_target *target)
{
	return target->with_children ? mach_task_self_cached() : target->task;
}

static kern_return_t stop(void)
{
	const struct collector_target *target = &collector.target;

	return target->end != NULL ? target->end(collector.samples)
				   : task_sample_stop(speaker(target), collector.samples);
}

static kern_return_t flush(uint64_t *delivered)
{
	const struct collector_target *target = &collector.target;

	return target->begin != NULL
		       ? target->flush(collector.samples, delivered)
		       : task_sample_flush(speaker(target), collector.samples, delivered);
}

static kern_return_t begin_stream(uint32_t flavors)
{
	const gprof_options_t *chosen = &collector.chosen;
	sample_options_t options = {
		.flags = chosen->flags, .age_ms = chosen->age_ms, .depth = chosen->depth};
	kern_return_t result;

	if (collector.target.with_children)
		options.flags |= SAMPLE_CHILDREN;
	result = start(flavors, chosen->rate, options);
	if (result == KERN_RESOURCE_SHORTAGE)
		return GPROF_NO_SAMPLING;
	if (result != KERN_SUCCESS)
		return collector.target.proxy != 0 ? GPROF_ENDED : GPROF_NO_SAMPLING;
	collector.flavors = flavors;
	return KERN_SUCCESS;
}

/*
 * Receives a message, and more until so many samples of the stream are there, or its end.  Requests
 * wait meanwhile: the port is taken out of the set, as nobody can receive from a port that is in
 * one.
 */
static void await(uint64_t delivered, mach_msg_timeout_t timeout_ms)
{
	const struct collection *collection = &collector.collection;
	mach_port_t self = mach_task_self_cached();
	union buffer message;
	bool is_enough = false;

	if (mach_port_move_member(self, collector.samples, MACH_PORT_NULL) != KERN_SUCCESS)
		return;
	while (!collection->is_over && !is_enough &&
	       mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof message,
			collector.samples, timeout_ms, MACH_PORT_NULL) == MACH_MSG_SUCCESS) {
		take(&message.head);
		is_enough = collection->stream.delivered >= delivered;
	}
	mach_port_move_member(self, collector.samples, collector.set);
}

static void await_end(mach_msg_timeout_t timeout_ms)
{
	await(UINT64_MAX, timeout_ms);
	if (collector.target_died)
		note_end();
}

/* If it cannot be stopped, it has ended with its target: the end comes, too, or has come. */
static void end_stream(void)
{
	stop();
	await_end(END_WAIT_MS);
	collector.flavors = 0;
}

/* The task's own stream ends with it; another one is not of the task alone, and goes on. */
static void end_with_target(void)
{
	if (collector.flavors != 0 && collector.target.begin != NULL)
		end_stream();
	else
		await_end(collector.flavors != 0 ? END_WAIT_MS : 0);
}

/*
 * Brings all that was taken up to now.  Without the memory that it takes to send it, there is what
 * has come already.  A stream that cannot be flushed otherwise has ended with its target.
 */
static void bring_all(void)
{
	uint64_t delivered = 0;
	kern_return_t result;

	if (collector.flavors == 0)
		return;
	result = flush(&delivered);
	if (result == KERN_RESOURCE_SHORTAGE)
		return;
	if (result == KERN_SUCCESS)
		await(delivered, END_WAIT_MS);
	if (result != KERN_SUCCESS || collector.target_died)
		end_with_target();
}

/* ---------------- Requests ---------------- */

static void count_calls(bool is_on)
{
	if (!collector.target.counts_calls)
		return;
	__atomic_store_n(&__mcount_is_on, is_on, __ATOMIC_RELEASE);
}

/* What the kernel is asked for; it says what it gives with the first samples. */
static uint32_t wanted_rate(uint32_t flavors)
{
	if ((flavors & SAMPLED_PC_PERIODIC) == 0)
		return 0;
	return collector.chosen.rate != 0 ? collector.chosen.rate : SAMPLE_RATE_DEFAULT;
}

/* Whether what was collected may be added to: each sample of it is worth the same. */
static bool may_resume(uint32_t flavors)
{
	return collector.chosen.resume != 0 && collector.collection.flavors == flavors &&
	       collector.collection.rate == wanted_rate(flavors);
}

static void forget_collected(uint32_t flavors)
{
	__collection_clear(&collector.collection, flavors);
	collector.collection.rate = wanted_rate(flavors);
	if (collector.target.counts_calls)
		__arcs_clear();
}

/* Where nothing can be sampled any more, what was collected stays, lest it be in no file. */
static kern_return_t begin(uint32_t flavors)
{
	kern_return_t result;

	if (collector.target_ended)
		return GPROF_ENDED;
	collector.chosen = collector.options;
	result = begin_stream(flavors);
	if (result == GPROF_ENDED)
		return result;
	if (may_resume(flavors))
		__collection_next_stream(&collector.collection);
	else
		forget_collected(flavors);
	collector.beginnings++;
	count_calls(true);
	return result;
}

kern_return_t __collector_switch(uint32_t *flavors)
{
	uint32_t wanted = *flavors, before = collector.flavors;

	if ((wanted & ~(uint32_t)SAMPLED_PC_ALL) != 0)
		return GPROF_BAD_FLAVOR;
	count_calls(false);
	if (before != 0)
		end_stream();
	*flavors = before;
	if (wanted == 0)
		return KERN_SUCCESS;
	return begin(wanted);
}

kern_return_t __collector_options(const gprof_options_t *options)
{
	const uint32_t flags = SAMPLE_FIXED | SAMPLE_STACK | SAMPLE_NMI;

	if ((options->flags & ~flags) != 0 || options->rate > SAMPLE_RATE_MAX ||
	    options->depth > SAMPLE_DEPTH_MAX || options->format > GPROF_BSD)
		return GPROF_BAD_OPTIONS;
	collector.options = *options;
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

void __collector_status(gprof_status_t *status)
{
	const struct collection *collection = &collector.collection;
	struct stream_counts counts;
	struct clock_counts clocks;

	bring_all();
	counts = __collection_counts(collection);
	clocks = __collection_clocks(collection);
	*status = (gprof_status_t){
		.pid = collection->pid,
		.flavors = collector.flavors,
		.rate = collection->rate,
		.proxy = collector.target.proxy,
		.arcs = collector.target.counts_calls,
		.low = collection->low,
		.high = collection->high,
		.task = collection->task,
		.options = collector.options,
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

kern_return_t __collector_dump(char **data, size_t *size)
{
	size_t room, kept;

	bring_all();
	*data = __gmon_make(&collector.collection, collector.target.counts_calls,
			    collector.options.format, size, &room);
	if (*data == NULL)
		return GPROF_NO_MEMORY;
	/* As many pages as its size says: whoever gets it gives no more back. */
	kept = (*size + PROF_PAGE - 1) & ~(size_t)(PROF_PAGE - 1);
	if (room > kept)
		__prof_pages_free(*data + kept, room - kept);
	return KERN_SUCCESS;
}

/* ---------------- Serving ---------------- */

static void handle(union buffer *message)
{
	mach_port_t port = message->head.msgh_local_port;
	union buffer reply;

	if (port == collector.samples) {
		take(&message->head);
		if (collector.target_died && !collector.target_ended)
			end_with_target();
	} else if (port == collector.control || port == collector.known) {
		gprof_server(&message->head, &reply.head);
		message->head.msgh_remote_port = MACH_PORT_NULL; /* It is the answer's now. */
		mach_msg_destroy(&message->head);
		__message_answer(&reply.reply);
	} else if (collector.target.other != NULL) {
		collector.target.other(&message->head);
	}
}

/* A message that could not be received whole is one less; its sender knows. */
kern_return_t __collector_serve(mach_msg_timeout_t timeout_ms)
{
	mach_msg_option_t option = MACH_RCV_MSG;
	union buffer message;
	mach_msg_return_t result;

	if (timeout_ms != MACH_MSG_TIMEOUT_NONE)
		option |= MACH_RCV_TIMEOUT;
	result = mach_msg(&message.head, option, 0, sizeof message, collector.set, timeout_ms,
			  MACH_PORT_NULL);
	switch (result & ~MACH_MSG_MASK) {
	case MACH_MSG_SUCCESS:
		handle(&message);
		return KERN_SUCCESS;
	case MACH_RCV_BODY_ERROR:
		mach_msg_destroy(&message.head);
		return KERN_SUCCESS;
	case MACH_RCV_HEADER_ERROR:
	case MACH_RCV_TOO_LARGE:
		return KERN_SUCCESS;
	default:
		return result;
	}
}

/* ---------------- Its own thread ---------------- */

static _Noreturn void run(void)
{
	while (__collector_serve(MACH_MSG_TIMEOUT_NONE) == KERN_SUCCESS)
		continue;
	thread_terminate(mach_thread_self()); /* Its ports are gone. */
	__builtin_trap();
}

kern_return_t __collector_run(void)
{
	collector.stack = __prof_pages(STACK_SIZE);
	if (collector.stack == NULL)
		return KERN_RESOURCE_SHORTAGE;
	return __prof_thread_start(run, (char *)collector.stack + STACK_SIZE,
				   &collector.collection.own_thread);
}

/* ---------------- Its ports ---------------- */

kern_return_t __collector_prepare(const struct collector_target *target)
{
	kern_return_t result;

	collector.target = *target;
	collector.collection = (struct collection){.low = target->low,
						   .high = target->high,
						   .pid = target->pid,
						   .name = target->name,
						   .task = __prof_task_number(target->task),
						   .of_kernel = target->of_kernel,
						   .runs_here = target->runs_here,
						   .only_task = target->only_task};
	if (target->program != NULL)
		collector.collection.program = *target->program;
	collector.collection.has_program =
		target->program != NULL ? target->program->high > 0
					: gmon_program_read(&collector.collection.program,
							    target->image, target->image_size);
	result = mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_PORT_SET,
				    &collector.set);
	if (result == KERN_SUCCESS)
		result = __prof_port_member(&collector.samples, collector.set);
	if (result == KERN_SUCCESS)
		result = __prof_port_member(&collector.control, collector.set);
	collector.known = collector.control;
	if (result == KERN_SUCCESS && target->owner_only)
		result = __prof_port_member(&collector.known, collector.set);
	if (result == KERN_SUCCESS && target->proxy != 0 && target->task != MACH_PORT_NULL &&
	    !target->with_children)
		result = __prof_port_watch(target->task, collector.samples);
	return result;
}

mach_port_t __collector_public_port(void)
{
	return collector.known;
}

mach_port_t __collector_port(void)
{
	return collector.control;
}

mach_port_t __collector_set(void)
{
	return collector.set;
}

uint32_t __collector_beginnings(void)
{
	return collector.beginnings;
}

bool __collector_target_ended(void)
{
	return collector.target_ended;
}

/* Takes the same time for every wrong token.  No token at all is nobody's. */
bool __collector_admits(const char *token)
{
	const char *ours = collector.target.token;
	unsigned different = 0;

	if (!collector.target.owner_only)
		return true;
	if (ours[0] == '\0')
		return false;
	for (size_t n = 0; n < sizeof collector.target.token; n++) {
		different |= (unsigned)(token[n] ^ ours[n]);
		if (ours[n] == '\0')
			break; /* What is behind the string is anything. */
	}
	return different == 0;
}

uint32_t __collector_forget(gprof_options_t *options)
{
	uint32_t flavors = collector.flavors;

	*options = flavors != 0 ? collector.chosen : collector.options;
	options->format = collector.options.format;
	__collection_clear(&collector.collection, 0);
	if (collector.stack != NULL)
		__prof_pages_free(collector.stack, STACK_SIZE);
	__builtin_memset(&collector, 0, sizeof collector);
	__atomic_store_n(&__mcount_is_on, 0, __ATOMIC_RELEASE);
	__arcs_clear();
	return flavors;
}
