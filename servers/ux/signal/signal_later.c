/* SPDX-License-Identifier: MIT */
/*
 * Threads that have other processes' signals taken, for whoever cannot wait for it: a timer, a
 * parent's child, a device.  There are as many as are busy at a time, and a few more, since one
 * whose process's memory does not come must not hold up the others; but a process has at most one,
 * so that it cannot have them all.  What a signal costs when it is taken is the process's that it
 * is for; to send it was whoever's did that.  Guarded by ux_lock.
 */
#include "process/process.h"
#include "signal/signal.h"

#define WORKERS_MAX UX_PROCESSES_MAX
#define IDLE_KEPT   2

static unsigned workers, idle;

static struct process *signal_later_next_process(void)
{
	struct list *link;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (process->signals.is_queued && !process->signals.is_served)
			return process;
	}
	return NULL;
}

static void signal_later_serve(struct process *process)
{
	process_reference(process);
	process->signals.is_queued = false;
	process->signals.is_served = true;
	idle--;
	assay_thread_serve(process->task);
	signal_check(process);
	served_end();
	idle++;
	process->signals.is_served = false;
	process_release(process);
}

static void signal_later_work(void *unused)
{
	(void)unused;
	ux_lock();
	for (;;) {
		struct process *process = signal_later_next_process();

		if (process != NULL)
			signal_later_serve(process);
		else if (idle <= IDLE_KEPT)
			ux_sleep(&workers, NULL);
		else
			break;
	}
	workers--;
	idle--;
	ux_unlock();
}

static bool signal_later_add_worker(void)
{
	if (workers == WORKERS_MAX || !ux_start_thread(signal_later_work, NULL))
		return false;
	workers++;
	idle++;
	return true;
}

/* Without a thread to spare, the first that is done with its process comes to this one. */
void signal_check_later(struct process *process)
{
	assert(ux_lock_held());
	if (process->signals.is_queued)
		return;
	process->signals.is_queued = true;
	if (idle == 0)
		signal_later_add_worker();
	ux_wakeup(&workers);
}

bool signal_workers_start(void)
{
	bool success;

	ux_lock();
	success = signal_later_add_worker();
	ux_unlock();
	return success;
}
