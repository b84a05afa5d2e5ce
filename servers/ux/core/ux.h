/* SPDX-License-Identifier: MIT */
/*
 * What every part of the Unix server may use: its lock, waiting, memory, and the ports that it was
 * started with.
 *
 * All data of the server is under one lock.  A thread that serves a request takes it when the
 * request has arrived, and gives it up before the answer goes out; in between it is given up only
 * in ux_sleep() and ux_sleep_until(), and where a function says `unlocks`.  Whoever has it must not
 * touch memory that the server itself pages, nor wait for anything that may depend on a server
 * thread: with the lock held, only memory of the server's own, which is wired, is touched, and only
 * the kernel is called, where it does not page.
 */
#ifndef UX_H
#define UX_H

#include <assay.h>
#include <mach.h>
#include <sys/errno.h>
#include <sys/types.h>

struct process;
struct thread;
struct vnode;

/* ---------------- The lock (lock.c) ---------------- */

void ux_lock(void);
void ux_unlock(void);
bool ux_lock_held(void); /* By this thread or another: for assertions. */

/*
 * Waits for ux_wakeup(channel), which is any address that both sides know.  Whoever wakes has
 * changed something; what, the sleeper finds out.  If `thread` is not null the wait is for a call
 * of this thread, and a signal for it ends the wait: the result is EINTR, or ERESTARTSYS if the
 * call is to be made again after the handler.  A thread that is to end counts as interrupted.
 */
int ux_sleep(const void *channel, struct thread *thread);

/* Waits until ASSAY_CLOCK_MONOTONIC says `deadline`, too: ETIMEDOUT.  Not interruptible, */
int ux_sleep_until(const void *channel, uint64_t deadline);
/* or as ux_sleep() is. */
int ux_sleep_thread_until(const void *channel, struct thread *thread, uint64_t deadline);

/* Ends all waits for the channel. */
void ux_wakeup(const void *channel);

/* Ends the waits of a thread's calls with `result`. */
void ux_interrupt(struct thread *thread, int result);

/* Nanoseconds since the kernel started, and seconds since 1970. */
uint64_t ux_now(void);
uint64_t ux_wall_time(void); /* Nanoseconds since 1970. */
time_t ux_seconds(void);

/* ---------------- Calls of the kernel's ---------------- */

/* How often the kernel may say that it has no memory; in between are one or two ticks. */
#define UX_PATIENCE 10

/*
 * A call that is made again if the kernel has no memory to make it: where a process would wait for
 * ever, or be ended, for want of it.  Its message has been tried as often (mach_msg_patience).  The
 * value is its result.
 */
#define ux_patiently(call)                                                         \
	({                                                                         \
		kern_return_t result_;                                             \
		unsigned tries_ = 0;                                               \
		do                                                                 \
			result_ = (call);                                          \
		while (result_ != MACH_SEND_NO_BUFFER && ++tries_ < UX_PATIENCE && \
		       mach_await_memory(result_));                                \
		result_;                                                           \
	})

/* ---------------- Memory (memory.c) ---------------- */

/* Wired, and zero.  Null if there is none: the call fails with ENOMEM. */
void *ux_allocate(size_t size) __attribute__((malloc));
void ux_free(void *memory); /* Null is nothing to free. */

/*
 * Has memory of the server's there, for good.  What came from somebody may have to come from his
 * pager, and so never: only without the lock, and by a call that is counted as its process's.
 */
bool ux_wire(vm_address_t address, vm_size_t size);

/* The same: 0, ENOMEM, or EFAULT if it did not come. */
int ux_wire_sent(vm_address_t address, vm_size_t size);

/* Pages, wired and zero, for caches. */
void *ux_allocate_pages(size_t size);
void ux_free_pages(void *memory, size_t size);

/* How many bytes the pages have that so many bytes need. */
size_t ux_whole_pages(size_t size);

/* ---------------- Threads (serve.c) ---------------- */

/*
 * Makes the ports, and starts the first of the threads that answer calls.  A routine of bsd.defs is
 * called with the lock held and a caller that is neither null nor ending.  Strings end within the
 * message.  Out-of-line data of a request is wired memory, and is given back by serve.c in any
 * case.
 */
bool serve_start(void);
unsigned serve_threads(void); /* How many there are. */

/* Puts a receive right among those that requests are received from. */
kern_return_t serve_port(mach_port_t port, uint32_t payload);

/* Asks to be told when the port of this name dies: thread_port_died(), task_port_died(). */
kern_return_t serve_watch(mach_port_t name);

/* Before the server itself ends what it watches: nobody needs to be told then. */
void serve_unwatch(mach_port_t name);

/* A thread of the server's, which ends when `run` returns; it begins and ends without the lock. */
bool ux_start_thread(void (*run)(void *), void *argument);

/* ---------------- For whom (process/served.c) ---------------- */

/* For whom this thread works: the number of a task, which is never another's. */
uint32_t served_now(void);

/* Whether for the server itself, so that what it does had better be told of whoever caused it. */
bool served_nobody(void);

/*
 * Such a thread works for a process from here on, by the number of its task: not if that has ended,
 * or the process has another task by now.  Then it is the server's own again.
 */
void served_begin(uint32_t whom);
void served_end(void);

uint32_t served_living(uint32_t whom); /* The number, or 0 if served_begin() would do nothing. */

/* ---------------- The beginning and the end (main.c) ---------------- */

struct ux_boot {
	mach_port_t host_control; /* Rights of the server's own. */
	mach_port_t device_master;
	const char *root;     /* The device of the root's file system. */
	unsigned processes;   /* So many at a time beside init's; 0: see UX_PROCESSES_MAX. */
	bool sigprof_process; /* Kernel argument sigprof=process: see timer.c. */
	bool profiles_kernel; /* profile=kernel: from the beginning. */
};

extern struct ux_boot ux_boot; /* Constant once the server runs. */

/*
 * Ends all processes, writes back what is not on the device yet, and ends the run with `status`, or
 * restarts the machine: UX_HALT, UX_REBOOT (halt.c).  Unlocks.
 */
_Noreturn void ux_halt(int how, int status);

/* A line in the kernel's log, which begins with `ux: `. */
void ux_log(const char *format, ...) __attribute__((format(printf, 1, 2)));

/*
 * The same, and on the terminal, where the log is not to be seen there anyway.  Where nobody sits
 * at it, as under `tools/guest run`, what it shows is the programs' own output and nothing else.
 */
void ux_tell(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What must not be: says so and ends the server, and with it the run. */
_Noreturn void ux_panic(const char *file, int line, const char *what);

#define assert(condition) ((condition) ? (void)0 : ux_panic(__FILE__, __LINE__, #condition))

#endif
