/* SPDX-License-Identifier: MIT */
/* Streams that monctl has by itself: of a task, a thread, or the host. */
#include <errno.h>
#include <mach.h>
#include <signal.h>
#include <string.h>
#include <sys/ux.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "common/common.h"
#include "control.h"
#include "programs.h"
#include "stream.h"

/* Samples of a table that is printed each second should not be older than this, */
#define LIVE_AGE_MS 100

/* and of a recording so much is lost if its recorder is ended by force. */
#define RECORD_AGE_MS 1000

/*
 * Of the whole machine names must be learnt before the Unix server has forgotten them: it remembers
 * a thousand tasks that have ended.
 */
#define RECORD_ALL_AGE_MS 250

/* How soon it is seen that nobody is left of a job that is served. */
#define LOOK_MS 100u

/* ---------------- Signals ---------------- */

/* A message to this port ends a wait for messages. */
static mach_port_t wake_port;
static volatile sig_atomic_t has_signal;

void stream_wake(void)
{
	mach_msg_header_t message = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MAKE_SEND, 0),
		.msgh_size = sizeof(message),
		.msgh_remote_port = wake_port,
	};

	has_signal = 1;
	/* If there is one in the queue already, that will do: there is no waiting here. */
	mach_msg(&message, MACH_SEND_MSG | MACH_SEND_TIMEOUT, sizeof(message), 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

static void wake(int signal)
{
	(void)signal;
	stream_wake();
}

/* The message of a signal has done its work by having come. */
static void take_message(void *context, mach_msg_header_t *message)
{
	struct stream *stream = context;

	registration_hear(&stream->registration, message);
	mach_msg_destroy(message);
}

static bool make_wake_port(struct prof_collector *collector)
{
	return prof_collector_add_port(collector, &wake_port) == KERN_SUCCESS;
}

/* Before that they end us at once.  Of a command that monctl has started, they are run.c's. */
void stream_watch_signals(const struct stream *stream)
{
	if (stream->arguments->command != NULL)
		return;
	signal(SIGINT, wake);
	signal(SIGTERM, wake);
	signal(SIGHUP, wake);
}

/* ---------------- Which stream ---------------- */

static kern_return_t begin_thread(void *context, uint32_t flavors, uint32_t rate,
				  sample_options_t options, mach_port_t reply)
{
	const struct stream *stream = context;

	return thread_sample_start(stream->thread, flavors, rate, options, reply);
}

static kern_return_t end_thread(void *context, mach_port_t reply)
{
	const struct stream *stream = context;

	return thread_sample_stop(stream->thread, reply);
}

static kern_return_t flush_thread(void *context, mach_port_t reply, uint64_t *delivered)
{
	const struct stream *stream = context;

	return thread_sample_flush(stream->thread, reply, delivered);
}

static kern_return_t begin_host(void *context, uint32_t flavors, uint32_t rate,
				sample_options_t options, mach_port_t reply)
{
	const struct stream *stream = context;

	return host_sample_start(stream->host, stream->label, flavors, rate, options, reply);
}

static kern_return_t end_host(void *context, mach_port_t reply)
{
	const struct stream *stream = context;

	return host_sample_stop(stream->host, reply);
}

static kern_return_t flush_host(void *context, mach_port_t reply, uint64_t *delivered)
{
	const struct stream *stream = context;

	return host_sample_flush(stream->host, reply, delivered);
}

/* Warns once, by what the kernel says of its clock. */
static void watch_clock(void *context, const uint32_t *words, size_t count)
{
	struct stream *stream = context;
	const struct prof_begin *begin = (const struct prof_begin *)words;

	if (count * sizeof(*words) >= sizeof(*begin) && begin->record.type == PROF_BEGIN &&
	    begin->clock_is_block && !stream->has_warned) {
		stream->has_warned = true;
		clock_warn();
	}
	if (stream->watch != NULL)
		stream->watch(stream->context, words, count);
}

static bool find_label(struct stream *stream)
{
	const struct arguments *arguments = stream->arguments;

	stream->host = target_host("-for");
	if (stream->host == MACH_PORT_NULL)
		return false;
	if (arguments->beneficiary == FOR_ALL)
		return true;
	if (!target_find(&stream->served, arguments->for_pid))
		return false;
	/* The kernel knows of one task; of others monctl chooses: stream_wants(). */
	if (arguments->proxy)
		stream->label = stream->served.task_id;
	return true;
}

/* Whether a process or a job is served, by anybody; it may be in another task by now. */
static bool is_served_only(const struct arguments *arguments)
{
	return arguments->pid == NO_PID &&
	       (arguments->beneficiary == FOR_PROCESS || arguments->beneficiary == FOR_JOB);
}

/* By the token of our own process, which is its user's and root's to know. */
static bool make_owners(struct prof_collector_target *target)
{
	target->owner_only = true;
	if (ux_gprof_token(0, target->token) == 0)
		return true;
	report("the Unix server gives no token (%s): -open does without", strerror(errno));
	return false;
}

bool stream_prepare(struct stream *stream)
{
	const struct arguments *arguments = stream->arguments;
	struct prof_collector_target target = {
		.proxy = (uint32_t)getpid(),
		.context = stream,
		.watch = watch_clock,
		.other = take_message,
	};

	if (stream->target != NULL && !is_served_only(arguments)) {
		target.task = stream->target->task;
		target.pid = (uint32_t)stream->target->pid;
		target.with_children = arguments->children;
		target.only_task = arguments->children;
	}
	if (stream->executable != NULL) {
		target.low = (uint32_t)stream->executable->elf.text_start;
		target.high = (uint32_t)stream->executable->elf.text_end;
		target.program = &stream->executable->program;
		target.name = executable_name(stream->executable);
	}
	if (arguments->thread != 0) {
		stream->thread = target_thread(stream->target, arguments->thread);
		if (stream->thread == MACH_PORT_NULL)
			return false;
		target.begin = begin_thread;
		target.end = end_thread;
		target.flush = flush_thread;
	}
	if (arguments->beneficiary != FOR_ANYBODY) {
		if (!find_label(stream))
			return false;
		target.begin = begin_host;
		target.end = end_host;
		target.flush = flush_host;
		target.only_task = arguments->pid != NO_PID;
	}
	if (stream->is_owners && !make_owners(&target))
		return false;
	if (prof_collector_make(&target, &stream->collector) == KERN_SUCCESS &&
	    make_wake_port(stream->collector)) {
		stream->registration.collector = stream->collector;
		return true;
	}
	report("no memory left to sample with");
	return false;
}

/* Of a process, or a job, that is served: what is done for it, in whichever of its programs. */
static bool is_served(const struct stream *stream, uint32_t task)
{
	const struct arguments *arguments = stream->arguments;

	switch (arguments->beneficiary) {
	case FOR_PROCESS:
		return program_is_of(program_of(task), arguments->for_pid, stream->served.task_id);
	case FOR_JOB:
		return program_descends(program_of(task), arguments->for_pid,
					stream->served.task_id);
	default:
		return true;
	}
}

bool stream_wants(const struct stream *stream, const struct prof_sample *sample)
{
	const struct arguments *arguments = stream->arguments;

	if (arguments->beneficiary == FOR_ANYBODY)
		return true;
	if (arguments->pid != NO_PID && sample->task != stream->target->task_id)
		return false;
	return is_served(stream, sample->label);
}

/* ---------------- Beginning and end ---------------- */

static bool explain(const struct stream *stream, kern_return_t result)
{
	const struct control control = {.pid = stream->target != NULL ? stream->target->pid : 0};
	const struct target *target = stream->label != 0 ? &stream->served : stream->target;

	if (result == GPROF_ENDED && target != NULL && target_report_ended(target))
		return false;
	if (result == GPROF_ENDED && stream->thread != MACH_PORT_NULL)
		report("process %d: thread %u has ended meanwhile", control.pid,
		       stream->arguments->thread);
	else
		control_explain(&control, "sampling", result);
	return false;
}

bool stream_begin(struct stream *stream, sampled_pc_flavor_t flavors)
{
	gprof_options_t options = arguments_options(stream->arguments);
	kern_return_t result;

	stream_watch_signals(stream);
	if (stream->arguments->live)
		options.age_ms = LIVE_AGE_MS;
	else if (stream->arguments->record != NULL)
		options.age_ms = stream->arguments->beneficiary == FOR_ANYBODY ? RECORD_AGE_MS
									       : RECORD_ALL_AGE_MS;
	result = prof_collector_options(stream->collector, &options);
	if (result == KERN_SUCCESS)
		result = prof_collector_switch(stream->collector, &flavors);
	return result == KERN_SUCCESS || explain(stream, result);
}

void stream_end(struct stream *stream)
{
	sampled_pc_flavor_t none = 0;
	kern_return_t result = prof_collector_switch(stream->collector, &none);

	if (result != KERN_SUCCESS && !prof_collector_target_ended(stream->collector))
		explain(stream, result);
}

/* ---------------- Meanwhile ---------------- */

uint64_t now_ms(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000 + (uint64_t)now.tv_nsec / 1000000;
}

/* Nobody is left of the process or the job that is served. */
static bool nobody_is_served(const struct stream *stream)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found;

	if (!is_served_only(stream->arguments))
		return false;
	found = ux_processes(processes, UX_PROCESSES_MAX);
	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++)
		if (processes[i].state != UX_ZOMBIE && processes[i].task_id != 0 &&
		    is_served(stream, processes[i].task_id))
			return false;
	return found > 0;
}

static bool is_over(const struct stream *stream)
{
	return has_signal || prof_collector_target_ended(stream->collector) ||
	       nobody_is_served(stream);
}

bool stream_serve_until(struct stream *stream, uint64_t deadline_ms)
{
	while (!is_over(stream)) {
		uint64_t now = now_ms();

		if (now >= deadline_ms)
			return false;
		prof_collector_serve(stream->collector, (mach_msg_timeout_t)(deadline_ms - now));
	}
	return true;
}

bool stream_serve_once(struct stream *stream)
{
	if (is_over(stream))
		return false;
	prof_collector_serve(stream->collector,
			     is_served_only(stream->arguments) ? LOOK_MS : MACH_MSG_TIMEOUT_NONE);
	return true;
}

void stream_serve(struct stream *stream)
{
	while (stream_serve_once(stream))
		continue;
}
