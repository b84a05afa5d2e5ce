/* SPDX-License-Identifier: MIT */
/* Processes, and the ports of their tasks and threads. */
#include <errno.h>
#include <mach.h>
#include <stdio.h>
#include <string.h>

#include <mach/task_info.h>
#include <mach/thread_info.h>

#include "common/common.h"
#include "monctl.h"
#include "target.h"

#define LIST_ROOM 100    /* Of a list of threads in a message, */
#define LIST_MORE " ..." /* which ends with this if there are more. */

/* ---------------- Processes ---------------- */

bool process_find(struct ux_process_info *info, int pid)
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX);

	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++)
		if (processes[i].pid == pid && processes[i].state != UX_ZOMBIE) {
			*info = processes[i];
			return true;
		}
	return false;
}

int process_named(const char *name, char pids[PIDS_ROOM])
{
	struct ux_process_info processes[UX_PROCESSES_MAX];
	int found = ux_processes(processes, UX_PROCESSES_MAX), count = 0, pid = NO_PID;
	size_t length = 0;

	pids[0] = '\0';
	for (int i = 0; i < found && i < UX_PROCESSES_MAX; i++) {
		if (processes[i].state == UX_ZOMBIE || strcmp(processes[i].command, name) != 0)
			continue;
		pid = processes[i].pid;
		count++;
		if (length < PIDS_ROOM)
			length += (size_t)snprintf(pids + length, PIDS_ROOM - length, " %d", pid);
	}
	return count == 1 ? pid : NO_PID;
}

void report_no_process(int pid)
{
	report("there is no process %d; ps -a lists them, and what ends soon is sampled by: "
	       "monctl -run COMMAND",
	       pid);
}

/* ---------------- Tasks ---------------- */

uint32_t task_number(mach_port_t task)
{
	struct task_id_info info = {0};
	mach_msg_type_number_t count = TASK_ID_INFO_COUNT;

	if (task_info(task, TASK_ID_INFO, (task_info_t)&info, &count) != KERN_SUCCESS)
		return 0;
	return info.id;
}

static void report_no_task(int pid)
{
	if (errno == ESRCH)
		report_no_process(pid);
	else if (errno != EPERM && errno != EACCES)
		report("process %d: %s", pid, strerror(errno));
	else if (pid == PID_SERVER)
		report("the Unix server: only root and the group kmem may sample it");
	else
		report("process %d is not yours: only its owner and root may sample it", pid);
}

bool target_find(struct target *target, int pid)
{
	*target = (struct target){.pid = pid, .task = task_by_pid(pid)};
	if (target->task == MACH_PORT_NULL) {
		report_no_task(pid);
		return false;
	}
	target->task_id = task_number(target->task);
	return target->task_id != 0 || !target_report_ended(target);
}

/* A process that executes another program has another task. */
static bool executes_another(const struct target *target)
{
	struct ux_process_info info;

	return task_number(target->task) == 0 && process_find(&info, target->pid);
}

void target_note_exec(const struct target *target)
{
	struct ux_task_life life;

	if (!target->is_followed && ux_task_life(target->task_id, &life) == 0 &&
	    life.state == UX_LIFE_EXECUTED)
		report("process %d executes another program now, which was not sampled; "
		       "-children follows it",
		       target->pid);
}

bool target_report_ended(const struct target *target)
{
	if (task_number(target->task) != 0)
		return false;
	if (executes_another(target))
		report("process %d executes another program now: say it again for that one",
		       target->pid);
	else
		report("process %d has ended meanwhile; one that ends soon is sampled by: "
		       "monctl -run COMMAND",
		       target->pid);
	return true;
}

mach_port_t target_host(const char *what)
{
	mach_port_t host = task_by_pid(PID_HOST);

	if (host == MACH_PORT_NULL)
		report("%s: %s", what,
		       errno == EPERM ? "only root may do that: it is about the whole machine"
				      : strerror(errno));
	return host;
}

/* ---------------- Threads ---------------- */

static uint32_t thread_number(mach_port_t thread)
{
	struct thread_id_info info = {0};
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;

	thread_info(thread, THREAD_ID_INFO, (thread_info_t)&info, &count);
	return info.id;
}

static void list_thread(char list[LIST_ROOM], bool *is_full, uint32_t number)
{
	size_t length = strlen(list);
	size_t room = LIST_ROOM - sizeof(LIST_MORE) + 1 - length;

	if (*is_full)
		return;
	*is_full = (size_t)snprintf(list + length, room, " %lu", (unsigned long)number) >= room;
	if (*is_full)
		strcpy(list + length, LIST_MORE);
}

mach_port_t target_thread(const struct target *target, uint32_t id)
{
	char list[LIST_ROOM] = "";
	bool is_full = false;
	thread_array_t threads = NULL;
	mach_msg_type_number_t count = 0;
	mach_port_t found = MACH_PORT_NULL;

	if (task_threads(target->task, &threads, &count) != KERN_SUCCESS) {
		if (!target_report_ended(target))
			report("process %d does not tell its threads", target->pid);
		return MACH_PORT_NULL;
	}
	for (unsigned i = 0; i < count; i++) {
		uint32_t number = thread_number(threads[i]);

		if (number == id)
			found = threads[i];
		else
			mach_port_deallocate(mach_task_self_cached(), threads[i]);
		list_thread(list, &is_full, number);
	}
	vm_deallocate(mach_task_self_cached(), (vm_address_t)threads, count * sizeof(*threads));
	if (found == MACH_PORT_NULL)
		report("process %d has no thread %lu; it has%s", target->pid, (unsigned long)id,
		       list);
	return found;
}
