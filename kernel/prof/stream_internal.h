/* SPDX-License-Identifier: MIT */
/*
 * How a stream is made: for the files of kernel/prof only.
 *
 *            capture                     delivery
 *   stream.c: stream_take(),    delivery.c: a thread that sends
 *             stream_event()                buffers that are due
 *                  |                              ^
 *                  v      full, aged, ended       |
 *               current ----------------------> full ---> (empty) ---> spare ---> current
 *
 * A stream that was begun by task_sample() and its like has a reply port and buffers; one begun by
 * task_enable_pc_sampling() (pc_sampling.c) has a ring instead.  Guarded by the kernel lock.
 */
#ifndef PROF_STREAM_INTERNAL_H
#define PROF_STREAM_INTERNAL_H

#include "prof/stream.h"

#include <mach/kern_return.h>

#include <assay/list.h>
#include "base/timer.h"
#include "prof/buffer.h"
#include "prof/sampler.h"

struct owner;
struct port;

/*
 * Streams that there can be at a time, as each event is looked at by all.  The last of whatever
 * there is are not for everybody: see stream_exceeds_share().
 */
#define STREAMS_MAX   64u
#define STREAMS_TASKS 60u /* Of these, those that are of tasks and threads, */
#define STREAMS_SHARE 48u /* and those that are begun on behalf of one task, or for one user. */
#define STREAMS_JOBS  24u /* Of the 32 of jobs, those of one task, or of one user. */

/* A stream's buffers: one is being filled, the others wait for a receiver that is late. */
#define STREAM_BUFFERS 4u

#define STREAM_MAGIC 0x5354524du

/* The last samples, to be fetched; in parts, since memory of less than a page is cheap. */
#define RING_PARTS        2u
#define RING_PART_SAMPLES (MAX_PC_SAMPLES / RING_PARTS)

struct pc_ring {
	uint32_t seqno; /* Of the last; its place is seqno % MAX_PC_SAMPLES. */
	sampled_pc_t *parts[RING_PARTS];
};

static inline sampled_pc_t *ring_place(const struct pc_ring *ring, uint32_t seqno)
{
	uint32_t n = seqno % MAX_PC_SAMPLES;

	return &ring->parts[n / RING_PART_SAMPLES][n % RING_PART_SAMPLES];
}

/* How long the waits took together, in nanoseconds: struct prof_waits. */
struct stream_waits {
	uint64_t taken;
	uint64_t delivered;
	uint64_t lost;
	uint64_t buffered;
};

struct stream {
	uint32_t magic;
	struct list link; /* On the list of all streams. */
	struct sampler_target target;
	uint32_t flavors; /* SAMPLED_PC_* */
	uint32_t rate;    /* Hz, of the clock; it may be asked for later (stream_set_flavors()). */
	uint32_t options;
	uint32_t depth;      /* Of call stacks; 0: none. */
	uint32_t age_ms;     /* How old a sample may be before it is sent. */
	uint32_t slot;       /* Of the sampling clock, or SAMPLER_NO_SLOT; */
	bool clock_runs;     /* its counts stay when it has stopped. */
	uint32_t label;      /* Of the thread that began it: its messages carry it. */
	struct owner *payer; /* Who pays for it. */
	bool simple;         /* It was begun by task_sample() or thread_sample(). */
	uint8_t end;       /* enum prof_end_reason: why there are no more samples; 0: there are. */
	uint64_t end_time; /* And since when. */

	/* Each is counted where it happens. */
	uint64_t clock_handed; /* Samples of the clock that came here, */
	uint64_t events_taken; /* and of events. */
	uint64_t delivered;
	uint64_t lost;     /* For want of room in a buffer. */
	uint64_t buffered; /* In one. */

	uint64_t begin_time; /* Of waits the part from then on counts: */
	struct stream_waits waits;

	/* Either this */
	bool has_ring;
	struct pc_ring ring;

	/* or this. */
	struct port *port;      /* A send right to the reply port. */
	struct buffer *current; /* Where samples go; NULL: there is no room. */
	uint32_t room;          /* Words of a buffer before those at a message's end. */
	struct list full;       /* In their order. */
	struct list spare;      /* With pages, and empty. */
	struct list empty;      /* Without all of their pages. */
	struct timer age;       /* Set while the current buffer has samples. */
	bool aged;              /* The current buffer is to be sent. */
	bool starved; /* There was no memory to send, or for buffers: wait for the next try. */
	struct buffer buffers[STREAM_BUFFERS]; /* Last: not there for a stream with a ring. */
};

extern struct list all_streams;

/* What is to be sampled; of kind 0, which no stream has, where it has ended or there is none. */
struct sampler_target stream_target_of_task(const struct task *task);
struct sampler_target stream_target_of_thread(const struct thread *thread);

/* What a call asks for. */
struct stream_wish {
	struct sampler_target target;
	uint32_t flavors;
	uint32_t rate; /* 0: SAMPLE_RATE_DEFAULT */
	sample_options_t options;
	bool simple;
};

/*
 * A stream to `reply`, a send right that is taken on success, or with a ring if that is PORT_NULL.
 * KERN_INVALID_ARGUMENT if the port cannot have a stream, or has one; KERN_RESOURCE_SHORTAGE.
 */
kern_return_t stream_begin(const struct stream_wish *wish, struct port *reply);

/* Changes what the stream samples.  KERN_RESOURCE_SHORTAGE, and nothing has changed. */
kern_return_t stream_set_flavors(struct stream *stream, uint32_t flavors);

/* All samples of the clock that were taken so far are with the stream when this returns. */
void stream_collect(const struct stream *stream);

/* No more samples of the clock; all that there were are with the stream when this returns. */
void stream_stop_clock(struct stream *stream);

/* No more samples: what is left is to be sent, and then the end. */
void stream_end(struct stream *stream, enum prof_end_reason reason);

/*
 * All that was taken so far is due: when it has been sent, *delivered samples have been.
 * At least one message is, with or without samples.  KERN_RESOURCE_SHORTAGE: there are no buffers.
 */
kern_return_t stream_flush(struct stream *stream, uint64_t *delivered);

/* The stream and all it has go at once. */
void stream_destroy(struct stream *stream);

/* The stream with a ring of this target, or NULL. */
struct stream *stream_with_ring(struct sampler_target target);

/* As stream_take(), for one sample of an event, */
void stream_take_event(struct stream *stream, const struct prof_sample *sample);

/* and for a wait of so many nanoseconds, whose record has so many words; wakes nobody. */
void stream_take_wait(struct stream *stream, const struct prof_wait *wait, uint64_t length);

/* Whether what the thread does on behalf of `label` is for the stream. */
bool stream_is_of(const struct stream *stream, const struct thread *thread, uint32_t label);

static inline bool stream_wants_waits(const struct stream *stream)
{
	return (stream->flavors & SAMPLED_PC_WAIT) != 0;
}

/*
 * Streams that want waits are others than before: all threads that they may be of are watched, from
 * `now` on, and no others.
 */
void waits_watch_all(uint64_t now);

/* The stream, which wants waits, ends at its end_time: it takes those that are open. */
void waits_take_open(struct stream *stream);

/* Gets memory for buffers that lack it; says whether there was enough. */
bool stream_supply(struct stream *stream);

/* The current buffer becomes one of the full ones. */
void stream_close_buffer(struct stream *stream);

/* Tells the delivery thread that there is something to look at. */
void delivery_wake(void);

/* As delivery_wake(), with the next work of this CPU: for whoever must not wake. */
void delivery_wake_soon(void);

/*
 * The caller sends what is due of the stream to this port, to which it has a right: who asks for
 * samples pays for them.  The stream may have ended then.  What cannot be sent at once is left to
 * the delivery thread.
 */
void delivery_serve(struct port *port);

/* ---------------- Records: record.c ---------------- */

/* Words that the records at the end of a message of the stream's take. */
uint32_t trailer_words(const struct stream *stream, bool last);

/*
 * Appended to `buffer`, where there is room: the beginning of a stream, and the end of a message,
 * whose samples count as delivered.
 */
void record_begin(const struct stream *stream, struct buffer *buffer);
void record_trailer(const struct stream *stream, struct buffer *buffer, bool last);

#endif
