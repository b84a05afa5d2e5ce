/* SPDX-License-Identifier: MIT */
/*
 * Streams: samples on their way to a reply port, or kept for the calls that fetch them.
 *
 * A stream has a target, flavors, options and buffers.  Samples come from the sampling clock
 * (prof/sampler.h) and from fault_event(); they are appended to the current buffer, and a kernel
 * thread sends buffers that are full, old, or the last (prof/delivery.c).  What finds no room is
 * counted as lost.  A stream lives until its last buffer is sent or its receiver is gone.
 *
 * The rest of the kernel sees this file; how a stream is made is in prof/stream_internal.h.
 * Guarded by the kernel lock.
 */
#ifndef PROF_STREAM_H
#define PROF_STREAM_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/prof.h>

#include "vm/map/fault.h"

struct stream;
struct task;
struct thread;

void stream_module_init(void);

/* Starts the thread that sends; once, when the boot programs are about to run. */
void delivery_start(void);

/*
 * Takes so many samples of the clock, complete, that lie one behind the other in `words` words:
 * appends them or counts them as lost.  Does not block, allocate or send; may wake the delivery
 * thread.
 */
void stream_take(struct stream *stream, const struct prof_sample *first, uint32_t words,
		 uint32_t samples);

/* Words that there is room for in one piece now.  A sample that needs more is taken alone. */
uint32_t stream_room(const struct stream *stream);

/* Streams that sample events: fault_event() looks at it before it calls stream_event(). */
extern uint32_t stream_event_takers;

/*
 * An event of the current thread's, which the kernel came upon at `kernel_pc`: a sample for every
 * stream that wants it.
 */
void stream_event(enum fault_flavor flavor, uint32_t kernel_pc);

/* What whoever took a sample has left for WORK_SAMPLE. */
void delivery_work(void);

/* The target has ended: its streams get their end.  Called once for each task and thread. */
void stream_task_ended(struct task *task);
void stream_thread_ended(const struct thread *thread);

/* The receiver is gone: the reply port of the stream has died. */
void stream_receiver_died(struct stream *stream);

/* Timers that the delivery thread has set, for the balance: as pageout_timers(). */
uint32_t delivery_timers(void);

#endif
