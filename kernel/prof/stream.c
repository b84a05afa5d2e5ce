/* SPDX-License-Identifier: MIT */
/*
 * Streams: what happens to a sample once it is taken, and to a stream from its beginning to its
 * end.  See stream.h and stream_internal.h.  Guarded by the kernel lock.
 */
#include "prof/job.h"
#include "prof/stream_internal.h"
#include "prof/waits.h"

#include <stddef.h>

#include "base/clock.h"
#include "base/lock.h"
#include "base/owner.h"
#include "base/string.h"
#include "base/zone.h"
#include "ipc/port.h"
#include "task/task.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "vm/page/kernel_memory.h"

struct list all_streams = LIST_INITIALIZER(all_streams);

#define RING_PART_SIZE (RING_PART_SAMPLES * sizeof(sampled_pc_t))

#define STREAM_PRICE (sizeof(struct stream) + STREAM_BUFFERS * BUFFER_PAGES * PAGE_SIZE)

uint32_t stream_event_takers;

static uint32_t n_streams;
static struct zone stream_zone;

void stream_module_init(void)
{
	zone_init(&stream_zone, "streams", sizeof(struct stream), 8);
	owner_set_price(OWNER_STREAMS, STREAM_PRICE);
}

static void stream_check(const struct stream *stream)
{
	assert(kernel_locked());
	assert(stream->magic == STREAM_MAGIC);
}

static bool stream_takes_events(const struct stream *stream)
{
	return (stream->flavors & ~(uint32_t)(SAMPLED_PC_PERIODIC | SAMPLED_PC_WAIT)) != 0;
}

/* ---------------- Taking samples ---------------- */

static void stream_put_ring(struct pc_ring *ring, const struct prof_sample *sample)
{
	ring->seqno++;
	*ring_place(ring, ring->seqno) = (sampled_pc_t){
		.id = sample->thread,
		.pc = sample->pc,
		.sampletype = sample->flavor,
	};
}

static void stream_open_buffer(struct stream *stream)
{
	stream->current = NULL;
	if (!list_empty(&stream->spare))
		stream->current = list_object(list_take_first(&stream->spare), struct buffer, link);
}

/* While the clock runs there may be samples in the CPUs' rings, of which nothing is known here. */
static void stream_restart_age(struct stream *stream)
{
	timer_cancel(&stream->age);
	if (stream->clock_runs && !stream->has_ring)
		timer_set(&stream->age, tick_after_ms(stream->age_ms));
}

void stream_close_buffer(struct stream *stream)
{
	stream_restart_age(stream);
	stream->aged = false;
	list_add_last(&stream->full, &stream->current->link);
	stream_open_buffer(stream);
}

/* The current buffer, if it has room for so many words or another one has; else NULL. */
static struct buffer *stream_buffer_with_room(struct stream *stream, uint32_t words)
{
	if (stream->current == NULL)
		return NULL;
	if (stream->current->words + words <= stream->room)
		return stream->current;
	stream_close_buffer(stream);
	delivery_wake_soon();
	return stream->current;
}

/* The samples lie one behind the other in so many words; the buffer that has them now, or NULL. */
static struct buffer *stream_buffer_put(struct stream *stream, const struct prof_record *first,
					uint32_t words, uint32_t samples)
{
	struct buffer *buffer = stream_buffer_with_room(stream, words);

	if (buffer == NULL) {
		stream->lost += samples;
		return NULL;
	}
	if (buffer->samples == 0 && !timer_is_set(&stream->age))
		timer_set(&stream->age, tick_after_ms(stream->age_ms));
	buffer_append(buffer, first, words);
	buffer->samples += samples;
	stream->buffered += samples;
	return buffer;
}

uint32_t stream_room(const struct stream *stream)
{
	return stream->current == NULL ? 0 : stream->room - stream->current->words;
}

static void stream_put(struct stream *stream, const struct prof_sample *first, uint32_t words,
		       uint32_t samples)
{
	if (stream->has_ring)
		stream_put_ring(&stream->ring, first);
	else
		stream_buffer_put(stream, &first->record, words, samples);
}

void stream_take(struct stream *stream, const struct prof_sample *first, uint32_t words,
		 uint32_t samples)
{
	stream_check(stream);
	stream->clock_handed += samples;
	stream_put(stream, first, words, samples);
}

void stream_take_event(struct stream *stream, const struct prof_sample *sample)
{
	stream_check(stream);
	stream->events_taken++;
	stream_put(stream, sample, sample->record.words, 1);
}

void stream_take_wait(struct stream *stream, const struct prof_wait *wait, uint64_t length)
{
	struct buffer *buffer;

	stream_check(stream);
	stream->events_taken++;
	stream->waits.taken += length;
	buffer = stream_buffer_put(stream, &wait->record, wait->record.words, 1);
	if (buffer == NULL) {
		stream->waits.lost += length;
	} else {
		stream->waits.buffered += length;
		buffer->waited += length;
	}
}

void stream_collect(const struct stream *stream)
{
	if (stream->clock_runs)
		sampler_work_all();
}

/* A sample has become too old to be kept. */
static void stream_grow_old(struct timer *timer)
{
	struct stream *stream = list_object(timer, struct stream, age);

	stream_check(stream);
	stream_collect(stream);
	if (stream->current == NULL || stream->current->samples == 0) {
		stream_restart_age(stream);
		return;
	}
	stream->aged = true;
	delivery_wake();
}

bool stream_supply(struct stream *stream)
{
	while (!list_empty(&stream->empty)) {
		struct buffer *buffer = list_first_object(&stream->empty, struct buffer, link);

		if (!buffer_fill_up(buffer))
			break;
		list_remove(&buffer->link);
		list_add_last(&stream->spare, &buffer->link);
	}
	if (stream->current == NULL)
		stream_open_buffer(stream);
	return list_empty(&stream->empty);
}

/* ---------------- Beginning ---------------- */

/* Takes a slot of the sampling clock, if the stream needs one; false: there is none. */
static bool stream_begin_clock(struct stream *stream)
{
	if ((stream->flavors & SAMPLED_PC_PERIODIC) == 0)
		return true;
	stream->slot =
		sampler_begin(stream, stream->target, stream->rate, stream->options, stream->depth);
	stream->clock_runs = stream->slot != SAMPLER_NO_SLOT;
	return stream->clock_runs;
}

void stream_stop_clock(struct stream *stream)
{
	if (stream->clock_runs)
		sampler_end(stream->slot);
	stream->clock_runs = false;
}

static void stream_drop_clock(struct stream *stream)
{
	stream_stop_clock(stream);
	if (stream->slot != SAMPLER_NO_SLOT)
		sampler_free(stream->slot);
	stream->slot = SAMPLER_NO_SLOT;
}

static void stream_set_wish(struct stream *stream, const struct stream_wish *wish)
{
	const sample_options_t *options = &wish->options;

	stream->target = wish->target;
	stream->flavors = wish->flavors;
	stream->rate = sampler_rate(wish->rate);
	stream->options = options->flags;
	if ((options->flags & SAMPLE_STACK) != 0)
		stream->depth = options->depth != 0 ? options->depth : SAMPLE_DEPTH_MAX;
	stream->age_ms = options->age_ms != 0 ? options->age_ms : SAMPLE_AGE_DEFAULT;
	stream->simple = wish->simple;
}

struct stream_counts {
	uint32_t all;    /* Streams, */
	uint32_t clocks; /* those of the clock, */
	uint32_t jobs;   /* and those of jobs. */
};

static void stream_count(struct stream_counts *counts, const struct stream *stream)
{
	counts->all++;
	counts->clocks += stream->clock_runs;
	counts->jobs += stream->target.job != 0;
}

/* Whether both are begun on behalf of one task, or for one user; the system is none. */
static bool stream_has_same_user(const struct stream *stream, const struct stream *other)
{
	return other->label == stream->label ||
	       (stream->payer != &owner_system && other->payer == stream->payer);
}

/*
 * Whether one task or user, or all, have too many with this one, which is not counted yet as what
 * it is to be.  The last are for the host's port, and the last of the others for the system.
 */
static bool stream_exceeds_share(const struct stream *stream)
{
	uint32_t last = stream->payer == &owner_system ? 0 : 1;
	struct stream_counts own = {0}, all = {0};

	if (stream->target.kind == PROF_TARGET_HOST || stream->target.kind == PROF_TARGET_LABEL)
		return false;
	list_for_each_object (struct stream, other, &all_streams, link) {
		stream_count(&all, other);
		if (stream_has_same_user(stream, other))
			stream_count(&own, other);
	}
	if ((stream->flavors & SAMPLED_PC_PERIODIC) != 0 &&
	    (own.clocks >= SAMPLE_CLOCKS_SHARE || all.clocks + last >= SAMPLE_CLOCKS_TASKS))
		return true;
	if (stream->target.kind == PROF_TARGET_JOB &&
	    (own.jobs >= STREAMS_JOBS || all.jobs + last >= JOBS_MAX))
		return true;
	return own.all > STREAMS_SHARE || all.all + last > STREAMS_TASKS;
}

/* A stream without anything yet; NULL when there is no memory or the payer may not have it. */
static struct stream *stream_alloc(const struct stream_wish *wish)
{
	struct owner *payer = task_payer();
	struct stream *stream;

	if (n_streams == STREAMS_MAX || !owner_charge(payer, OWNER_STREAMS, 1))
		return NULL;
	stream = zone_alloc(&stream_zone);
	if (stream == NULL) {
		owner_uncharge(payer, OWNER_STREAMS, 1);
		return NULL;
	}
	memset(stream, 0, offsetof(struct stream, buffers));
	stream->magic = STREAM_MAGIC;
	stream->payer = payer;
	stream->slot = SAMPLER_NO_SLOT;
	stream->label = current_thread()->label;
	stream->begin_time = clock_now();
	stream_set_wish(stream, wish);
	stream->room = BUFFER_WORDS - trailer_words(stream, true);
	list_init(&stream->full);
	list_init(&stream->spare);
	list_init(&stream->empty);
	timer_init(&stream->age, stream_grow_old);
	list_add_last(&all_streams, &stream->link);
	n_streams++;
	stream_event_takers += stream_takes_events(stream);
	waits_streams += stream_wants_waits(stream);
	return stream;
}

static bool stream_get_ring(struct stream *stream)
{
	stream->has_ring = true;
	for (unsigned n = 0; n < RING_PARTS; n++) {
		stream->ring.parts[n] = kernel_memory_alloc(RING_PART_SIZE);
		if (stream->ring.parts[n] == NULL)
			return false;
	}
	return true;
}

static void stream_drop_ring(struct stream *stream)
{
	for (unsigned n = 0; n < RING_PARTS; n++)
		if (stream->ring.parts[n] != NULL)
			kernel_memory_free(stream->ring.parts[n], RING_PART_SIZE);
}

/* Whether it has now what its samples go to. */
static bool stream_get_sink(struct stream *stream, struct port *reply)
{
	if (reply == PORT_NULL)
		return stream_get_ring(stream);
	for (unsigned n = 0; n < STREAM_BUFFERS; n++) {
		buffer_init(&stream->buffers[n]);
		list_add_last(&stream->empty, &stream->buffers[n].link);
	}
	if (!stream_supply(stream))
		return false;
	record_begin(stream, stream->current);
	return true;
}

kern_return_t stream_begin(const struct stream_wish *wish, struct port *reply)
{
	struct stream *stream;

	assert(kernel_locked());
	if (reply != PORT_NULL &&
	    (!port_is_alive(reply) || reply->kind != OBJECT_NONE || reply->stream != NULL))
		return KERN_INVALID_ARGUMENT;
	stream = stream_alloc(wish);
	if (stream == NULL)
		return KERN_RESOURCE_SHORTAGE;
	if (!stream_get_sink(stream, reply) || stream_exceeds_share(stream) ||
	    !job_begin(&stream->target) || !stream_begin_clock(stream)) {
		stream_destroy(stream);
		return KERN_RESOURCE_SHORTAGE;
	}
	if (reply != PORT_NULL) {
		stream->port = reply;
		reply->stream = stream;
	}
	if (stream_wants_waits(stream))
		waits_watch_all(stream->begin_time);
	stream_restart_age(stream);
	return KERN_SUCCESS;
}

kern_return_t stream_set_flavors(struct stream *stream, uint32_t flavors)
{
	bool had_clock = stream->clock_runs;
	uint32_t old = stream->flavors;

	stream_check(stream);
	stream_event_takers -= stream_takes_events(stream);
	stream->flavors = flavors;
	if (!had_clock && (stream_exceeds_share(stream) || !stream_begin_clock(stream)))
		stream->flavors = old;
	stream_event_takers += stream_takes_events(stream);
	if (had_clock && (stream->flavors & SAMPLED_PC_PERIODIC) == 0)
		stream_drop_clock(stream);
	return stream->flavors == flavors ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

kern_return_t stream_flush(struct stream *stream, uint64_t *delivered)
{
	const struct buffer *current;

	stream_check(stream);
	stream_collect(stream);
	current = stream->current;
	if (list_empty(&stream->full) && current == NULL)
		return KERN_RESOURCE_SHORTAGE;
	if (list_empty(&stream->full) || (current != NULL && current->samples > 0))
		stream_close_buffer(stream);
	*delivered = stream->delivered + stream->buffered;
	return KERN_SUCCESS;
}

/* ---------------- Ending ---------------- */

static void stream_drop_sink(struct stream *stream)
{
	struct port *port = stream->port;

	if (stream->has_ring) {
		stream_drop_ring(stream);
		return;
	}
	for (unsigned n = 0; n < STREAM_BUFFERS; n++)
		buffer_destroy(&stream->buffers[n]);
	if (port == PORT_NULL)
		return;
	assert(port->stream == stream);
	port->stream = NULL;
	stream->port = PORT_NULL;
	port_release_send(port);
}

/* A stream that takes no more, or is on no list any more, leaves those that are told of events. */
static void stream_leave_events(const struct stream *stream)
{
	stream_event_takers -= stream_takes_events(stream);
	if (stream_wants_waits(stream)) {
		waits_streams--;
		waits_watch_all(clock_now());
	}
}

void stream_destroy(struct stream *stream)
{
	stream_check(stream);
	stream_drop_clock(stream);
	timer_cancel(&stream->age);
	list_remove(&stream->link);
	n_streams--;
	if (stream->end == 0)
		stream_leave_events(stream);
	job_end(&stream->target);
	stream_drop_sink(stream);
	owner_uncharge(stream->payer, OWNER_STREAMS, 1);
	stream->magic = 0;
	zone_free(&stream_zone, stream);
}

void stream_receiver_died(struct stream *stream)
{
	stream_destroy(stream);
}

void stream_end(struct stream *stream, enum prof_end_reason reason)
{
	stream_check(stream);
	if (stream->has_ring) {
		stream_destroy(stream);
		return;
	}
	if (stream->end != 0)
		return;
	stream_stop_clock(stream);
	stream->end_time = clock_now();
	if (stream_wants_waits(stream))
		waits_take_open(stream);
	stream->end = (uint8_t)reason;
	stream_leave_events(stream);
	job_end(&stream->target);
}

/* The target's streams end, and those of jobs in these bits: no task has them any more. */
static void stream_target_ended(enum prof_target kind, uint32_t id, uint32_t jobs)
{
	list_for_each_object_removable (struct stream, stream, after, &all_streams, link) {
		const struct sampler_target *target = &stream->target;

		if ((target->kind == kind && target->id == id) || (target->job & jobs) != 0) {
			stream_end(stream, PROF_END_TARGET);
			delivery_wake();
		}
	}
}

void stream_task_ended(struct task *task)
{
	stream_target_ended(PROF_TARGET_TASK, task->id, 0);
	stream_target_ended(PROF_TARGET_LABEL, task->id, task->jobs != 0 ? job_leave(task) : 0);
}

void stream_thread_ended(const struct thread *thread)
{
	stream_target_ended(PROF_TARGET_THREAD, thread->id, 0);
}

struct stream *stream_with_ring(struct sampler_target target)
{
	list_for_each_object (struct stream, stream, &all_streams, link) {
		if (stream->has_ring && stream->target.kind == target.kind &&
		    stream->target.id == target.id)
			return stream;
	}
	return NULL;
}
