/* SPDX-License-Identifier: MIT */
/* The boot programs: see bootstrap.h.  Guarded by the kernel lock. */
#include "boot/bootstrap.h"

#include <assay/traps.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/command.h"
#include "base/format.h"
#include "base/machine.h"
#include "base/owner.h"
#include "base/string.h"
#include "boot/elf.h"
#include "boot/report.h"
#include "device/ramdisk.h"
#include "host/host.h"
#include "i386/boot/multiboot.h"
#include "i386/cpu/memory.h"
#include "i386/entry/crash.h"
#include "ipc/port.h"
#include "ipc/right.h"
#include "prof/calls.h"
#include "prof/sampler.h"
#include "prof/stream.h"
#include "task/task.h"
#include "thread/run_queue.h"
#include "thread/thread.h"
#include "vm/map/map.h"
#include "vm/page/page.h"
#include "vm/pager/pageout.h"

#define STACK_SIZE (128 * 1024)

#define PERCENT 100u

static unsigned n_running; /* Programs that have not ended, but for servers, */
static unsigned n_servers; /* and those: each is in `servers`, at the number of its module. */
static struct task *servers[MAX_MODULES];
static bool one_has_ended; /* Before that no run is over, if all are servers too. */
static int first_module;   /* The first in their order that ended with a status not zero, */
static int first_status;   /* and that status; 0: none did. */

/* ---------------- The stack that a program starts with ---------------- */

/*
 * Rising from the stack pointer: argc, the addresses of the arguments, 0, 0 (the end of an empty
 * environment), and the arguments' text at the very end of the stack.
 */
static kern_return_t bootstrap_put_arguments(struct vm_map *map, const struct command *command,
					     uint32_t *stack)
{
	uint32_t words[COMMAND_MAX_ARGUMENTS + 3];
	uint32_t text = (USER_END - command->length) & ~(uint32_t)(sizeof *words - 1);
	unsigned n = 0;
	kern_return_t result;

	words[n++] = command->count;
	for (unsigned argument = 0; argument < command->count; argument++)
		words[n++] = text + (uint32_t)(command->arguments[argument] - command->text);
	words[n++] = 0;
	words[n++] = 0;
	*stack = text - n * sizeof *words;
	result = map_write(map, text, command->text, command->length);
	if (result == KERN_SUCCESS)
		result = map_write(map, *stack, words, n * sizeof *words);
	return result;
}

static const char *bootstrap_make_stack(struct task *task, const struct elf_program *program,
					const struct command *command, uint32_t *esp)
{
	uint32_t rights = ASSAY_READ | ASSAY_WRITE;

	if (program->executable_stack)
		rights |= ASSAY_EXECUTE;
	if (map_allocate(task->map, USER_END - STACK_SIZE, STACK_SIZE, rights) != KERN_SUCCESS)
		return "leaves no room for a stack";
	if (bootstrap_put_arguments(task->map, command, esp) != KERN_SUCCESS)
		return "does not fit into memory";
	return NULL;
}

/* ---------------- Programs ---------------- */

/* A task with an address space and names of its own; NULL without memory. */
static struct task *bootstrap_make_task(const char *name, int number)
{
	struct vm_map *map = map_create(NULL);

	return map == NULL ? NULL : task_new(NULL, name, map, number);
}

/* Gives the task a send right to the port, whose name as a number is left in `text`. */
static const char *bootstrap_give_port(struct task *task, struct port *port, char *text,
				       size_t size)
{
	uint32_t name;

	if (right_give(task->space, port_make_send(port), MACH_MSG_TYPE_PORT_SEND, &name) !=
	    KERN_SUCCESS)
		return "does not fit into memory";
	format_string(text, size, "%u", (unsigned)name);
	return NULL;
}

/* Replaces the `${...}` of so many bytes at `place`. */
static const char *bootstrap_substitute(struct task *task, struct command *command,
					const char *place, size_t length)
{
	static const char *const words[] = {"${host-port}", "${device-port}",
					    "${kernel-command-line}"};
	struct port *const ports[] = {host_priv_port(), host_device_port(), NULL};
	char number[sizeof "4294967295"];

	for (unsigned n = 0; n < sizeof words / sizeof words[0]; n++) {
		const char *wrong = NULL;

		if (strlen(words[n]) != length || strncmp(place, words[n], length) != 0)
			continue;
		if (ports[n] == NULL)
			return command_replace(command, place, length, arguments_line());
		wrong = bootstrap_give_port(task, ports[n], number, sizeof number);
		return wrong != NULL ? wrong : command_replace(command, place, length, number);
	}
	return "has a ${...} on its command line that stands for nothing";
}

/* Replaces what stands for something else in one argument; what it is replaced by is text. */
static const char *bootstrap_substitute_in(struct task *task, struct command *command,
					   unsigned argument)
{
	const char *wrong = NULL;
	size_t from = 0;
	size_t length;

	for (;;) {
		size_t before = command->length;
		const char *place = command_substitution(command, argument, from, &length);

		if (place == NULL || wrong != NULL)
			return wrong;
		from = (size_t)(place - command->arguments[argument]) + length;
		wrong = bootstrap_substitute(task, command, place, length);
		from += command->length - before;
	}
}

static const char *bootstrap_substitute_all(struct task *task, struct command *command)
{
	const char *wrong = NULL;

	for (unsigned argument = 0; argument < command->count && wrong == NULL; argument++)
		wrong = bootstrap_substitute_in(task, command, argument);
	return wrong;
}

/* Makes the module a task with a thread that is ready to run; NULL, or what is wrong with it. */
static const char *bootstrap_make_program(int number, struct command *command,
					  struct thread **thread)
{
	const struct boot_range *image = &boot_info.modules[number].image;
	struct task *task = bootstrap_make_task(command->arguments[0], number);
	struct elf_program program;
	const char *wrong;
	uint32_t esp;

	if (task == NULL)
		return "does not fit into memory";
	if (image->end > DIRECT_MAP_SIZE)
		return "lies beyond the memory that the kernel uses";
	wrong = bootstrap_substitute_all(task, command);
	if (wrong == NULL)
		wrong = elf_load(task->map, phys_to_virt(image->start), image->end - image->start,
				 &program);
	if (wrong == NULL)
		wrong = bootstrap_make_stack(task, &program, command, &esp);
	if (wrong != NULL)
		return wrong;
	*thread = thread_create_user(task, program.entry, esp, PRIORITY_USER);
	return *thread == NULL ? "does not fit into memory" : NULL;
}

static struct thread *bootstrap_load_module(int number)
{
	struct command command;
	struct thread *thread;
	const char *wrong = command_parse(&command, boot_info.modules[number].command);

	if (wrong != NULL)
		machine_refuse("the boot module \"%s\": %s", boot_info.modules[number].command,
			       wrong);
	wrong = bootstrap_make_program(number, &command, &thread);
	if (wrong != NULL)
		machine_refuse("the boot module \"%s\" %s", command.arguments[0], wrong);
	return thread;
}

/* The others are RAM disks (device/ramdisk.h). */
static bool bootstrap_is_program(unsigned module)
{
	return !ramdisk_is_module(boot_info.modules[module].command);
}

/* The programs are copied: the memory that the loader put them in is free. */
static void bootstrap_free_images(void)
{
	for (unsigned n = 0; n < boot_info.n_modules; n++) {
		struct boot_range image = boot_info.modules[n].image;

		if (bootstrap_is_program(n))
			page_add_range(page_trunc(image.start), page_round(image.end));
	}
}

/* All are loaded before any runs: none sees memory that another's loading changes. */
static void bootstrap_load_programs(void)
{
	struct thread *threads[MAX_MODULES];

	for (unsigned n = 0; n < boot_info.n_modules; n++)
		threads[n] = bootstrap_is_program(n) ? bootstrap_load_module((int)n) : NULL;
	if (!argument_present("pool"))
		bootstrap_free_images();
	page_levels_set();
	owner_limits_set(page_count_all() * argument_number("limits", PERCENT) / PERCENT);
	for (unsigned n = 0; n < boot_info.n_modules; n++) {
		if (threads[n] != NULL)
			thread_start(threads[n]);
	}
	crash_if_asked();
}

void start_programs(void)
{
	for (unsigned n = 0; n < boot_info.n_modules; n++)
		n_running += bootstrap_is_program(n);
	if (n_running == 0)
		machine_refuse("there is no program to run: give the kernel a boot module");
	pageout_start();
	sampler_start();
	calls_start();
	delivery_start();
	report_counts_before();
	if (thread_create_kernel(bootstrap_load_programs, PRIORITY_SYSTEM) == NULL)
		machine_refuse("there is no memory to start programs with");
}

/* Each ends by itself, now or on its way to user mode. */
static void bootstrap_end_servers(void)
{
	for (unsigned n = 0; n < MAX_MODULES; n++) {
		if (servers[n] != NULL)
			task_end(servers[n], 0);
	}
}

/*
 * Servers are for others: with the last of those they end, and with the last server the run, once
 * no task is left that has ended but has threads yet, on their way out of the kernel.
 */
static void bootstrap_end_if_over(void)
{
	if (n_running > 0 || !one_has_ended)
		return;
	if (n_servers > 0)
		bootstrap_end_servers();
	else if (tasks_ending() == 0)
		machine_exit((uint32_t)first_status);
}

void bootstrap_task_serves(struct task *task, bool serves)
{
	assert(!task->ending && task->module >= 0 && task->module < MAX_MODULES);
	if (serves == (servers[task->module] != NULL))
		return;
	servers[task->module] = serves ? task : NULL;
	n_servers += serves ? 1 : -1u;
	n_running -= serves ? 1 : -1u;
	bootstrap_end_if_over();
}

static void bootstrap_program_ended(int module, int status)
{
	one_has_ended = true;
	if (status != 0 && (first_status == 0 || module < first_module)) {
		first_module = module;
		first_status = status;
	}
	if (servers[module] == NULL) {
		assert(n_running > 0);
		n_running--;
	} else {
		servers[module] = NULL;
		n_servers--;
	}
}

void bootstrap_task_ended(int module, int status)
{
	if (module >= 0)
		bootstrap_program_ended(module, status);
	bootstrap_end_if_over();
}
