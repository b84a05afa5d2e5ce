/* SPDX-License-Identifier: MIT */
/*
 * fork(): the child is a copy of the memory and of the calling thread alone.
 *
 * The server starts the child at begin_child() with a stack pointer below the frames of the forking
 * thread; from there it jumps to where that has called setjmp().  Memory is as it was, so errno and
 * the `__thread` variables are where they were; but the child has other rights than the parent, and
 * no segment yet by which it finds them.
 *
 * Locks of the library's are held by the caller while the copy is made, so the child does not
 * inherit one whose holder is a thread that it has not.  Signals wait meanwhile: a handler could
 * want these locks, and in a child without the segment it could do nothing at all.
 */
#include <mach.h>
#include <setjmp.h>
#include <signal.h>
#include <unistd.h>

#include "../internal.h"
#include "../start/start.h"
#include "call.h"

/* Of the threads library, if that is there. */
void __threads_before_fork(void) __attribute__((weak));
void __threads_after_fork(int in_child) __attribute__((weak));

/* The forking thread: its registers and its block.  Written with the locks held. */
static jmp_buf come_back;
static struct tcb *forking;

/* Takes the locks, in the order in which the library takes more than one of them. */
static void before_fork(sigset_t *mask)
{
	static const sigset_t all = ~(sigset_t)0;

	sigprocmask(SIG_SETMASK, &all, mask);
	if (__threads_before_fork != NULL)
		__threads_before_fork();
	__stdio_before_fork();
	__malloc_before_fork();
	forking = tcb_self();
}

static void after_fork(int in_child, const sigset_t *mask)
{
	__malloc_after_fork(in_child);
	__stdio_after_fork(in_child);
	if (__threads_after_fork != NULL)
		__threads_after_fork(in_child);
	if (in_child && __profile_fork_child != NULL)
		__profile_fork_child();
	sigprocmask(SIG_SETMASK, mask, NULL);
}

static _Noreturn void begin_child(void)
{
	longjmp(come_back, 1);
}

/* Below the frames that the child comes back to. */
static uintptr_t child_stack(void)
{
	uintptr_t here = (uintptr_t)__builtin_frame_address(0);

	return (here - 1024) & ~(uintptr_t)15;
}

static void become_child(void)
{
	mach_forget_names();
	if (!__libc_begin_again(forking))
		__builtin_trap();
}

pid_t fork(void)
{
	kern_return_t result;
	sigset_t mask = 0;
	int pid = 0;

	before_fork(&mask);
	if (setjmp(come_back) != 0) {
		become_child();
		after_fork(1, &mask);
		return 0;
	}
	result = CALL(bsd_fork, (unsigned)(uintptr_t)begin_child, child_stack(), &pid);
	after_fork(0, &mask);
	return finish(result) == 0 ? pid : -1;
}

/* A copy that waits for nobody is what vfork() may be, too. */
pid_t vfork(void)
{
	return fork();
}
