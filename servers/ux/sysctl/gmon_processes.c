/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel's by process: root says which are tracked, and reads what was counted for
 * each (<sys/gmon.h>).
 *
 * The kernel counts by label, a task's number.  Those of the tracked are kept here with their pids,
 * so that a process that is gone can still be asked for, and a later one of the same pid is not
 * taken for it.  The kernel's counts are there once for all who want some: who comes first has them
 * (user/pkgmon does the same without the server).  Guarded by the server's lock.
 */
#include <mach/assay.h>
#include <mach/calls.h>

#include "process/process.h"
#include "sysctl/gmon.h"

_Static_assert(GPROF_PROCESSES_MAX == HOST_CALLS_LABELS - 1, "the system is one of the labels");
_Static_assert(sizeof(struct gmon_call) == sizeof(struct host_call) &&
		       offsetof(struct gmon_call, count) == offsetof(struct host_call, count),
	       "what the kernel tells is passed on as it is");

static struct tracked {
	size_t n; /* 0: the kernel's counts are not ours. */
	int pids[GPROF_PROCESSES_MAX];
	uint32_t labels[GPROF_PROCESSES_MAX];
} tracked;

void gmon_processes_forget(void)
{
	tracked.n = 0;
}

static bool processes_have(const struct tracked *which, int pid, size_t *at)
{
	for (*at = 0; *at < which->n; ++*at)
		if (which->pids[*at] == pid)
			return true;
	return false;
}

/* ---------------- What is tracked ---------------- */

/* Whether the counts are ours already, or nobody's. */
static int processes_check_counts(void)
{
	mach_msg_type_number_t n = 0;
	host_call_array_t words = NULL;
	boolean_t on = FALSE;
	kern_return_t result;

	ux_unlock();
	result = host_calls_get(ux_boot.host_control, HOST_CALLS_ALL_CPUS, &on, &words, &n);
	ux_lock();
	if (result != KERN_SUCCESS)
		return ENOMEM;
	if (n != 0)
		vm_deallocate(mach_task_self_cached(), (vm_address_t)words, n * sizeof *words);
	if (_gmonparam.state != GMON_PROF_OFF || (tracked.n == 0 && (on || n != 0)))
		return EBUSY;
	return 0;
}

/* All of them, each once; ESRCH if one does not live. */
static int processes_find(const int *pids, size_t n, struct tracked *found)
{
	size_t at;

	*found = (struct tracked){.n = 0};
	for (; n > 0; n--, pids++) {
		const struct process *process = process_by_pid(*pids);

		if (process == NULL || process->task == MACH_PORT_NULL)
			return ESRCH;
		if (!processes_have(found, *pids, &at))
			found->pids[found->n++] = *pids;
	}
	return 0;
}

/* Nobody has ended since they were found. */
static int processes_begin(struct tracked *found)
{
	for (size_t n = 0; n < found->n; n++) {
		mach_port_t task = process_by_pid(found->pids[n])->task;
		kern_return_t result =
			host_calls_for(ux_boot.host_control, task, &found->labels[n]);

		if (mach_is_short(result))
			return ENOMEM;
		if (result != KERN_SUCCESS)
			return ESRCH; /* Its task is gone, which the server is not told yet. */
	}
	return gmon_calls_begin();
}

static void processes_end(void)
{
	gmon_calls_end();
	gmon_calls_reset();
}

int gmon_processes_set(uintptr_t what, const char *data, size_t size)
{
	struct tracked found;
	int error;

	(void)what;
	if (size % sizeof(int) != 0 || size > sizeof found.pids)
		return EINVAL;
	error = processes_check_counts();
	if (error == 0)
		error = processes_find((const int *)(const void *)data, size / sizeof(int), &found);
	if (error != 0)
		return error;
	processes_end();
	if (found.n > 0)
		error = processes_begin(&found);
	if (error != 0)
		processes_end();
	else
		tracked = found;
	return error;
}

int gmon_processes_get(uintptr_t what, struct sysctl_value *value)
{
	(void)what;
	*value = (struct sysctl_value){tracked.pids, tracked.n * sizeof tracked.pids[0]};
	return 0;
}

/* ---------------- What was counted ---------------- */

static bool processes_find_label(int pid, uint32_t *label)
{
	size_t at;

	if (processes_have(&tracked, pid, &at))
		*label = tracked.labels[at];
	else if (tracked.n > 0 && pid == GPROF_OF_SYSTEM)
		*label = HOST_CALLS_SYSTEM;
	else if (tracked.n > 0 && pid == GPROF_OF_OTHERS)
		*label = HOST_CALLS_OTHERS;
	else
		return false;
	return true;
}

int gmon_process_get(uintptr_t pid, struct sysctl_value *value)
{
	mach_msg_type_number_t n = 0;
	host_call_array_t words = NULL;
	kern_return_t result;
	uint32_t label;
	bool is_there;

	if (!processes_find_label((int)pid, &label))
		return ESRCH;
	/* As in gmon_calls_bring(): it may have to be brought. */
	ux_unlock();
	result = host_calls_get_for(ux_boot.host_control, label, &words, &n);
	is_there = n == 0 || ux_wire((vm_address_t)words, n * sizeof *words);
	ux_lock();
	*value = (struct sysctl_value){words, n * sizeof *words};
	if (result == KERN_SUCCESS && is_there)
		return 0;
	if (n != 0)
		ux_free_pages(words, ux_whole_pages(value->size));
	return result == KERN_INVALID_ARGUMENT ? ESRCH : ENOMEM;
}
