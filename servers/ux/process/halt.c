/* SPDX-License-Identifier: MIT */
/*
 * The end of a run: processes, then files, then the machine.  Guarded by the server's lock.
 *
 * Processes are asked to end before they are made to.  What they leave behind on the device is
 * whole in any case.
 */
#include <ux/bsd_server.h>

#include <sys/wait.h>

#include "audit/audit.h"
#include "fs/vnode.h"
#include "paging/paging.h"
#include "process/process.h"
#include "process/thread.h"
#include "trace/trace.h"

#define GRACE (2ull * NANOS_PER_SECOND) /* For processes that were asked to end. */
#define STEP  (NANOS_PER_SECOND / 100)

static bool is_halting;

/* A process that is neither the one that halts nor the first, whose end is that of all. */
static bool halt_is_other(const struct process *process, const struct process *own)
{
	return process != own && process->pid != PID_FIRST && !process->is_zombie;
}

static bool halt_others_live(const struct process *own)
{
	struct list *link;

	list_for_each (link, &processes) {
		if (halt_is_other(list_object(link, struct process, link), own))
			return true;
	}
	return false;
}

static void halt_ask_others(const struct process *own)
{
	struct list *link;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (!halt_is_other(process, own) || process->is_exiting)
			continue;
		signal_process_number(process, SIGTERM);
		signal_process_number(process, SIGCONT);
		signal_check_later(process);
	}
}

/* Most are children of the first, or become that; whoever is not is seen with the next step. */
static void halt_await_others(const struct process *own)
{
	const void *channel = children_channel(process_by_pid(PID_FIRST));
	uint64_t end = ux_now() + GRACE;

	while (halt_others_live(own) && ux_now() < end)
		ux_sleep_until(channel, ux_now() + STEP);
}

/* A process that is not ending yet; the list may change with each that does. */
static struct process *halt_find_living(void)
{
	struct list *link;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (!process->is_exiting)
			return process;
	}
	return NULL;
}

static void halt_end_all(void)
{
	struct process *process = process_by_pid(PID_FIRST);

	/* As if a call of the first were under way: its end would wait for this halt to be over. */
	process->calls++;
	while ((process = halt_find_living()) != NULL)
		process_exit(process, W_EXITCODE(0, SIGKILL));
}

static _Noreturn void halt_end_machine(int how, int status)
{
	if (how == UX_HALT)
		assay_exit(status);
	host_reboot(ux_boot.host_control, 0);
	assay_exit(1);
}

/* Whoever comes second waits for the end. */
static void halt_begin_once(void)
{
	while (is_halting)
		ux_sleep(&halt_end_machine, NULL);
	is_halting = true;
}

static _Noreturn void halt(struct process *own, int how, int status)
{
	halt_begin_once();
	halt_ask_others(own);
	halt_await_others(own);
	halt_end_all();
	audit_drain();
	halt_await_others(own); /* Their calls may be at work with files yet. */
	paging_settle();
	trace_settle();
	fs_unmount();
	halt_end_machine(how, status);
}

void ux_halt(int how, int status)
{
	halt(NULL, how, status);
}

kern_return_t ux_reboot(caller_t caller, int how, int status)
{
	if (!is_root(caller->process))
		return EPERM;
	if (how != UX_HALT && how != UX_REBOOT)
		return EINVAL;
	halt(caller->process, how, status);
}
