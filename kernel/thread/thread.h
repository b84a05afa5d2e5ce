/* SPDX-License-Identifier: MIT */
/*
 * Threads.
 *
 * A thread is a kernel stack and what has to be known to run on it.  A user thread has, at the very
 * top of the stack, the frame of its user mode registers.
 *
 *            start               dispatch
 *   STOPPED ---------> RUNNABLE ------------> RUNNING ----> DEAD (reaped by whoever runs next)
 *      ^                 ^                    |  | exit
 *      |                 |      thread_wait   |  |
 *      |                 +------- WAITING <---+  |
 *      |                  wake, timeout, interrupt
 *      +-----------------------------------------+
 *                  suspended, at the edge
 *
 * Nobody does anything to a thread inside the kernel: what it is to do (to end, to stop, to give up
 * what it is doing) is noted in `asked`, and it does that itself at the edge of user mode, on its
 * way out.  A wait that can be interrupted counts as stopped: a suspended thread whose wait is over
 * does not go on (STOPPED, not at the edge) until it is resumed.  A thread that stands at the edge
 * has nothing on its kernel stack that anybody needs, so it can be taken away on the spot.
 *
 * Everything here is guarded by the kernel lock.
 */
#ifndef THREAD_THREAD_H
#define THREAD_THREAD_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/task_vtimer.h>

#include "i386/cpu/cpu.h"
#include "i386/thread/thread_state.h"
#include "ipc/message.h"
#include <assay/list.h>
#include "base/may_block.h"
#include "base/timer.h"
#include "thread/run_queue.h"

struct cpu;
struct owner;
struct port;
struct share;
struct task;

#define THREAD_MAGIC 0x54485244u

enum thread_state {
	THREAD_RUNNABLE,
	THREAD_RUNNING,
	THREAD_WAITING,
	THREAD_STOPPED, /* It would be runnable but for being suspended, or has not started yet. */
	THREAD_DEAD
};

/* Bits of `asked`: what a thread is to do at the edge of user mode. */
#define THREAD_ASKED_END     0x1u /* No wait that can be interrupted holds it any more. */
#define THREAD_ASKED_STOP    0x2u /* Set as long as it, its task or a hold says so. */
#define THREAD_ASKED_ABORT   0x4u /* Nor does one here; forgotten at the edge. */
#define THREAD_ASKED_EXPIRED 0x8u /* It has timers' expiries to tell of, or ticks to pay. */

#define THREAD_NAME_SIZE 32

/* Why a wait ended. */
enum wait_result {
	WAIT_WOKEN,       /* By thread_wake(). */
	WAIT_TIMED_OUT,   /* The time was over first. */
	WAIT_INTERRUPTED, /* The thread must return to user mode's edge: to end, or aborted. */
};

/*
 * What a thread waits for.  The thread's death, thread_abort() or a suspension may come in the
 * middle of any of these but the last.
 */
enum wait_kind {
	WAIT_MESSAGE,
	WAIT_ON_FAST_PATH,    /* A message too; the header of what it sent is in its inbox. */
	WAIT_ROOM,            /* For a message that it sends. */
	WAIT_PAGE,            /* From a pager, or of memory. */
	WAIT_WORD,            /* gsync_wait() */
	WAIT_TIME,            /* Nothing else. */
	WAIT_THREAD,          /* Another one's end, or that it stands still. */
	WAIT_UNINTERRUPTIBLE, /* Work for a thread of the kernel's own. */
};

/* Threads that wait for one thing. */
struct wait_queue {
	struct list waiters;
};

#define INBOX_SIZE 136u /* The answers of nearly all calls of Unix fit, stat() included. */

/*
 * What a thread that waits for a message can take, and what it got.
 *
 * The fast path passes by messages as objects of their own: it leaves a short simple message, ready
 * for its receiver, in the inbox of a thread that says by `direct` that it looks there.  Of one
 * that is too long for that only the header is in the inbox.
 */
struct receive_wait {
	const struct mach_msg_words *words; /* What it said: where, how much, if MACH_RCV_LARGE. */
	uint32_t direct;          /* Bytes that it takes past the queues; 0 with a time limit. */
	mach_msg_return_t result; /* When it is woken: */
	struct message *message; /* the message, for MACH_MSG_SUCCESS and without MACH_RCV_LARGE for
				     MACH_RCV_TOO_LARGE; NULL: look into the inbox; */
	uint32_t size;           /* or the size of the one that did not fit. */
	struct {
		struct message message; /* Its room is INBOX_SIZE; it is in no queue, ever. */
		uint8_t body[INBOX_SIZE - sizeof(mach_msg_header_t)];
	} inbox;
};

/* A name that was looked up; its entry stays there while the task has threads (space_release()). */
struct known_name {
	uint32_t name;
	struct entry *entry; /* At first one that is not in use. */
};

struct thread {
	uint32_t magic; /* THREAD_MAGIC */
	uint32_t refs;  /* Pointers to it, and one until it has ended; the last frees it. */
	/* A row that samples are made of (enum machine_who). */
	uint32_t id;    /* Small, never used again; what samples and messages to people say. */
	uint32_t label; /* On whose behalf it runs: task/label.h, */
	uint32_t home; /* and what that was at first: its task's id, 0 of a thread of the kernel. */
	uint32_t jobs; /* Those of its task. */
	const struct frame *fault_frame; /* While the kernel's touch of user memory faults. */
	struct task *task;
	enum thread_state state;
	uint8_t priority;     /* Its own, */
	uint8_t run_priority; /* and the one it is queued with: worse for one turn after a yield. */
	union {
		struct {
			uint8_t asked; /* THREAD_ASKED_* */
			bool watched;  /* Streams want its waits: prof/waits.h. */
		};
		uint16_t noted; /* Both, for one test. */
	};
	bool vm_privileged;   /* It may have the last pages: it makes memory free. */
	bool at_edge;         /* It does not run, and goes on to user mode when it does. */
	bool finishes_copy;   /* thread_abort() comes later: i386/mmu/copy.h. */
	uint8_t max_priority; /* The best that thread_priority() may give it. */
	uint8_t policy;       /* POLICY_*, and its number: noted and told, no more. */
	int policy_data;
	struct cpu *bound;   /* The only CPU it may run on, or NULL. */
	struct cpu *cpu;     /* Runs there, or ran there last. */
	struct turn turn;    /* What it may run when it is next chosen. */
	struct share *share; /* Its owner's; NULL of the system's. */
	struct share *pays;  /* Pays for its turns; NULL: whoever did before. */
	struct run_entry run_link;
	struct list task_link; /* On its task's list. */

	/* Suspension. */
	uint32_t suspend_count;         /* The users' (thread_suspend). */
	uint32_t holds;                 /* The kernel's own (thread_hold). */
	struct wait_queue stop_waiters; /* Who waits for it to stop or to end. */

	/* What it used. */
	uint32_t ticks;                 /* That came while it ran, */
	uint32_t system_ticks;          /* and of these, in kernel mode. */
	uint64_t created;               /* In cycles. */
	uint32_t expired[TASK_VTIMERS]; /* Expiries that it has to tell of: task/vtimer.h. */
	uint32_t profil_ticks;          /* Owed to its task's histogram: prof/profil.h, */
	uint32_t profil_pc;             /* which came here. */

	/* While it waits. */
	struct list wait_link;
	struct timer timeout;
	uint8_t wait_kind; /* enum wait_kind */
	enum wait_result wait_result;

	/* While it calls the kernel: thread_wake_all_soon(). */
	bool hands_over;          /* Whoever is left for it to wake then is woken. */
	struct wait_queue *owing; /* One thread waits there that is left for it to wake; or NULL. */

	/*
	 * Ports: the one that stands for it, NULL once it ends, and send rights that it was given.
	 */
	struct port *port;
	struct port *self_port;      /* What mach_thread_self() gives: usually a right to `port`. */
	struct port *exception_port; /* PORT_NULL: none. */
	struct message *answer; /* For the kernel's answers to its calls; NULL before the first. */
	struct port *answer_port; /* The kernel's, for answers of exception handlers, kept for the
				     next exception; nobody has a right to it now.  Or NULL. */

	uint32_t serves; /* By what name it got the request that it works on: task/label.h. */
	uint32_t input;  /* While it has none: the event of the device that it works for; or 0. */

	struct known_name sends_to, receives_from; /* By its last mach_msg() of the usual kind. */

	char name[THREAD_NAME_SIZE]; /* For people; empty: its task's. */

	struct receive_wait receive; /* From its inbox on nothing is cleared for a new thread. */

	/* The wait of a thread that is watched (prof/waits.h). */
	uint32_t waits_for;  /* PROF_WAIT_*; 0: it runs. */
	uint32_t wait_label; /* On whose behalf it waits, */
	uint64_t wait_since; /* and since when: nanoseconds. */

	struct machine_thread machine; /* Last: it is the machine's to initialise. */
};

#define WAIT_FOREVER UINT64_MAX

static inline bool thread_is_dying(const struct thread *thread)
{
	return (thread->asked & THREAD_ASKED_END) != 0;
}

/* Whether it is to go to the edge of user mode, where it ends or forgets that it was aborted, and
 * not to wait before that. */
static inline bool thread_is_interrupted(const struct thread *thread)
{
	return thread_is_dying(thread) ||
	       ((thread->asked & THREAD_ASKED_ABORT) != 0 && !thread->finishes_copy);
}

/* Whether it works for whoever the input is for of the device with this event. */
static inline bool thread_serves_input(const struct thread *thread, uint32_t event)
{
	return thread->serves == MACH_PORT_NULL && thread->input == event;
}

/* References: each pointer that outlives a wait is one.  The last one frees the structure. */
static inline struct thread *thread_reference(struct thread *thread)
{
	thread->refs++;
	return thread;
}

void thread_release(struct thread *thread);

/* ---------------- Waiting ---------------- */

void wait_queue_init(struct wait_queue *queue);

/*
 * Waits on `queue` until woken, or until tick `due` (WAIT_FOREVER: no limit).  May block: loses the
 * kernel lock meanwhile.
 */
enum wait_result thread_wait(struct wait_queue *queue, uint64_t due, enum wait_kind kind);

/*
 * Waits on `queue` as thread_wait() does without a limit, and gives the CPU to `to`, whose wait is
 * over (WAIT_WOKEN): at once and without the run queues where that is possible.
 */
enum wait_result thread_wait_handoff(struct wait_queue *queue, enum wait_kind kind,
				     struct thread *to);

/* As thread_wait(); `to` runs next whatever its priority, if it is not NULL and can run here. */
enum wait_result thread_wait_to(struct wait_queue *queue, uint64_t due, enum wait_kind kind,
				struct thread *to);

/* For thread_wake_all(): there are some. */
void thread_wake_waiters(struct wait_queue *queue);

/* Wakes all threads that wait on `queue`. */
static inline void thread_wake_all(struct wait_queue *queue)
{
	if (!list_empty(&queue->waiters))
		thread_wake_waiters(queue);
}

/*
 * As thread_wake_all(), perhaps not before the call of the kernel that the current thread makes is
 * over, or waits: if there is one, and the caller is about to wait, that gets the CPU without the
 * run queues (kernel_object_send_before_wait()).  What the queue is in lives as long as somebody
 * waits there.
 */
void thread_wake_all_soon(struct wait_queue *queue);

/* Wakes now whom the current thread owes that. */
void thread_pay_wake(struct thread *thread);

/* Whether a thread that waits does so without a time limit. */
static inline bool thread_waits_forever(const struct thread *thread)
{
	return !timer_is_set(&thread->timeout);
}

/* Ends the wait of one waiting thread. */
void thread_wake(struct thread *thread, enum wait_result result);

/*
 * The wait of a waiting thread is over, but it is not made runnable yet: says whether it may be, or
 * is suspended and was left stopped.
 */
bool thread_end_wait(struct thread *thread, enum wait_result result);

/* ---------------- Making ---------------- */

void thread_module_init(void);

/* A thread of the kernel that runs `function`; NULL when there is no memory.  It is runnable. */
struct thread *thread_create_kernel(void (*function)(void), unsigned priority);

/*
 * A thread of `task`, which has not ended, that starts in user mode at `entry` with stack pointer
 * `stack`; it has its port, and is stopped: thread_start() lets it go, unless it is suspended.
 * NULL when there is no memory.  The caller gets no reference.
 */
struct thread *thread_create_user(struct task *task, uint32_t entry, uint32_t stack,
				  unsigned priority);
void thread_start(struct thread *thread);

/* The thread that `cpu` runs when nothing else is runnable; NULL when there is no memory. */
struct thread *thread_create_idle(struct cpu *cpu);

/* Makes what runs since boot, on the boot stack, a thread: the boot CPU's idle thread. */
struct thread *thread_create_boot(void);

/* First code of every new thread, on its own stack. */
void thread_begin(void);

/* Every thread whose policy is not allowed any more is back to time sharing. */
void thread_policies_reset(void);

/* The thread `id` of `task`, or NULL. */
struct thread *thread_find(struct task *task, uint32_t id);

/* ---------------- Ending ---------------- */

/*
 * The thread is to end, and its port is dead when this returns.  One that stands at the edge of
 * user mode is gone, memory and all, and its task with it if it was the last of a boot program; any
 * other ends when it comes there.
 */
void thread_kill(struct thread *thread);

/* Ends the current thread, at the edge of user mode or in a kernel thread. */
noreturn void thread_exit(void);

/* Takes a dead thread apart once nothing runs on its stack any more. */
void thread_reap(struct thread *thread);

/* ---------------- Stopping: thread_stop.c ---------------- */

/* Brings `asked` in line with the counts of the thread and its task, and the thread with that. */
void thread_update_stop(struct thread *thread);

/* Whether a thread that is asked to stop has done so: it waits, interruptibly, or does not run. */
bool thread_stands_still(const struct thread *thread);

/*
 * Waits until a thread that was asked to stop stands still, or is resumed or gone.  The caller has
 * a reference, and is not that thread.  KERN_ABORTED if the caller is interrupted.  May block.
 */
kern_return_t thread_await_stop(struct thread *thread);

/*
 * Makes `thread`, not the current one, stand still for the kernel's own purposes; thread_unhold()
 * lets it go.  KERN_ABORTED if the caller is interrupted and KERN_FAILURE if the thread ends:
 * nothing is held then.  May block.
 */
kern_return_t thread_hold(struct thread *thread);
void thread_unhold(struct thread *thread);

/* Ends the interruptible waits of `thread` until it comes to the edge of user mode. */
void thread_interrupt(struct thread *thread);

/*
 * Before a wait that can be interrupted, for a thread that is asked something: whether not to wait.
 */
bool thread_asked_before_wait(struct thread *thread);

/*
 * At the edge of user mode, for a current thread that is asked something: it does that.  May block,
 * and does not return to a thread that is to end.
 */
void thread_do_asked(void);

#endif
