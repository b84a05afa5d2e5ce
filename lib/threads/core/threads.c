/* SPDX-License-Identifier: MIT */
/*
 * Threads from their beginning to their end.
 *
 * Signals wait while a thread begins and ends: a handler needs the thread's block, and a stack.
 *
 * A thread cannot free the stack on which it runs, and who joins it cannot know when it is done
 * with that.  So the kernel does both at once: thread_terminate_release() takes the memory away and
 * ends the thread.  The server is told by the kernel that the thread is gone.
 *
 * `lock` guards the list of threads and what struct cthread says is guarded by it.
 */
#include <errno.h>
#include <mach.h>
#include <stdlib.h>
#include <unistd.h>
#include <ux/bsd.h>

#include <start/start.h>
#include <internal.h>

#include "entry.h"
#include "thread.h"

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;

static struct cthread first = {.id = FIRST_THREAD, .link = LIST_INITIALIZER(first.link)};

/* The other threads are in a ring with the first one, which stays in it when it has ended. */
static struct list *const threads = &first.link;
static unsigned count = 1;

static const sigset_t all_signals = ~(sigset_t)0;

struct cthread *__thread_self(void)
{
	struct cthread *self = tcb_self()->thread;

	return self != NULL ? self : &first;
}

unsigned __thread_count(void)
{
	return __atomic_load_n(&count, __ATOMIC_RELAXED);
}

/* ---------------- Beginning ---------------- */

static struct cthread *thread_new(size_t stack_size)
{
	struct cthread *thread = calloc(1, sizeof *thread);

	if (thread == NULL)
		return NULL;
	thread->area = __area_allocate(stack_size, &thread->area_size);
	if (thread->area != NULL)
		return thread;
	free(thread);
	return NULL;
}

static void discard(struct cthread *thread)
{
	__area_free(thread->area, thread->area_size);
	free(thread);
}

/* The lock is held, so that the thread cannot end before it is known by its number. */
static int start(struct cthread *thread)
{
	uintptr_t stack = (uintptr_t)__area_block(thread->area, thread->area_size);
	int result;

	do {
		result =
			bsd_thread_start(ux_port(), (unsigned)(uintptr_t)__thread_entry,
					 (unsigned)stack, (unsigned)(uintptr_t)thread, &thread->id);
	} while (result == ERESTARTSYS);
	if (result != 0)
		return result > 0 && result <= ELAST ? result : EAGAIN;
	list_add_last(threads, &thread->link);
	count++;
	return 0;
}

int __thread_start(struct cthread **started, void *(*function)(void *), void *argument,
		   size_t stack_size, bool is_detached)
{
	struct cthread *thread = thread_new(stack_size);
	sigset_t mask;
	int result;

	if (thread == NULL)
		return EAGAIN;
	thread->function = function;
	thread->argument = argument;
	thread->is_detached = is_detached;
	sigprocmask(SIG_SETMASK, &all_signals, &mask);
	thread->mask = mask;
	*started = thread;
	__lock(&lock);
	result = start(thread);
	__unlock(&lock);
	sigprocmask(SIG_SETMASK, &mask, NULL);
	if (result != 0)
		discard(thread);
	return result;
}

_Noreturn void __thread_begin(int id, mach_port_t port, struct cthread *self)
{
	struct tcb *block = __tcb_make(__area_block(self->area, self->area_size), port, id);

	block->thread = self;
	if (!__tcb_use(block))
		__builtin_trap(); /* No memory in the kernel, and the starter believes it runs. */
	sigprocmask(SIG_SETMASK, &self->mask, NULL);
	__thread_end(self->function(self->argument));
}

/* ---------------- Ending ---------------- */

/* Ends the kernel's thread, and the area on which it has run until here. */
static _Noreturn void leave(void *area, size_t size)
{
	mach_port_t task = mach_task_self_cached();
	mach_port_t thread = mach_thread_self();

	syscall_mach_port_deallocate(task, ux_port());
	while (mach_await_memory(thread_terminate_release(thread, task, thread, MACH_PORT_NULL,
							  (vm_address_t)area, size)))
		continue;
	__builtin_trap();
}

enum retirement {
	IS_LAST, /* Nothing was done. */
	IS_JOINABLE,
	IS_DETACHED
};

/* Takes the caller out of the list.  If somebody may join it, it is theirs from then on. */
static enum retirement retire(struct cthread *self, void *result)
{
	enum retirement how = self->is_detached ? IS_DETACHED : IS_JOINABLE;

	if (count == 1)
		return IS_LAST;
	count--;
	if (self != &first)
		list_remove(&self->link);
	self->result = result;
	if (how == IS_JOINABLE)
		__atomic_store_n(&self->has_ended, 1, __ATOMIC_RELEASE);
	return how;
}

static void forget(struct cthread *thread)
{
	if (thread != &first)
		free(thread);
}

_Noreturn void __thread_end(void *result)
{
	struct cthread *self = __thread_self();
	void *area = self->area;
	size_t size = self->area_size;
	enum retirement how;
	sigset_t mask;

	__keys_destroy(self);
	sigprocmask(SIG_SETMASK, &all_signals, &mask);
	__lock(&lock);
	how = retire(self, result);
	__unlock(&lock);
	if (how == IS_LAST) {
		sigprocmask(SIG_SETMASK, &mask, NULL);
		exit(0);
	}
	if (how == IS_JOINABLE)
		__word_wake_all(&self->has_ended); /* Of which nothing but its address is used. */
	else
		forget(self);
	leave(area, size);
}

/* ---------------- Joining ---------------- */

/* Marks the thread as one that somebody joins; false if nobody can, or another one does. */
static bool claim(struct cthread *thread)
{
	bool is_free;

	__lock(&lock);
	is_free = !thread->is_detached && !thread->is_joined;
	if (is_free)
		thread->is_joined = true;
	__unlock(&lock);
	return is_free;
}

int __thread_join(struct cthread *thread, void **result)
{
	if (thread == __thread_self())
		return EDEADLK;
	if (!claim(thread))
		return EINVAL;
	while (__atomic_load_n(&thread->has_ended, __ATOMIC_ACQUIRE) == 0)
		__word_wait(&thread->has_ended, 0, NULL);
	if (result != NULL)
		*result = thread->result;
	forget(thread);
	return 0;
}

/* A thread that ends later frees itself, perhaps as soon as the lock is given up. */
int __thread_detach(struct cthread *thread)
{
	bool is_free, has_ended;

	__lock(&lock);
	is_free = !thread->is_detached && !thread->is_joined;
	has_ended = thread->has_ended != 0;
	if (is_free)
		thread->is_detached = true;
	__unlock(&lock);
	if (is_free && has_ended)
		forget(thread);
	return is_free ? 0 : EINVAL;
}

int __thread_signal(struct cthread *thread, int signal)
{
	if (__atomic_load_n(&thread->has_ended, __ATOMIC_ACQUIRE) != 0)
		return ESRCH;
	return thread_kill(thread->id, signal) == 0 ? 0 : errno;
}

/* ---------------- Forking ---------------- */

void __threads_before_fork(void);
void __threads_after_fork(int in_child);

void __threads_before_fork(void)
{
	__lock(&lock);
}

/* Of the child's memory: the threads that it has not. */
static void forget_others(struct cthread *self)
{
	struct list *link = threads->next;

	while (link != threads) {
		struct cthread *thread = list_object(link, struct cthread, link);

		link = link->next;
		list_remove(&thread->link);
		if (thread != self)
			discard(thread);
	}
	if (self != &first)
		list_add_last(threads, &self->link);
	else
		first.has_ended = 0;
	self->id = FIRST_THREAD;
	count = 1;
}

void __threads_after_fork(int in_child)
{
	if (in_child)
		forget_others(__thread_self());
	__unlock(&lock);
}
