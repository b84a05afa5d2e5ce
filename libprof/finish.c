/* SPDX-License-Identifier: MIT */
/*
 * How profiling ends: with the program, by whatever way that goes.
 *
 * `writing` is held by the thread that writes the file, with all signals blocked: another one's
 * handler waits for it.  A forked child begins with nothing, and its file has its number in its
 * name.
 */
#include <limits.h>
#include <mach.h>
#include <prof/collector.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/ports.h"
#include "gprof.h"
#include "internal.h"
#include <prof/whose.h>

bool swtch(void);

#define LINE 160

static int writing;
static bool is_automatic; /* The program leaves it to us to write the file. */
static bool is_child;     /* Of a fork: its file must not be its parent's. */
static uint32_t written;  /* Which of the beginnings gprof_stop() has written a file of. */

static void lock(sigset_t *mask)
{
	static const sigset_t all = ~(sigset_t)0;

	sigprocmask(SIG_SETMASK, &all, mask);
	while (__atomic_exchange_n(&writing, 1, __ATOMIC_ACQUIRE) != 0)
		swtch();
}

static void unlock(const sigset_t *mask)
{
	__atomic_store_n(&writing, 0, __ATOMIC_RELEASE);
	sigprocmask(SIG_SETMASK, mask, NULL);
}

/* ---------------- The file ---------------- */

static void say_not_collected(kern_return_t result)
{
	char text[LINE];

	if (result == GPROF_NOT_PROFILED) {
		__gprof_say("nothing was profiled", "call gprof_start() first");
		return;
	}
	snprintf(text, sizeof text, "what was collected cannot be had (error %d)", result);
	__gprof_say(text, "give the program more memory");
}

/* Where users say it as they do to other systems' programs; not to one that has others' rights. */
static const char *prefix(void)
{
	const char *text = getenv("GMON_OUT_PREFIX");
	bool is_own = getuid() == geteuid() && getgid() == getegid();

	return text != NULL && text[0] != '\0' && is_own ? text : NULL;
}

static const char *usual_path(void)
{
	return gprof_gmon_out != NULL && gprof_gmon_out[0] != '\0' ? gprof_gmon_out : "gmon.out";
}

static bool write_numbered(const char *name, const char *data, size_t size)
{
	char path[PATH_MAX];

	snprintf(path, sizeof path, "%s.%d", name, getpid());
	return __gprof_write_file(path, data, size);
}

static bool write_beside(const char *usual, const char *data, size_t size)
{
	struct whose own = {.task = __prof_task_number(mach_task_self_cached()),
			    .pid = (uint32_t)getpid()};

	strlcpy(own.name, getprogname(), sizeof own.name);
	return __gprof_write_beside(usual, &own, data, size);
}

/* Where nobody has said which file. */
static bool write_usual(const char *data, size_t size)
{
	const char *usual = usual_path();

	if (prefix() != NULL)
		return write_numbered(prefix(), data, size);
	if (__gprof_is_special(usual))
		return __gprof_write_file(usual, data, size);
	return is_child ? write_numbered(usual, data, size) : write_beside(usual, data, size);
}

/* To this file, or with none to the usual one. */
static bool write_to(const char *path)
{
	mach_msg_type_number_t size = 0;
	mon_data_t data = NULL;
	kern_return_t result = do_gprof_mon_dump(MACH_PORT_NULL, &data, &size);
	bool is_written;

	if (result != KERN_SUCCESS) {
		say_not_collected(result);
		return false;
	}
	is_written = path != NULL ? __gprof_write_file(path, data, size) : write_usual(data, size);
	syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)data, size);
	return is_written;
}

static uint32_t beginnings(void)
{
	return __gprof_own() != NULL ? prof_collector_beginnings(__gprof_own()) : 0;
}

/* Whether something was collected that is in no file of the program's own making. */
static bool has_something(void)
{
	return is_automatic && beginnings() != written;
}

static void end_sampling(void)
{
	sampled_pc_flavor_t none = 0;

	do_gprof_mon_switch(MACH_PORT_NULL, &none);
}

int gprof_stop(char *mon_file_name)
{
	sigset_t mask;
	bool is_done;

	lock(&mask);
	end_sampling();
	is_done = write_to(mon_file_name);
	if (is_done)
		written = beginnings();
	unlock(&mask);
	return is_done ? 0 : -1;
}

/* ---------------- Parts ---------------- */

static void say_not_switched(kern_return_t result)
{
	char text[LINE];

	snprintf(text, sizeof text, "moncontrol() has changed nothing (error %d)", result);
	__gprof_say(text, "call it when the program has begun to be profiled");
}

/* What was collected is kept, as if what comes now were the same part. */
static kern_return_t resume(gprof_options_t options, sampled_pc_flavor_t flavors)
{
	unsigned before = options.resume;
	kern_return_t result;

	options.resume = 1;
	result = do_gprof_mon_options(MACH_PORT_NULL, options);
	if (result == KERN_SUCCESS)
		result = do_gprof_mon_switch(MACH_PORT_NULL, &flavors);
	options.resume = before;
	do_gprof_mon_options(MACH_PORT_NULL, options);
	return result;
}

void __profile_control(bool is_on)
{
	static sampled_pc_flavor_t paused = SAMPLED_PC_PERIODIC; /* What went on before. */
	gprof_status_t status;
	kern_return_t result = do_gprof_mon_status(MACH_PORT_NULL, &status);

	if (result == KERN_SUCCESS && is_on != (status.flavors != 0)) {
		if (is_on) {
			result = resume(status.options, paused);
		} else {
			paused = status.flavors;
			end_sampling();
		}
	}
	if (result != KERN_SUCCESS)
		say_not_switched(result);
}

void __profile_write(void)
{
	gprof_stop(NULL);
}

/* ---------------- Ways to end ---------------- */

/* By exit() and by returning from main(): the last that is done before the system's exit. */
void __profile_exit(void)
{
	sigset_t mask;

	if (!has_something())
		return;
	lock(&mask);
	end_sampling();
	write_to(NULL);
	unlock(&mask);
}

/* A program that then cannot be executed after all goes on, and so does its sampling. */
void __profile_exec(void)
{
	sigset_t mask;

	if (!has_something())
		return;
	lock(&mask);
	write_to(NULL);
	unlock(&mask);
}

/* The signal does what it would have done; it comes when this returns. */
static void end_by_signal(int signal)
{
	const struct sigaction usual = {.sa_handler = SIG_DFL};

	__profile_exit();
	is_automatic = false;
	sigaction(signal, &usual, NULL);
	raise(signal);
}

/* To the program this is the default: libc's sigaction() takes one for the other. */
void (*__profile_handler(int signal))(int)
{
	return is_automatic && (signal == SIGINT || signal == SIGTERM) ? end_by_signal : SIG_DFL;
}

static void catch_signal(int signal)
{
	struct sigaction action;

	if (sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_DFL)
		sigaction(signal, &action, NULL);
}

void __gprof_write_at_end(void)
{
	is_automatic = true;
	catch_signal(SIGINT);
	catch_signal(SIGTERM);
}

/* ---------------- Forks ---------------- */

/* The child is sampled as its parent is, from its first moment on. */
void __profile_fork_child(void)
{
	gprof_options_t options;
	sampled_pc_flavor_t flavors;
	bool was_prepared = __gprof_forget(&flavors, &options);

	writing = 0;
	written = 0;
	is_child = true;
	__gprof_forget_registration();
	if (!was_prepared || !__gprof_is_prepared())
		return;
	do_gprof_mon_options(MACH_PORT_NULL, options);
	__gprof_register_again();
	if (flavors != 0)
		__gprof_begin(flavors);
}
