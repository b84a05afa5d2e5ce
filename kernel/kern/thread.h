/* SPDX-License-Identifier: MIT */
/*
 * Threads.
 *
 * A thread is a kernel stack and what has to be known to run on it.  A user thread has, at the very
 * top of the stack, the frame of its user mode registers.
 *
 *            create              dispatch
 *   (none) ---------> RUNNABLE ------------> RUNNING ----> DEAD (reaped by whoever runs next)
 *                        ^                    |  exit
 *                        |      thread_wait   |
 *                        +------- WAITING <---+
 *                         wake, timeout, interrupt
 *
 * A thread never dies inside the kernel: it is marked (`dying`), woken from waits that can be
 * interrupted, and ends on its way to user mode.  Everything here is guarded by the kernel lock.
 */
#ifndef KERN_THREAD_H
#define KERN_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include <mach/kern_return.h>

#include "i386/cpu.h"
#include "i386/thread_state.h"
#include "kern/list.h"
#include "kern/timer.h"

struct cpu;
struct task;
struct wait_queue;

#define THREAD_MAGIC 0x54485244u

enum thread_state {
	THREAD_RUNNABLE,
	THREAD_RUNNING,
	THREAD_WAITING,
	THREAD_DEAD
};

/* Why a wait ended. */
enum wait_result {
	WAIT_WOKEN,       /* By thread_wake(). */
	WAIT_TIMED_OUT,   /* The time was over first. */
	WAIT_INTERRUPTED, /* The thread is to end; it must return to user mode's edge. */
};

/* Whether the thread's death may end a wait. */
enum wait_kind {
	WAIT_INTERRUPTIBLE,
	WAIT_UNINTERRUPTIBLE
};

struct thread {
	uint32_t magic; /* THREAD_MAGIC */
	uint32_t id;    /* Small, never used again; what samples and messages to people say. */
	struct task *task;
	enum thread_state state;
	uint8_t priority;     /* Its own, */
	uint8_t run_priority; /* and the one it is queued with: worse for one turn after a yield. */
	uint8_t turn;         /* Ticks that it may run when it is next chosen. */
	bool dying;
	struct cpu *bound; /* The only CPU it may run on, or NULL. */
	struct cpu *cpu;   /* Runs there, or ran there last. */
	struct list run_link;
	struct list task_link; /* On its task's list. */

	/* While it waits. */
	struct list wait_link;
	struct timer timeout;
	enum wait_kind wait_kind;
	enum wait_result wait_result;

	struct machine_thread machine;
};

/* Threads that wait for one thing. */
struct wait_queue {
	struct list waiters;
};

#define WAIT_FOREVER UINT64_MAX

void wait_queue_init(struct wait_queue *queue);

/*
 * Waits on `queue` until woken, or until tick `due` (WAIT_FOREVER: no limit).  May block: loses the
 * kernel lock meanwhile.
 */
enum wait_result thread_wait(struct wait_queue *queue, uint64_t due, enum wait_kind kind);

/* Wakes all threads that wait on `queue`. */
void thread_wake_all(struct wait_queue *queue);

/* Ends the wait of one waiting thread. */
void thread_wake(struct thread *thread, enum wait_result result);

void thread_module_init(void);

/* A thread of the kernel that runs `function`; NULL when there is no memory.  It is runnable. */
struct thread *thread_create_kernel(void (*function)(void), unsigned priority);

/*
 * A thread of `task` that starts in user mode at `entry` with stack pointer `stack`; not yet
 * runnable: thread_start() makes it so.  NULL when there is no memory.
 */
struct thread *thread_create_user(struct task *task, uint32_t entry, uint32_t stack,
				  unsigned priority);
void thread_start(struct thread *thread);

/* The thread that `cpu` runs when nothing else is runnable; NULL when there is no memory. */
struct thread *thread_create_idle(struct cpu *cpu);

/* Makes what runs since boot, on the boot stack, a thread: the boot CPU's idle thread. */
struct thread *thread_create_boot(void);

/* Marks a thread to end and wakes it so that it does. */
void thread_kill(struct thread *thread);

/* Ends the current thread, at the edge of user mode or in a kernel thread. */
noreturn void thread_exit(void);

/* First code of every new thread, on its own stack. */
void thread_begin(void);

/* Frees a dead thread once nothing runs on its stack any more. */
void thread_reap(struct thread *thread);

/* The thread `id` of `task`, or NULL. */
struct thread *thread_find(struct task *task, uint32_t id);

/* Asserts that the caller may block: nothing half changed, no interrupt handler, lock held once. */
void may_block(void);

#endif
