/* SPDX-License-Identifier: MIT */
/* Waits: see waits.h.  Guarded by the kernel lock. */
#include "prof/waits.h"

#include "base/clock.h"
#include "base/cpu.h"
#include "base/lock.h"
#include "base/machine.h"
#include "ipc/mach_msg.h"
#include "ipc/port.h"
#include "ipc/port_set.h"
#include "ipc/space.h"
#include "prof/clients.h"
#include "prof/stream_internal.h"
#include "prof/unclaimed.h"
#include "task/task.h"
#include "thread/work.h"

uint32_t waits_streams;

/* The wait that is being taken, with room for its frames: the kernel's, the user's, clients'. */
static union {
	struct prof_wait wait;
	uint32_t words[sizeof(struct prof_wait) / 4 + 2 * SAMPLE_DEPTH_MAX +
		       CLIENTS_WORDS(SAMPLE_DEPTH_MAX)];
} taken;

static const uint16_t waits_reasons[] = {
	[WAIT_MESSAGE] = PROF_WAIT_RECEIVE, [WAIT_ON_FAST_PATH] = PROF_WAIT_RECEIVE,
	[WAIT_ROOM] = PROF_WAIT_SEND,       [WAIT_PAGE] = PROF_WAIT_PAGE,
	[WAIT_WORD] = PROF_WAIT_LOCK,       [WAIT_TIME] = PROF_WAIT_TIMER,
	[WAIT_THREAD] = PROF_WAIT_THREAD,
};

/* ---------------- Records ---------------- */

static void waits_fill_in(const struct thread *thread)
{
	taken.wait = (struct prof_wait){
		.record = {.type = PROF_WAIT, .version = PROF_VERSION},
		.pc = thread_user_pc(thread),
		.kernel_pc = thread->at_edge ? 0 : machine_waiting_pc(thread),
		.thread = thread->id,
		.task = thread->home,
		.label = thread->wait_label,
		.flavor = SAMPLED_PC_WAIT,
		.cpu = (uint8_t)cpu_number(),
		.reason = (uint16_t)thread->waits_for,
	};
}

/* The record as the stream wants it: with its depth of the stacks, and clients or not. */
static void waits_add_stacks(const struct stream *stream, const struct thread *thread)
{
	const uint32_t depth = stream->depth;
	struct prof_wait *wait = &taken.wait;
	uint32_t kernel = 0, user = 0, words;
	bool kernel_cut = false, user_cut = false, clients_cut = false;

	if (depth > 0 && wait->kernel_pc != 0)
		kernel = machine_waiting_stack(thread, wait->frames, depth, &kernel_cut);
	if (depth > 0)
		user = sampler_user_stack(thread, wait->frames + kernel, depth, &user_cut);
	words = sizeof *wait / 4 + kernel + user;
	if (depth > 0 && (stream->options & SAMPLE_CLIENTS) != 0)
		words += clients_write(thread, NULL, wait->label, depth, taken.words + words,
				       &clients_cut);
	wait->kernel_frames = (uint8_t)kernel;
	wait->user_frames = (uint8_t)user;
	wait->flags = kernel_cut || user_cut ? PROF_STACK_CUT : 0;
	if (clients_cut)
		wait->flags |= PROF_CLIENTS_CUT;
	wait->record.words = (uint16_t)words;
}

/* The part of the thread's wait up to `end` that lies within the stream's time is taken. */
static void waits_take(struct stream *stream, const struct thread *thread, uint64_t end)
{
	uint64_t begin = thread->wait_since;
	struct prof_wait *wait = &taken.wait;

	if (begin < stream->begin_time)
		begin = stream->begin_time;
	if (stream->end_time != 0 && end > stream->end_time)
		end = stream->end_time;
	if (end <= begin)
		return;
	wait->time[0] = (uint32_t)begin;
	wait->time[1] = (uint32_t)(begin >> 32);
	wait->length[0] = (uint32_t)(end - begin);
	wait->length[1] = (uint32_t)((end - begin) >> 32);
	waits_add_stacks(stream, thread);
	stream_take_wait(stream, wait, end - begin);
}

/* Whether the stream takes what the thread waits for now. */
static bool waits_are_of(const struct stream *stream, const struct thread *thread)
{
	return stream_wants_waits(stream) && stream->end == 0 &&
	       stream_is_of(stream, thread, thread->wait_label);
}

/* The thread's wait, if it is in one, is over at `now`. */
static void waits_close(struct thread *thread, uint64_t now)
{
	if (thread->waits_for == 0)
		return;
	waits_fill_in(thread);
	list_for_each_object (struct stream, stream, &all_streams, link) {
		if (waits_are_of(stream, thread))
			waits_take(stream, thread, now);
	}
	thread->waits_for = 0;
}

/* ---------------- What happens to threads ---------------- */

/* What the thread waits for, by its state; 0: it runs, or has ended. */
static uint32_t waits_reason(const struct thread *thread)
{
	switch (thread->state) {
	case THREAD_RUNNABLE:
		return PROF_WAIT_CPU;
	case THREAD_WAITING:
		return waits_reasons[thread->wait_kind];
	case THREAD_STOPPED:
		return PROF_WAIT_STOP;
	default:
		return 0;
	}
}

/*
 * Whether the last request was one of the kernel's, which is answered by a call, and the thread
 * waits for the next one where that came from.
 */
static bool waits_for_request(const struct thread *thread)
{
	const struct entry *entry = space_find(thread->task->space, thread->serves);
	const struct port *port;

	if (entry == NULL || (entry->type & MACH_PORT_TYPE_RECEIVE) == 0)
		return false;
	port = entry->port;
	return thread->receive.words->rcv_name ==
	       (port->set != NULL ? port->set->name : port->name);
}

/*
 * Whether it has answered, and waits for a request: it has its client's label until one comes.  The
 * fast path leaves it that after an answer, too.
 */
static bool waits_for_itself(const struct thread *thread)
{
	if (thread->state != THREAD_WAITING)
		return false;
	if (thread->wait_kind == WAIT_ON_FAST_PATH)
		return thread->receive.inbox.message.header.msgh_local_port == MACH_PORT_NULL;
	return thread->wait_kind == WAIT_MESSAGE && waits_for_request(thread);
}

static void waits_open(struct thread *thread, uint32_t reason, uint64_t now)
{
	thread->waits_for = reason;
	thread->wait_label = waits_for_itself(thread) || unclaimed_is_event(thread->label)
				     ? thread->home
				     : thread->label;
	thread->wait_since = now;
}

void waits_change(struct thread *thread, enum prof_wait_reason reason)
{
	uint64_t now = clock_now();

	assert(kernel_locked() && thread->watched);
	/* A thread that was not switched from yet has no wait whose reason could change. */
	if (thread->waits_for == 0)
		return;
	waits_close(thread, now);
	waits_open(thread, reason, now);
}

void waits_switched(struct thread *previous, struct thread *next)
{
	uint64_t now = clock_now();

	if (previous->watched)
		waits_open(previous, waits_reason(previous), now);
	if (next->watched)
		waits_close(next, now);
}

/* ---------------- Whom to watch ---------------- */

/* Whatever a thread's label is now, it may get any. */
static bool waits_are_wanted(const struct thread *thread)
{
	list_for_each_object (struct stream, stream, &all_streams, link) {
		if (stream_wants_waits(stream) && stream->end == 0 &&
		    (stream->target.kind == PROF_TARGET_LABEL ||
		     stream_is_of(stream, thread, thread->label)))
			return true;
	}
	return false;
}

/* The thread is watched from `now` on, if it was not and is to be; or no longer. */
static void waits_watch(struct thread *thread, uint64_t now)
{
	bool wanted = waits_are_wanted(thread);

	if (thread->watched == wanted)
		return;
	thread->watched = wanted;
	machine_watch_switches(thread, wanted);
	waits_open(thread, wanted ? waits_reason(thread) : 0, now);
}

void waits_meet(struct thread *thread)
{
	waits_watch(thread, clock_now());
}

void waits_watch_all(uint64_t now)
{
	list_for_each_object (struct task, task, &all_tasks, link) {
		list_for_each_object (struct thread, thread, &task->threads, task_link) {
			waits_watch(thread, now);
			pause_each();
		}
	}
}

void waits_take_open(struct stream *stream)
{
	list_for_each_object (struct task, task, &all_tasks, link) {
		list_for_each_object (struct thread, thread, &task->threads, task_link) {
			if (thread->watched && thread->waits_for != 0 &&
			    waits_are_of(stream, thread)) {
				waits_fill_in(thread);
				waits_take(stream, thread, stream->end_time);
			}
			pause_each();
		}
	}
}
