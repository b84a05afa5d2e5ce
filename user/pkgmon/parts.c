/* SPDX-License-Identifier: MIT */
/*
 * Parts: for whom, by whom.  Of servers they are made when the first sample comes, so which servers
 * work for a process need not be known before.
 */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ux.h>

#include "common/common.h"
#include "pkgmon.h"

#define PID_SERVER 0 /* The Unix server's. */

/* What is collected comes from the one stream, by collect.c. */
static struct prof_collector *make_collector(const struct collection *collection,
					     const struct part *part, pid_t pid, bool of_kernel)
{
	const struct prof_collector_target target = {
		.low = part->program->of.low,
		.high = part->program->of.high,
		.program = &part->program->of,
		.of_kernel = of_kernel,
		.pid = (uint32_t)pid,
		.task_id = part->task,
		.name = part->name,
	};
	struct prof_collector *collector;

	if (prof_collector_make(&target, &collector) != KERN_SUCCESS)
		return NULL;
	prof_collector_clear(collector, SAMPLED_PC_PERIODIC);
	if (collection->began.record.words != 0)
		prof_collector_add(collector, (const uint32_t *)&collection->began,
				   sizeof(collection->began) / sizeof(uint32_t));
	return collector;
}

static struct part *make_part(const struct collection *collection, const struct program *program,
			      uint32_t task, pid_t pid, const char *suffix, const char *name)
{
	struct part *part = allocate(sizeof(*part));

	*part = (struct part){.program = program, .task = task};
	strlcpy(part->suffix, suffix, sizeof(part->suffix));
	strlcpy(part->name, name, sizeof(part->name));
	part->collector = make_collector(collection, part, pid, task == 0);
	if (part->collector != NULL)
		return part;
	free(part);
	return NULL;
}

static struct part *add_part(struct subject *subject, struct part *part)
{
	struct part **last = &subject->parts;

	while (*last != NULL)
		last = &(*last)->next;
	*last = part;
	return part;
}

struct part *part_of_kernel(struct collection *collection, struct subject *subject)
{
	char suffix[SUFFIX_ROOM], process[NAME_ROOM];
	struct part *part;

	name_process(process, subject);
	snprintf(suffix, sizeof(suffix), "%sk", process);
	part = make_part(collection, &collection->kernel, 0, subject->pid, suffix, subject->name);
	return part != NULL ? add_part(subject, part) : NULL;
}

struct part *part_of_nobody(const struct collection *collection, const char *name)
{
	return make_part(collection, &collection->kernel, 0, 0, "-k", name);
}

/* ---------------- Servers ---------------- */

/* Which letter a server has; others have `s` and their process's number. */
static void name_server(char letters[NAME_ROOM], pid_t server, const char *command)
{
	if (server == PID_SERVER)
		strlcpy(letters, "x", NAME_ROOM);
	else if (strcmp(command, "pager") == 0)
		strlcpy(letters, "p", NAME_ROOM);
	else if (strcmp(command, "snames") == 0)
		strlcpy(letters, "n", NAME_ROOM);
	else
		snprintf(letters, NAME_ROOM, "s%d", server);
}

/* Whose task it is, and what that runs: the Unix server's is no process's.  False: nobody knows. */
static bool ask_for_program(uint32_t task, struct ux_task_program *program)
{
	if (ux_task_program(task, program) == 0)
		return true;
	*program = (struct ux_task_program){.pid = PID_SERVER};
	return task == task_number(task_by_pid(PID_SERVER)) &&
	       ux_executable(PID_SERVER, program->path, sizeof(program->path)) == 0;
}

/* The program that a task runs, once for all parts; NULL, with a report if it cannot be read. */
static const struct program *find_server(uint32_t task, pid_t *pid, char command[NAME_ROOM])
{
	static struct server {
		struct server *next;
		uint32_t task;
		pid_t pid;
		char command[NAME_ROOM];
		struct program program;
		bool is_known;
	} * servers;
	struct ux_task_program program;
	struct server *server = servers;

	while (server != NULL && server->task != task)
		server = server->next;
	if (server == NULL) {
		server = allocate(sizeof(*server));
		*server = (struct server){.next = servers, .task = task};
		servers = server;
		server->is_known = ask_for_program(task, &program) &&
				   program_read(&server->program, program.path);
		server->pid = program.pid;
		strlcpy(server->command, program.command, sizeof(server->command));
	}
	*pid = server->pid;
	strlcpy(command, server->command, NAME_ROOM);
	return server->is_known ? &server->program : NULL;
}

void name_process(char text[NAME_ROOM], const struct subject *subject)
{
	if (subject->pid == 0)
		strlcpy(text, "-", NAME_ROOM);
	else if (subject->again == 0)
		snprintf(text, NAME_ROOM, "%d", subject->pid);
	else
		snprintf(text, NAME_ROOM, "%d+%u", subject->pid, subject->again);
}

void name_part(char letters[NAME_ROOM], const struct subject *subject, uint32_t task)
{
	char command[NAME_ROOM];
	pid_t pid;

	if (task == 0)
		strlcpy(letters, "k", NAME_ROOM);
	else if (subject != NULL && task == subject->label)
		strlcpy(letters, "u", NAME_ROOM);
	else if (find_server(task, &pid, command) != NULL)
		name_server(letters, pid, command);
	else
		strlcpy(letters, "?", NAME_ROOM);
}

struct part *part_of_task(struct collection *collection, struct subject *subject, uint32_t task)
{
	char suffix[SUFFIX_ROOM], letters[NAME_ROOM], process[NAME_ROOM], command[NAME_ROOM];
	const struct program *program = subject->program.path != NULL ? &subject->program : NULL;
	pid_t pid = subject->pid;

	for (struct part *part = subject->parts; part != NULL; part = part->next)
		if (part->task == task)
			return part;
	if (task != subject->label)
		program = find_server(task, &pid, command);
	if (program == NULL)
		return NULL;
	name_part(letters, subject, task);
	name_process(process, subject);
	snprintf(suffix, sizeof(suffix), "%s%s", process, letters);
	return add_part(subject, make_part(collection, program, task, pid, suffix, subject->name));
}
