/* SPDX-License-Identifier: MIT */
/*
 * The server's own profiling, for those who may read the kernel's memory: each call is passed
 * through to the profiling library that the server is linked with (libprof/core), as it is by any
 * other program's control port.  Guarded by the server's lock, which is given up while the
 * library's thread is asked.
 *
 * The server is also linked without that library (UX_PROFILE=none in the Makefile): hence the weak
 * names.  Compiled with -pg it refers to mcount, and has calls to tell of.
 */
#include <prof/collector.h>
#include <servers/gprof.h>
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/thread.h"

#pragma weak prof_collector_make
#pragma weak prof_collector_port
#pragma weak prof_collector_run
#pragma weak gprof_mon_dump
#pragma weak gprof_mon_options
#pragma weak gprof_mon_status
#pragma weak gprof_mon_switch
#pragma weak mcount

extern char __executable_start[], etext[];
void mcount(void);

static struct prof_collector *collector;
static bool is_running; /* It has its thread. */

/* When it is first asked for: a server that nobody profiles has neither. */
static kern_return_t profiling_start(void)
{
	const struct prof_collector_target target = {
		.task = mach_task_self_cached(),
		.low = (uint32_t)__executable_start,
		.high = (uint32_t)etext,
		.image = __executable_start,
		.image_size = (size_t)(etext - __executable_start),
		.counts_calls = mcount != NULL,
	};
	kern_return_t result = KERN_SUCCESS;

	if (collector == NULL)
		result = prof_collector_make(&target, &collector);
	if (result == KERN_SUCCESS)
		result = prof_collector_run(collector);
	is_running = result == KERN_SUCCESS;
	return result;
}

/* Whether a process may profile the server; then the library can be asked, without the lock. */
static kern_return_t profiling_begin(const struct process *process)
{
	kern_return_t result = KERN_SUCCESS;

	if (!may_have_server(process))
		return EPERM;
	if (prof_collector_make == NULL)
		return ENOTSUP;
	if (!is_running)
		result = profiling_start();
	if (result == KERN_SUCCESS)
		ux_unlock();
	return result;
}

kern_return_t ux_gprof_mon_switch(caller_t caller, unsigned *flavors)
{
	kern_return_t result = profiling_begin(caller->process);

	if (result != KERN_SUCCESS)
		return result;
	result = gprof_mon_switch(prof_collector_port(collector), flavors);
	ux_lock();
	return result;
}

/* The memory goes with the answer, and is not touched here. */
kern_return_t ux_gprof_mon_dump(caller_t caller, long_bytes_t *data, mach_msg_type_number_t *size)
{
	kern_return_t result = profiling_begin(caller->process);

	if (result != KERN_SUCCESS)
		return result;
	result = gprof_mon_dump(prof_collector_port(collector), data, size);
	ux_lock();
	return result;
}

kern_return_t ux_gprof_mon_status(caller_t caller, gprof_status_words_t *status)
{
	kern_return_t result = profiling_begin(caller->process);

	if (result != KERN_SUCCESS)
		return result;
	result = gprof_mon_status(prof_collector_port(collector), status);
	ux_lock();
	return result;
}

kern_return_t ux_gprof_mon_options(caller_t caller, gprof_options_words_t options)
{
	kern_return_t result = profiling_begin(caller->process);

	if (result != KERN_SUCCESS)
		return result;
	result = gprof_mon_options(prof_collector_port(collector), options);
	ux_lock();
	return result;
}
