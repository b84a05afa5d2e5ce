/* SPDX-License-Identifier: MIT */
/*
 * Calls that begin, flush and end streams (<mach/assay.h>, <mach/prof.h>).
 *
 * A call that fails has taken nothing: its right to the reply port goes with the request.  One that
 * succeeds has taken it, into the stream or to no end.  Guarded by the kernel lock.
 */
#include <mach/mach_types.h>
#include <mach/prof.h>

#include "ipc/port.h"
#include "mach/assay_server.h"
#include "prof/stream_internal.h"
#include "task/task.h"
#include "thread/sched.h"
#include "thread/thread.h"

#define ALL_OPTIONS (SAMPLE_FIXED | SAMPLE_STACK | SAMPLE_NMI)

/* ---------------- Targets: none is no target of a stream's ---------------- */

static bool sample_is_none(struct sampler_target target)
{
	return target.kind == 0;
}

struct sampler_target stream_target_of_task(const struct task *task)
{
	if (task == NULL || task->ending)
		return (struct sampler_target){0};
	return (struct sampler_target){.kind = PROF_TARGET_TASK, .id = task->id};
}

struct sampler_target stream_target_of_thread(const struct thread *thread)
{
	if (thread == NULL || thread_is_dying(thread))
		return (struct sampler_target){0};
	return (struct sampler_target){.kind = PROF_TARGET_THREAD, .id = thread->id};
}

static struct sampler_target sample_target_of_host(const struct host *host, uint32_t label)
{
	if (host == NULL || (label != 0 && task_find(label) == NULL))
		return (struct sampler_target){0};
	if (label == 0)
		return (struct sampler_target){.kind = PROF_TARGET_HOST};
	return (struct sampler_target){.kind = PROF_TARGET_LABEL, .id = label};
}

/* The task, or its job. */
static struct sampler_target sample_target_to_begin(const struct task *task,
						    sample_options_t options)
{
	struct sampler_target target = stream_target_of_task(task);

	if (!sample_is_none(target) && (options.flags & SAMPLE_CHILDREN) != 0)
		target.kind = PROF_TARGET_JOB;
	return target;
}

/* Whether who may sample `allowed` may speak for this stream's: of the host, any label's too. */
static bool sample_covers(struct sampler_target allowed, struct sampler_target target)
{
	if (allowed.kind == PROF_TARGET_HOST)
		return target.kind == PROF_TARGET_HOST || target.kind == PROF_TARGET_LABEL;
	return allowed.kind == target.kind && allowed.id == target.id;
}

/* ---------------- Beginning ---------------- */

static bool sample_is_valid(const struct stream_wish *wish)
{
	const sample_options_t *options = &wish->options;
	enum prof_target kind = wish->target.kind;
	uint32_t allowed = ALL_OPTIONS;

	if (kind == PROF_TARGET_JOB)
		allowed |= SAMPLE_CHILDREN;
	/* Others' stacks are for whoever may sample them. */
	if (kind == PROF_TARGET_HOST || kind == PROF_TARGET_LABEL)
		allowed |= SAMPLE_CLIENTS;

	if (sample_is_none(wish->target) || wish->flavors == 0 ||
	    (wish->flavors & ~(uint32_t)(SAMPLED_PC_ALL | SAMPLED_PC_WAIT)) != 0)
		return false;
	if (wish->rate > SAMPLE_RATE_MAX || (options->flags & ~allowed) != 0)
		return false;
	return options->depth <= SAMPLE_DEPTH_MAX && options->reserved == 0;
}

static kern_return_t sample_begin(const struct stream_wish *wish, struct port *reply)
{
	if (!port_is_valid(reply) || !sample_is_valid(wish))
		return KERN_INVALID_ARGUMENT;
	return stream_begin(wish, reply);
}

kern_return_t task_sample_start(task_t task, unsigned flavors, unsigned rate,
				sample_options_t options, ipc_port_t reply)
{
	struct sampler_target target = sample_target_to_begin(task, options);
	struct stream_wish wish = {target, flavors, rate, options, false};

	return sample_begin(&wish, reply);
}

kern_return_t thread_sample_start(thread_t thread, unsigned flavors, unsigned rate,
				  sample_options_t options, ipc_port_t reply)
{
	struct stream_wish wish = {stream_target_of_thread(thread), flavors, rate, options, false};

	return sample_begin(&wish, reply);
}

kern_return_t host_sample_start(host_t host, unsigned label, unsigned flavors, unsigned rate,
				sample_options_t options, ipc_port_t reply)
{
	struct stream_wish wish = {sample_target_of_host(host, label), flavors, rate, options,
				   false};

	return sample_begin(&wish, reply);
}

/* ---------------- Flushing ---------------- */

/* A job may be left by the task with which it began; so it is its receiver's. */
static bool sample_is_receivers_job(const struct stream *stream)
{
	return stream->target.kind == PROF_TARGET_JOB && stream->port->receiver != NULL &&
	       stream->port->receiver == current_task()->space;
}

/* The stream of the port, if it is of what the caller may sample; else NULL. */
static struct stream *sample_find(struct sampler_target allowed, const struct port *reply)
{
	struct stream *stream = port_is_valid(reply) ? reply->stream : NULL;

	if (stream == NULL)
		return NULL;
	return sample_covers(allowed, stream->target) || sample_is_receivers_job(stream) ? stream
											 : NULL;
}

static kern_return_t sample_flush(struct sampler_target allowed, struct port *reply,
				  uint64_t *delivered)
{
	struct stream *stream = sample_find(allowed, reply);
	kern_return_t result = KERN_INVALID_ARGUMENT;

	if (stream != NULL)
		result = stream_flush(stream, delivered);
	if (result == KERN_SUCCESS) {
		delivery_serve(reply);
		port_release_send(reply);
	}
	return result;
}

kern_return_t task_sample_flush(task_t task, ipc_port_t reply, uint64_t *delivered)
{
	return sample_flush(stream_target_of_task(task), reply, delivered);
}

kern_return_t thread_sample_flush(thread_t thread, ipc_port_t reply, uint64_t *delivered)
{
	return sample_flush(stream_target_of_thread(thread), reply, delivered);
}

kern_return_t host_sample_flush(host_t host, ipc_port_t reply, uint64_t *delivered)
{
	return sample_flush(sample_target_of_host(host, 0), reply, delivered);
}

/* ---------------- What samples of the kernel are of ---------------- */

kern_return_t host_kernel_text(host_t host, unsigned *first, unsigned *end, unsigned *idle)
{
	extern const char kernel_start[], kernel_text_end[];

	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	*first = (uintptr_t)kernel_start;
	*end = (uintptr_t)kernel_text_end;
	*idle = (uintptr_t)sched_idle;
	return KERN_SUCCESS;
}

/* ---------------- Ending ---------------- */

static kern_return_t sample_stop(struct sampler_target allowed, struct port *reply)
{
	struct stream *stream = sample_find(allowed, reply);

	if (stream == NULL)
		return KERN_INVALID_ARGUMENT;
	stream_end(stream, PROF_END_STOPPED);
	delivery_serve(reply);
	port_release_send(reply);
	return KERN_SUCCESS;
}

kern_return_t task_sample_stop(task_t task, ipc_port_t reply)
{
	return sample_stop(stream_target_of_task(task), reply);
}

kern_return_t thread_sample_stop(thread_t thread, ipc_port_t reply)
{
	return sample_stop(stream_target_of_thread(thread), reply);
}

kern_return_t host_sample_stop(host_t host, ipc_port_t reply)
{
	return sample_stop(sample_target_of_host(host, 0), reply);
}

/* ---------------- The old calls ---------------- */

/* Ends what sample() began for this target. */
static kern_return_t sample_stop_simple(struct sampler_target target)
{
	kern_return_t result = KERN_INVALID_ARGUMENT;

	list_for_each_object_removable (struct stream, stream, after, &all_streams, link) {
		if (!stream->simple || stream->end != 0 || !sample_covers(target, stream->target))
			continue;
		stream_end(stream, PROF_END_STOPPED);
		delivery_wake();
		result = KERN_SUCCESS;
	}
	return result;
}

static kern_return_t sample(struct sampler_target target, struct port *reply)
{
	struct stream_wish wish = {target, SAMPLED_PC_PERIODIC, 0, {0}, true};

	if (reply != PORT_NULL)
		return sample_begin(&wish, reply);
	return sample_is_none(target) ? KERN_INVALID_ARGUMENT : sample_stop_simple(target);
}

kern_return_t task_sample(task_t task, ipc_port_t reply)
{
	return sample(stream_target_of_task(task), reply);
}

kern_return_t thread_sample(thread_t thread, ipc_port_t reply)
{
	return sample(stream_target_of_thread(thread), reply);
}

/* ---------------- The clock ---------------- */

kern_return_t host_sample_control(host_t host, unsigned max_rate, unsigned seed)
{
	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	return sampler_control(max_rate, seed);
}
