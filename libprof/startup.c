/* SPDX-License-Identifier: MIT */
/*
 * How profiling begins: before main(), or when the program says so.
 *
 * Nothing that goes wrong here keeps the program from running: it is told, and whatever else can be
 * had is collected.
 */
#include <mach.h>
#include <prof/collector.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ux.h>
#include <unistd.h>

#include "gprof.h"
#include "internal.h"

#define PAGE 4096u

/* The linker's: from the ELF header to behind the last instruction. */
extern const char __executable_start[], etext[];

/* ---------------- What is sampled ---------------- */

/* The token of this program's own process: zero, which nobody has, if it cannot be had. */
static void get_token(gprof_token_t token)
{
	_Static_assert(sizeof(gprof_token_t) == UX_TOKEN_ROOM, "the server's is this program's");

	if (ux_gprof_token(0, token) != 0)
		__gprof_say("the Unix server gives no token: gprof_owner_only admits nobody",
			    "this needs a server of the same version");
}

static struct prof_collector *own; /* This program's; NULL: there is none. */

static struct prof_collector_target this_program(void)
{
	struct prof_collector_target target = {
		.task = mach_task_self_cached(),
		.low = (uint32_t)(uintptr_t)__executable_start,
		.high = (uint32_t)(uintptr_t)etext,
		.image = __executable_start,
		.image_size = PAGE, /* More need not be in memory. */
		.runs_here = true,
		.pid = (uint32_t)getpid(),
		.name = getprogname(),
		.counts_calls = true,
		.owner_only = gprof_owner_only != 0,
		.other = __gprof_hear,
	};

	if (target.owner_only)
		get_token(target.token);
	return target;
}

struct prof_collector *__gprof_own(void)
{
	return own;
}

kern_return_t __gprof_prepare(void)
{
	const gprof_options_t options = {.format = (unsigned)gprof_format};
	struct prof_collector_target target;
	kern_return_t result;

	if (own != NULL)
		return KERN_SUCCESS;
	target = this_program();
	result = prof_collector_make(&target, &own);
	if (result == KERN_SUCCESS && prof_collector_options(own, &options) != KERN_SUCCESS)
		__gprof_say("gprof_format is none of enum gprof_format: GNU's is used",
			    "see <servers/gprof_types.h>");
	if (result == KERN_SUCCESS)
		result = prof_collector_run(own);
	if (result != KERN_SUCCESS && own != NULL) {
		prof_collector_end(own);
		own = NULL;
	}
	return result;
}

bool __gprof_forget(sampled_pc_flavor_t *flavors, gprof_options_t *options)
{
	if (own == NULL)
		return false;
	*flavors = prof_collector_forget(own, options);
	own = NULL;
	return true;
}

/* ---------------- Beginning ---------------- */

int gprof_start(sample_pc_flavor_t flavor)
{
	sampled_pc_flavor_t flavors = flavor;

	return do_gprof_mon_switch(MACH_PORT_NULL, &flavors);
}

static void say_result(const char *what, kern_return_t result, const char *advice)
{
	char text[160];

	snprintf(text, sizeof text, "%s (error %d)", what, result);
	__gprof_say(text, advice);
}

void __gprof_begin(sample_pc_flavor_t flavors)
{
	kern_return_t result = gprof_start(flavors);

	if (result == GPROF_NO_SAMPLING)
		__gprof_say("the kernel does not sample: calls are counted all the same",
			    "end other profilers and start again");
	else if (result != KERN_SUCCESS)
		say_result("profiling cannot be started", result, "the program runs without");
}

bool __gprof_is_prepared(void)
{
	kern_return_t result = __gprof_prepare();

	if (result != KERN_SUCCESS)
		say_result("profiling cannot be prepared", result, "the program runs without");
	return result == KERN_SUCCESS;
}

void monstartup_crt0(void)
{
	if (gprof_no_auto_initialization_from_crt0 || !__gprof_is_prepared())
		return;
	__gprof_write_at_end();
	if (!gprof_no_control_server)
		gprof_control_server_init();
	if (!gprof_no_startup_from_crt0)
		__gprof_begin(SAMPLED_PC_PERIODIC);
}
