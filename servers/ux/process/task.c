/* SPDX-License-Identifier: MIT */
/* Tasks of processes: see task.h.  Guarded by the server's lock. */
#include "process/task.h"

#include <mach/task_info.h>
#include <mach/task_special_ports.h>
#include <sys/signal.h>

#include "process/thread.h"

#define MICROS 1000000

_Static_assert(sizeof(kernel_debug_name_t) >= sizeof(((struct process *)0)->command),
	       "a process's name is its task's");

/* ---------------- Life ---------------- */

uint32_t task_id(mach_port_t task)
{
	struct task_id_info info = {.id = 0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	ux_patiently(task_info(task, TASK_ID_INFO, (task_info_t)&info, &count));
	return info.id;
}

int task_new(mach_port_t parent, bool inherit, mach_port_t *task)
{
	kern_return_t result = syscall_task_create(parent, inherit, task);

	if (result != KERN_SUCCESS)
		return result == KERN_RESOURCE_SHORTAGE ? ENOMEM : EAGAIN;
	if (serve_watch(*task) == KERN_SUCCESS)
		return 0;
	task_end(*task);
	return ENOMEM;
}

int task_charge(mach_port_t task, uid_t uid)
{
	return task_set_owner(ux_boot.host_control, task, uid) == KERN_SUCCESS ? 0 : EAGAIN;
}

void task_forget(mach_port_t task)
{
	syscall_mach_port_deallocate(mach_task_self_cached(), task);
}

void task_end(mach_port_t task)
{
	serve_unwatch(task);
	syscall_task_terminate(task);
	task_forget(task);
}

/* A process that ends by its own will has no task any more. */
bool task_port_died(mach_port_t name)
{
	struct list *link;

	list_for_each (link, &processes) {
		struct process *process = list_object(link, struct process, link);

		if (process->task == name) {
			fault_kill_without_task(process);
			return true;
		}
	}
	return false;
}

void task_call(mach_port_t task, const char *name)
{
	kernel_debug_name_t text;

	format(text, sizeof text, "%s", name);
	task_set_name(task, text);
}

/* ---------------- What it has used ---------------- */

static void task_add_time(struct timeval *sum, time_value_t time)
{
	sum->tv_sec += time.seconds;
	sum->tv_usec += time.microseconds;
	if (sum->tv_usec >= MICROS) {
		sum->tv_sec++;
		sum->tv_usec -= MICROS;
	}
}

/* To the system's time belongs that of servers that worked for the task. */
void task_add_usage(mach_port_t task, struct rusage *usage)
{
	struct task_usage_info used = {0};
	const struct task_events_info *events = &used.events;
	mach_msg_type_number_t count = TASK_USAGE_INFO_COUNT;

	task_info(task, TASK_USAGE_INFO, (task_info_t)&used, &count);
	task_add_time(&usage->ru_utime, used.living.user_time);
	task_add_time(&usage->ru_utime, used.ended_user_time);
	task_add_time(&usage->ru_stime, used.living.system_time);
	task_add_time(&usage->ru_stime, used.ended_system_time);
	task_add_time(&usage->ru_stime, used.served_user_time);
	task_add_time(&usage->ru_stime, used.served_system_time);
	if (usage->ru_maxrss < (int32_t)(used.resident_size / 1024))
		usage->ru_maxrss = (int32_t)(used.resident_size / 1024);
	usage->ru_minflt += (int32_t)(events->faults - events->pageins);
	usage->ru_majflt += (int32_t)events->pageins;
	usage->ru_zfill += (int32_t)events->zero_fills;
	usage->ru_cow += (int32_t)events->cow_faults;
	usage->ru_reactivations += (int32_t)events->reactivations;
	usage->ru_msgsnd += (int32_t)events->messages_sent;
	usage->ru_msgrcv += (int32_t)events->messages_received;
}

static void task_add_timeval(struct timeval *sum, const struct timeval *time)
{
	task_add_time(sum, (time_value_t){.seconds = time->tv_sec, .microseconds = time->tv_usec});
}

void usage_add(struct rusage *sum, const struct rusage *usage)
{
	task_add_timeval(&sum->ru_utime, &usage->ru_utime);
	task_add_timeval(&sum->ru_stime, &usage->ru_stime);
	if (sum->ru_maxrss < usage->ru_maxrss)
		sum->ru_maxrss = usage->ru_maxrss;
	sum->ru_minflt += usage->ru_minflt;
	sum->ru_majflt += usage->ru_majflt;
	sum->ru_zfill += usage->ru_zfill;
	sum->ru_cow += usage->ru_cow;
	sum->ru_reactivations += usage->ru_reactivations;
	sum->ru_msgsnd += usage->ru_msgsnd;
	sum->ru_msgrcv += usage->ru_msgrcv;
	sum->ru_nsignals += usage->ru_nsignals;
}
