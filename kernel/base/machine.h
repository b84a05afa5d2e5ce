/* SPDX-License-Identifier: MIT */
/*
 * What the machine-independent kernel asks of the machine.  kernel/i386 provides all of it.
 */
#ifndef BASE_MACHINE_H
#define BASE_MACHINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdnoreturn.h>

#include "i386/cpu/relax.h"

/* Where text can go. */
enum machine_console {
	MACHINE_CONSOLE_COM0,
	MACHINE_CONSOLE_COM1,
	MACHINE_CONSOLE_VGA,
	MACHINE_CONSOLES
};

/* Puts one character out, waiting for the device; silently drops it where the device is missing. */
void machine_console_put(enum machine_console console, char c);

/* Waits until what was put has left the machine, but not for ever. */
void machine_console_drain(void);

/* Cycles of the time stamp counter.  The counters of all CPUs are taken to agree. */
uint64_t machine_cycles(void);

/*
 * Input, from consoles that are serial ports.  While one is listened to, bytes that come interrupt
 * as `interrupt` (device/interrupt.h), always on the same CPU, whose handler takes them until there
 * are no more.  machine_console_prepare() comes before all that, at boot, and says whether the port
 * is there.
 */
bool machine_console_prepare(enum machine_console console);
void machine_console_listen(enum machine_console console, unsigned interrupt, bool listen);
bool machine_console_take(enum machine_console console, char *byte);

/* Raises the scheduler's tick on this CPU once, `cycles` from now. */
void machine_timer_arm(uint32_t cycles);

/* Interrupts `cpu`, so that it looks at its work. */
struct cpu;
void machine_send_reschedule(struct cpu *cpu);

/*
 * The sampling clock's device: one shot, to all CPUs at once, as an interrupt or as an NMI.  It is
 * independent of the scheduler's tick.  Only prof/sampler.c and sampler_slots.c use it.
 */
enum sample_delivery {
	SAMPLE_BY_IRQ,
	SAMPLE_BY_NMI
};

/* The furthest ahead that one shot can be armed, in nanoseconds. */
#define MACHINE_SAMPLE_TIMER_MAX_NS 50000000u

void machine_sample_timer_route(enum sample_delivery delivery); /* Of shots armed from now on. */
void machine_sample_timer_arm(uint32_t cycles);                 /* Rounds up: never fires early. */
void machine_sample_timer_silence(void);                        /* What is armed does not come. */

/*
 * As machine_sample_timer_arm(), in two steps, of which the second is one store: what the first
 * returns.
 */
uint32_t machine_sample_timer_begin(uint32_t cycles);
void machine_sample_timer_end(uint32_t rest);

/* What such a shot takes at least. */
uint32_t machine_sample_timer_least(uint32_t cycles);

/*
 * Where the sampling interrupt found this CPU: the thread, as the numbers that struct thread has in
 * a row, and the program counters of its user mode and of the kernel.
 */
enum machine_who {
	SAMPLER_WHO_THREAD,
	SAMPLER_WHO_LABEL,
	SAMPLER_WHO_TASK,
	SAMPLER_WHO_JOBS
};

struct machine_place {
	const uint32_t *who; /* By enum machine_who; NULL: the CPU was idle. */
	uint32_t pc;         /* 0 for a thread of the kernel's. */
	uint32_t kernel_pc;  /* 0 in user mode. */
	uint32_t flags;      /* PROF_INTERRUPTS_OFF, PROF_NO_USER_PC */
};

struct frame;
struct thread;

/* In user mode, or else. */
bool machine_is_user(const struct frame *frame);
void machine_find_user_place(const struct frame *frame, struct machine_place *place);
void machine_find_kernel_place(const struct frame *frame, struct machine_place *place);

/*
 * At most `depth` return addresses of the kernel's stack below `frame`, which is of kernel mode,
 * into `frames`; *cut if it goes on.
 */
uint32_t machine_kernel_stack(const struct frame *frame, uint32_t *frames, uint32_t depth,
			      bool *cut);

/*
 * As machine_kernel_stack(), of the user's stack, for a `frame` of user mode; what is not in memory
 * ends it.
 */
uint32_t machine_user_stack(const struct frame *frame, uint32_t *frames, uint32_t depth, bool *cut);

/*
 * An event that the current thread's kernel code came upon, as it says at `kernel_pc`: where in the
 * kernel it was, 0 if it was in user mode; and if not, the stack there, as above.
 */
uint32_t machine_event_pc(const struct thread *thread, uint32_t kernel_pc);
uint32_t machine_event_stack(const struct thread *thread, uint32_t kernel_pc, uint32_t *frames,
			     uint32_t depth, bool *cut);

/*
 * Of a thread that does not run: where in the kernel it was switched from, and at most `depth`
 * return addresses of its stack there; *cut if it goes on.
 */
uint32_t machine_waiting_pc(const struct thread *thread);
uint32_t machine_waiting_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			       bool *cut);

/* This CPU reads its ring before it goes on in user mode, or in another thread. */
void machine_sample_work(void);

/*
 * The thread of a sample in the ring of `cpu`, by its id and by where in the kernel it was, if it
 * has not been in user mode since and its registers there can be read; else NULL.  Under the kernel
 * lock.
 */
const struct thread *machine_sampled_thread(uint32_t cpu, uint32_t id, uint32_t kernel_pc);

/* ---------------- Counted calls: kernel/i386/patch/ ---------------- */

/* Calls of the kernel's that can be counted: sites, each with a number. */
uint32_t machine_call_count(void);

/*
 * A set of their counters: zeroes; NULL without memory.  Of each CPU's there are some more than
 * sites, all in runs whose counters lie one behind the other.  Site n counts in counter n, or,
 * since it was gathered with others, in machine_call_counter_of(n): its count is the sum of both.
 */
#define MACHINE_CALL_RUN 128u

struct machine_call_counters;
struct machine_call_counters *machine_call_counters_make(void);
void machine_call_counters_free(struct machine_call_counters *counters);
uint32_t machine_call_counters_of_each(void); /* Of a CPU's; known when there is a set. */
const volatile uint32_t *machine_call_run(const struct machine_call_counters *counters,
					  uint32_t cpu, uint32_t first);
uint32_t machine_call_counter_of(uint32_t n);

/*
 * From now on each call is counted in `counters`, until machine_calls_end(); false, and nothing has
 * changed, without memory.  All under the kernel lock; these three pause.
 */
bool machine_calls_count(struct machine_call_counters *counters);
void machine_calls_end(void);

/*
 * While calls are counted: those made on behalf of `label`, which has no set yet, are counted in
 * `counters` from now on.  The first such label is HOST_CALLS_SYSTEM.
 */
void machine_calls_follow(uint32_t label, struct machine_call_counters *counters);

/* Calls are counted already, since the start, as the kernel's file has it: `counters` goes on. */
bool machine_calls_are_counted(void);

/* At one moment: no count of before is there afterwards, and none of later is lost. */
void machine_calls_clear(struct machine_call_counters *counters);
void machine_calls_copy(struct machine_call_counters *to, const struct machine_call_counters *from);

/*
 * At one moment: what has been counted in `from` goes over to `to`, and `from` is all 0.  What is
 * counted there must be watched, from before it is shown to any CPU; there can be a few such sets.
 */
void machine_call_counters_watch(struct machine_call_counters *counters);
bool machine_calls_are_to_move(const struct machine_call_counters *from);
void machine_calls_move(struct machine_call_counters *to, struct machine_call_counters *from);

/*
 * Each site: where its call returns to (0: it is a function's address in a table), and who is
 * called.
 */
typedef void machine_call_reader(void *context, uint32_t n, uint32_t from, uint32_t to);
void machine_calls_read(machine_call_reader *read, void *context);

/* Whether interrupts come between blocks of code only: an emulator without instruction clock. */
bool machine_clock_is_block(void);

/*
 * Whether an emulator runs the CPUs in turn: QEMU's translator does where its clock counts
 * instructions, and else gives each CPU a thread of the host's.
 */
bool machine_runs_cpus_in_turn(void);

/* Seconds since 1970 by the battery clock; 0 when it does not answer sensibly. */
uint64_t machine_wall_seconds(void);

/*
 * Ends the run.  The outcome and, for MACHINE_EXIT, the status are in the machine report when the
 * machine stops.  machine_time_is_over() says where every CPU is first; it may be called from an
 * interrupt.
 */
noreturn void machine_exit(uint32_t status);
noreturn void machine_reboot(void); /* Status 0, and the machine starts again. */
noreturn void machine_refuse(const char *why, ...) __attribute__((format(printf, 1, 2)));
noreturn void machine_time_is_over(const char *why);

#endif
