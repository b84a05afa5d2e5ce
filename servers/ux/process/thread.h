/* SPDX-License-Identifier: MIT */
/*
 * Threads of processes.
 *
 * Each has a port by which it calls the server.  The receive right is in the server's port set, and
 * its protected payload names the thread: a place in the table of threads, and how often the place
 * has been used, so that a request that arrives after the thread's end finds nobody.
 */
#ifndef UX_THREAD_H
#define UX_THREAD_H

#include <assay/list.h>
#include "core/ux.h"
#include "signal/signal.h"

/*
 * Of one thread, under way at a time: one, and those of handlers that broke it off and whose end it
 * has not heard of yet.  One more is answered EAGAIN.
 */
#define CALLS_MAX 4

struct trace_waiter;

struct thread {
	struct process *process;
	struct list link; /* In process->threads. */
	int id;           /* Within its process: 1 for the first. */
	uint32_t payload;
	mach_port_t call_port; /* Its receive right. */
	mach_port_t
		kernel; /* Control port of the kernel's thread; a name as long as this is here. */
	unsigned calls; /* Under way: server threads that work for it. */
	unsigned references; /* These, and those who let go of the lock meanwhile. */
	bool is_ending;      /* Its calls are broken off; it is freed with the last reference. */
	struct list sleeps;  /* Waits that ux_interrupt() would end: see lock.c. */
	struct thread_signals signals;
	struct trace_waiter *waiter; /* Null: its waits are not recorded. */
};

typedef struct thread *caller_t;

/* No more than so many were there at a time. */
uint32_t threads_there_were(void);

/*
 * Null if there is no such thread any more.  What generated stubs call; a routine is never called
 * with null, nor for a thread that is ending (serve.c).
 */
struct thread *caller_of_payload(unsigned long payload);
struct thread *caller_of_port(mach_port_t port);

/* The thread that calls by this port, which has come in a message; null: none does. */
struct thread *thread_of_call_port(mach_port_t port);

/*
 * A new thread with a port of its own, for a thread of the kernel's that exists and does not run
 * yet; takes over the right `kernel`, also if it fails: null, no memory or too many threads.  It is
 * no thread of the process before thread_enter().
 */
struct thread *thread_new(struct process *process, mach_port_t kernel);
void thread_enter(struct thread *thread);

/*
 * As thread_new(), with a new thread of the kernel's in `task`, which is to begin at `entry` with
 * `stack` as its stack pointer when it is resumed.
 */
struct thread *thread_new_in(struct process *process, mach_port_t task, uint32_t entry,
			     uint32_t stack);

/* Gives a task a right to call the server as this thread: as its bootstrap port. */
bool thread_give_bootstrap(struct thread *thread, mach_port_t task);

/*
 * Takes it from its process and ends its kernel thread.  Calls under way are broken off, and the
 * memory goes with its last reference.
 */
void thread_end(struct thread *thread);
void threads_end(struct process *process); /* All that it has. */

/* Keeps the structure while the lock is given up; see is_ending after that. */
struct thread *thread_reference(struct thread *thread);
void thread_release(struct thread *thread);

/*
 * A call begins: false if there are too many, but it is counted.  With its end the process may end
 * too, if that was what it waited for: unlocks.
 */
bool thread_begin_call(struct thread *thread);
void thread_end_call(struct thread *thread);

/* The kernel has told that a port of this name is dead: whether it was a thread's.  Unlocks. */
bool thread_port_died(mach_port_t name);

/* What payloads of threads' ports never are. */
#define NOTIFY_PAYLOAD 0x1ffu

#endif
