/* SPDX-License-Identifier: MIT */
/*
 * A program that ends by what it did wrong is told what that was, where and why, in one line:
 *
 *     crash[37]: SIGSEGV, a store to 0x00000000 in main+0x12 (0x08048123): nothing is mapped there
 *
 * Names come from programs and their files, and may be meant to mislead: no more of them is shown
 * than characters that names are made of.  Where a program has more rights than who started it, he
 * is not told where it was.  Nothing here allocates memory.  Who makes program after program that
 * ends so has a few lines, and then the number of the others.  Guarded by ux_lock.
 */
#include <mach/assay.h>
#include <mach/owner.h>
#include <mach/thread_status.h>
#include <sys/unistd.h>
#include <sys/wait.h>

#include "fs/vnode.h"
#include "process/function.h"
#include "process/process.h"
#include "process/thread.h"
#include "signal/signal.h"
#include "trace/trace.h"

/* So many ends of a user's processes are told at once, and one more after each rest. */
#define TOLD_AT_ONCE 10u
#define REST         (4 * (uint64_t)NANOS_PER_SECOND)
#define N_QUOTAS     16u /* Users share one whose numbers are so far apart. */

#define WHO_ROOM   48
#define WHAT_ROOM  64
#define WHY_ROOM   48
#define PLACE_ROOM (FUNCTION_NAME_MAX + 32)

/* ---------------- How many ---------------- */

struct quota {
	uint64_t since;    /* Until then rests have been counted. */
	unsigned told;     /* And not rested from yet. */
	unsigned left_out; /* Since the last that was told. */
};

static struct quota quotas[N_QUOTAS];

static void fault_count_rests(struct quota *quota)
{
	uint64_t now = ux_now();

	for (; quota->told > 0 && now - quota->since >= REST; quota->since += REST)
		quota->told--;
	if (quota->told == 0)
		quota->since = now;
}

/* Whether one more is told; the others are counted, and that is said. */
static bool fault_is_within_quota(uid_t uid)
{
	struct quota *quota = &quotas[uid % N_QUOTAS];

	fault_count_rests(quota);
	if (quota->told == TOLD_AT_ONCE) {
		if (quota->left_out++ == 0)
			ux_tell("more processes of user %u end so: from here on they are counted",
				uid);
		return false;
	}
	quota->told++;
	if (quota->left_out > 0)
		ux_tell("%u more processes of user %u have ended so", quota->left_out, uid);
	quota->left_out = 0;
	return true;
}

/* ---------------- Who ---------------- */

static const char *fault_name_of(int signal)
{
	static const char *const names[NSIG] = {
		[SIGILL] = "SIGILL", [SIGTRAP] = "SIGTRAP", [SIGBUS] = "SIGBUS",
		[SIGFPE] = "SIGFPE", [SIGKILL] = "SIGKILL", [SIGSEGV] = "SIGSEGV",
		[SIGSYS] = "SIGSYS",
	};

	assert(names[signal] != NULL);
	return names[signal];
}

/* Thread 1 is the first and goes without saying, 0 is one that the server has not made. */
static void fault_write_who(char who[WHO_ROOM], const struct process *process, int thread)
{
	char name[sizeof process->command];

	function_copy_name(name, process->command, sizeof name - 1);
	if (thread > 1)
		format(who, WHO_ROOM, "%s[%d], thread %d", name, process->pid, thread);
	else
		format(who, WHO_ROOM, "%s[%d]%s", name, process->pid,
		       thread == 0 ? ", another thread" : "");
}

/* Whether it has only the rights of who started it, or of root, who may know anything. */
static bool fault_is_his_own(const struct process *process)
{
	return owner_of(process) == process->credentials.uid;
}

/* ---------------- What ---------------- */

struct wrong {
	int signal, code;
	const char *what;
};

static const char *fault_instruction(const struct signal_info *info)
{
	static const struct wrong wrongs[] = {
		{SIGBUS, BUS_ADRALN, "an access that is not aligned"},
		{SIGILL, ILL_ILLOPC, "an unknown instruction"},
		{SIGILL, ILL_PRVOPC, "a forbidden instruction"},
		{SIGFPE, FPE_INTDIV, "a division by zero, or with too large a result"},
		{SIGFPE, FPE_INTOVF, "an overflow"},
		{SIGFPE, FPE_FLTINV, "an error of the FPU"},
		{SIGFPE, FPE_FLTSUB, "an index out of bounds"},
		{SIGTRAP, TRAP_TRACE, "a step"},
		{SIGTRAP, TRAP_BRKPT, "a breakpoint"},
		{0, 0, "an exception"},
	};
	const struct wrong *wrong = wrongs;

	while (wrong->signal != 0 && (wrong->signal != info->signal || wrong->code != info->code))
		wrong++;
	return wrong->what;
}

/* What the thread wanted of an address, as the kernel knows while it is in its exception. */
enum touch {
	TOUCH_UNKNOWN,
	TOUCH_LOAD,
	TOUCH_STORE,
	TOUCH_JUMP
};

static enum touch fault_touch_of(mach_port_t kernel, const struct signal_info *info)
{
	struct i386_trap_state state;
	mach_msg_type_number_t count = i386_TRAP_STATE_COUNT;

	if (info->cause != CAUSE_TOUCH ||
	    thread_get_state(kernel, i386_TRAP_STATE, (thread_state_t)&state, &count) !=
		    KERN_SUCCESS ||
	    state.trapno != TRAP_PAGE_FAULT)
		return TOUCH_UNKNOWN;
	if ((state.err & TRAP_ERROR_WRITE) != 0)
		return TOUCH_STORE;
	/* Where pages cannot be without the right to execute a fetch is told as a load. */
	return (state.err & TRAP_ERROR_FETCH) != 0 || info->address == info->pc ? TOUCH_JUMP
										: TOUCH_LOAD;
}

static void fault_write_what(char what[WHAT_ROOM], const struct signal_info *info, enum touch touch)
{
	static const char *const touches[] = {
		[TOUCH_UNKNOWN] = "a touch of",
		[TOUCH_LOAD] = "a load from",
		[TOUCH_STORE] = "a store to",
		[TOUCH_JUMP] = "a jump to",
	};

	if (info->cause == CAUSE_INSTRUCTION)
		format(what, WHAT_ROOM, "%s", fault_instruction(info));
	else if (info->cause == CAUSE_FRAME)
		format(what, WHAT_ROOM, "a handler's frame at 0x%08x", info->address);
	else
		format(what, WHAT_ROOM, "%s 0x%08x", touches[touch], info->address);
}

/* ---------------- Why ---------------- */

/* Whether the user has as many pages as he may have. */
static bool fault_is_at_limit(unsigned user)
{
	const struct owner_use *pages;
	unsigned found = user;
	owner_uses_t uses;

	if (host_owner(ux_boot.host_control, &found, &uses) != KERN_SUCCESS || found != user)
		return false;
	pages = &uses.uses[OWNER_PAGES];
	return pages->limit != OWNER_NO_LIMIT && pages->used >= pages->limit;
}

static const char *fault_protection(enum touch touch)
{
	if (touch == TOUCH_STORE)
		return "it is protected against writing";
	return touch == TOUCH_JUMP ? "it is not to be executed" : "it is protected";
}

/* An empty text if what is wrong says it. */
static void fault_write_why(char why[WHY_ROOM], const struct process *process,
			    const struct signal_info *info, enum touch touch)
{
	uid_t user = owner_of(process);

	why[0] = '\0';
	if (info->cause == CAUSE_FRAME)
		format(why, WHY_ROOM, ": it cannot be used");
	else if (info->cause != CAUSE_TOUCH)
		return;
	else if (info->signal == SIGSEGV)
		format(why, WHY_ROOM, ": %s",
		       info->code == SEGV_MAPERR ? "nothing is mapped there"
						 : fault_protection(touch));
	else if (info->code == BUS_OBJERR)
		format(why, WHY_ROOM, ": its page could not be read");
	else if (fault_is_at_limit(user))
		format(why, WHY_ROOM, ": user %u has used up his memory", user);
	else
		format(why, WHY_ROOM, ": memory was out");
}

/* ---------------- Where ---------------- */

/* Finds the function; not where memory was out, as the cache may need some.  Unlocks. */
static bool fault_find_function(const struct process *process, const struct signal_info *info,
				struct function *function)
{
	struct vnode *vnode = process->executable;
	bool is_found;

	if (vnode == NULL || (info->signal == SIGBUS && info->code == BUS_ADRERR) ||
	    vnode_access(vnode, &process->credentials, R_OK) != 0)
		return false;
	vnode_reference(vnode);
	is_found = function_find(vnode, info->pc, function);
	vnode_release(vnode);
	return is_found;
}

/* Empty for a jump to what says it already.  Unlocks. */
static void fault_write_place(char place[PLACE_ROOM], const struct process *process,
			      const struct signal_info *info, enum touch touch)
{
	struct function function;

	place[0] = '\0';
	if (touch == TOUCH_JUMP && info->address == info->pc)
		return;
	if (fault_find_function(process, info, &function))
		format(place, PLACE_ROOM, " in %s+0x%x (0x%08x)", function.name, function.offset,
		       info->pc);
	else
		format(place, PLACE_ROOM, " at 0x%08x", info->pc);
}

/* ---------------- Telling ---------------- */

/* Unlocks. */
static void fault_tell_all(const struct process *process, mach_port_t kernel, int thread,
			   const struct signal_info *info)
{
	enum touch touch = fault_touch_of(kernel, info);
	char who[WHO_ROOM], what[WHAT_ROOM], why[WHY_ROOM], place[PLACE_ROOM];

	fault_write_who(who, process, thread);
	fault_write_what(what, info, touch);
	fault_write_why(why, process, info, touch);
	fault_write_place(place, process, info, touch);
	ux_tell("%s: %s, %s%s%s", who, fault_name_of(info->signal), what, place, why);
}

static void fault_tell_little(const struct process *process, int thread, int signal)
{
	char who[WHO_ROOM];

	fault_write_who(who, process, thread);
	ux_tell("%s: %s, where is not told: it has more rights than its user", who,
		fault_name_of(signal));
}

/*
 * Threads that do wrong while another one of their process is told of wait for that.  Unlocks; the
 * caller has a reference to the process.
 */
static void fault_tell(struct process *process, mach_port_t kernel, int thread,
		       const struct signal_info *info)
{
	bool *is_told = &process->signals.is_told;

	if (*is_told) {
		ux_sleep(is_told, NULL);
		return;
	}
	if (!fault_is_within_quota(process->credentials.uid))
		return;
	*is_told = true;
	if (fault_is_his_own(process))
		fault_tell_all(process, kernel, thread, info);
	else
		fault_tell_little(process, thread, info->signal);
	*is_told = false;
	ux_wakeup(is_told);
}

/* Meanwhile another thread may have executed a program, which then is not ended. */
void fault_end(struct thread *thread, const struct signal_info *info)
{
	struct process *process = process_reference(thread->process);

	assert(ux_lock_held());
	thread_reference(thread);
	if (info->cause != CAUSE_SENT)
		fault_tell(process, thread->kernel, thread->id, info);
	if (!thread->is_ending)
		trace_signal(process, thread, info, SIG_DFL_WORD, thread->signals.mask);
	if (!thread->is_ending)
		process_exit(process, W_EXITCODE(0, info->signal));
	thread_release(thread);
	process_release(process);
}

void fault_end_stranger(struct process *process, mach_port_t kernel, const struct signal_info *info)
{
	mach_port_t task = process->task;

	assert(ux_lock_held());
	process_reference(process);
	fault_tell(process, kernel, 0, info);
	if (process->task == task)
		trace_signal(process, NULL, info, SIG_DFL_WORD, 0);
	if (process->task == task)
		process_exit(process, W_EXITCODE(0, info->signal));
	process_release(process);
}

void fault_kill(struct process *process, const char *why)
{
	const struct signal_info info = {.signal = SIGKILL};
	char who[WHO_ROOM];

	assert(ux_lock_held());
	if (fault_is_within_quota(process->credentials.uid)) {
		fault_write_who(who, process, 1);
		ux_tell("%s: %s, %s", who, fault_name_of(SIGKILL), why);
	}
	process_reference(process);
	trace_signal(process, NULL, &info, SIG_DFL_WORD, 0);
	process_exit(process, W_EXITCODE(0, SIGKILL));
	process_release(process);
}

/* The kernel ends a task when memory is out; else somebody did that had a right to it. */
void fault_kill_without_task(struct process *process)
{
	unsigned found = OWNER_OTHERS;
	owner_uses_t uses;
	bool is_culprit = host_owner(ux_boot.host_control, &found, &uses) == KERN_SUCCESS &&
			  uses.culprit == process->task_id;

	fault_kill(process, is_culprit ? "memory was out, and its user had most of it"
				       : "its task was ended by whoever had a right to it");
}
