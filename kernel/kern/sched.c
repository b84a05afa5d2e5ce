/* SPDX-License-Identifier: MIT */
/* The scheduler: see sched.h.  Guarded by the kernel lock. */
#include "kern/sched.h"

#include <stddef.h>

#include <mach/policy.h>

#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/label.h"
#include "kern/lock.h"
#include "kern/machine.h"
#include "kern/thread.h"
#include "kern/vtimer.h"
#include "kern/work.h"

struct run_queue sched_common;

uint32_t sched_policies = POLICY_TIMESHARE;

void sched_init(void)
{
	run_queue_init(&sched_common);
	for (uint32_t n = 0; n < MAX_CPUS; n++)
		run_queue_init(&cpus[n].bound);
}

/* ---------------- Who should run where ---------------- */

static struct run_queue *queue_of(const struct thread *thread)
{
	return thread->bound != NULL ? &thread->bound->bound : &sched_common;
}

/* A thread in the middle of its turn is first among its equals. */
static void enqueue(struct thread *thread)
{
	assert(thread->state == THREAD_RUNNABLE);
	if (thread->turn.left < QUANTUM)
		run_queue_add_first(queue_of(thread), &thread->run_link, thread->run_priority);
	else
		run_queue_add(queue_of(thread), &thread->run_link, thread->run_priority);
}

/* The priority of what runs on `cpu`; an idle CPU is worse than any thread. */
static unsigned running_priority(const struct cpu *cpu)
{
	/* Told to look, it takes the best there is, and only one: who comes next needs another. */
	if ((cpu->work & WORK_RESCHEDULE) != 0)
		return PRIORITY_BEST;
	return cpu->thread == cpu->idle_thread ? PRIORITIES : cpu->thread->run_priority;
}

/* The best priority that is waiting to run on `cpu`; PRIORITIES if nothing is. */
static unsigned waiting_priority(const struct cpu *cpu)
{
	unsigned anywhere = run_queue_best(&sched_common);
	unsigned here = run_queue_best(&cpu->bound);

	return here <= anywhere ? here : anywhere;
}

/* Takes the best thread for `cpu` off its queue; the idle thread if there is none. */
static struct thread *choose(struct cpu *cpu)
{
	unsigned anywhere = run_queue_best(&sched_common);
	unsigned here = run_queue_best(&cpu->bound);
	struct list *link;

	if (here <= anywhere) {
		if (here == PRIORITIES)
			return cpu->idle_thread;
		link = run_queue_take(&cpu->bound, here);
	} else {
		link = run_queue_take(&sched_common, anywhere);
	}
	return list_object(link, struct thread, run_link);
}

/* The CPU that should run `thread` rather than what it runs now; NULL if all have better to do. */
static struct cpu *cpu_for(const struct thread *thread)
{
	struct cpu *worst = thread->bound;
	unsigned priority;

	if (worst == NULL)
		worst = thread->cpu != NULL ? thread->cpu : &cpus[0];
	priority = running_priority(worst);
	for (uint32_t n = 0; n < n_cpus && thread->bound == NULL; n++) {
		if (&cpus[n] != worst && running_priority(&cpus[n]) > priority) {
			worst = &cpus[n];
			priority = running_priority(worst);
		}
	}
	return thread->run_priority < priority ? worst : NULL;
}

/* ---------------- Turns ---------------- */

/* Whether the turn that runs on `cpu` is over, and a thread waits that is as good as `priority`. */
static bool others_turn(const struct cpu *cpu, unsigned priority)
{
	return cpu->turn.over && waiting_priority(cpu) <= priority;
}

/*
 * `thread` has what is left of the turn that runs on `cpu` when it is next chosen.  If that is over
 * and equals wait, it is behind them instead, with a new one.
 */
static void keep_turn(const struct cpu *cpu, struct thread *thread)
{
	if (!cpu->turn.over || !run_queue_has(queue_of(thread), thread->run_priority))
		thread->turn = cpu->turn;
}

/* ---------------- Making runnable ---------------- */

/* Makes `cpu` look for another thread to run, before it next goes on in user mode. */
static void kick(struct cpu *cpu)
{
	cpu_set_work(cpu, WORK_RESCHEDULE);
	if (cpu != cpu_self())
		machine_send_reschedule(cpu);
}

void sched_make_runnable(struct thread *thread)
{
	struct cpu *cpu = cpu_for(thread);

	assert(kernel_locked());
	enqueue(thread);
	if (cpu != NULL)
		kick(cpu);
}

void sched_remove(struct thread *thread)
{
	assert(kernel_locked());
	assert(thread->state == THREAD_RUNNABLE);
	run_queue_remove(queue_of(thread), &thread->run_link, thread->run_priority);
}

void sched_notice(struct thread *thread)
{
	assert(thread->state == THREAD_RUNNING);
	cpu_set_work(thread->cpu, WORK_THREAD);
	if (thread->cpu != cpu_self())
		machine_send_reschedule(thread->cpu);
}

/* ---------------- Switching ---------------- */

static inline void finish_switch(struct cpu *cpu, const struct thread *thread)
{
	struct thread *left = cpu->leaving;

	if (left != NULL) {
		cpu->leaving = NULL;
		thread_reap(left);
	}
	if (thread->asked != 0)
		cpu_set_work(cpu, WORK_THREAD);
}

void sched_finish_switch(void)
{
	finish_switch(cpu_self(), current_thread());
}

/*
 * Goes on in `next`, which is on no queue; its turn is the caller's business.  A dead thread is
 * reaped by whoever runs next, for its stack is in use until then.
 */
static inline void run(struct cpu *cpu, struct thread *previous, struct thread *next)
{
	next->state = THREAD_RUNNING;
	next->run_priority = next->priority;
	next->cpu = cpu;
	assert(cpu->leaving == NULL);
	if (previous->state == THREAD_DEAD)
		cpu->leaving = previous;
	cpu->switches++;
	machine_switch(cpu, previous, next);
	finish_switch(cpu_self(), previous);
}

/*
 * What there is to do before a switch: samples of the current thread are read while it stands
 * still. The next to run is chosen now.
 */
static __attribute__((noinline)) void prepare_switch(struct cpu *cpu)
{
	if ((cpu->work & WORK_SAMPLE) != 0)
		sample_work();
	cpu_clear_work(cpu, WORK_RESCHEDULE);
}

void sched_switch(void)
{
	struct cpu *cpu = cpu_self();
	struct thread *thread = cpu->thread;
	struct thread *next;

	assert(kernel_locked());
	assert(interrupts_are_on());
	if ((cpu->work & (WORK_RESCHEDULE | WORK_SAMPLE)) != 0)
		prepare_switch(cpu);
	next = choose(cpu);
	assert(next->magic == THREAD_MAGIC);
	cpu->turn = next->turn;
	next->turn = TURN_NEW;
	if (next != thread) {
		run(cpu, thread, next);
	} else {
		thread->state = THREAD_RUNNING;
		thread->run_priority = thread->priority;
	}
}

static bool may_run_here(const struct thread *thread, const struct cpu *cpu)
{
	return thread->bound == NULL || thread->bound == cpu;
}

/*
 * The turn goes on, whoever runs: threads that hand the CPU to each other have no more of it
 * together than one that keeps it.  So a client's turn may be over when it gets an answer, because
 * its server used it up, whom nobody that waits was good enough to preempt.
 */
void sched_handoff(struct thread *thread, struct thread *to)
{
	struct cpu *cpu = cpu_self();

	assert(interrupts_are_on());
	assert(cpu->thread == thread && thread->state == THREAD_WAITING);
	if ((cpu->work & WORK_SAMPLE) != 0)
		sample_work();
	if (thread_end_wait(to, WAIT_WOKEN)) {
		if ((cpu->work & WORK_RESCHEDULE) == 0 && may_run_here(to, cpu) &&
		    waiting_priority(cpu) >= to->priority && !others_turn(cpu, to->priority)) {
			run(cpu, thread, to);
			return;
		}
		if (may_run_here(to, cpu))
			keep_turn(cpu, to);
		sched_make_runnable(to);
	}
	sched_switch();
}

bool sched_switch_to(struct thread *to)
{
	struct cpu *cpu = cpu_self();

	assert(kernel_locked());
	if (to->state != THREAD_RUNNABLE || !may_run_here(to, cpu))
		return false;
	if ((cpu->work & WORK_SAMPLE) != 0)
		sample_work();
	sched_remove(to);
	to->turn = TURN_NEW;
	if (others_turn(cpu, to->priority))
		cpu_set_work(cpu, WORK_RESCHEDULE);
	run(cpu, cpu->thread, to);
	return true;
}

/* The current thread stays runnable, here or on a CPU that has nothing better to do. */
static void give_way(struct thread *thread)
{
	thread->state = THREAD_RUNNABLE;
	if (n_cpus > 1)
		sched_make_runnable(thread);
	else
		enqueue(thread);
	sched_switch();
}

void sched_preempt(void)
{
	struct thread *thread = current_thread();

	keep_turn(cpu_self(), thread);
	give_way(thread);
}

bool sched_yield(bool depressed)
{
	struct thread *thread = current_thread();
	unsigned priority = depressed ? PRIORITY_WORST : thread->priority;

	if (waiting_priority(cpu_self()) > priority)
		return false;
	thread->run_priority = (uint8_t)priority;
	give_way(thread);
	return true;
}

/* Puts the current thread behind its equals, and tells other CPUs that might take it. */
static void enqueue_current(struct thread *thread)
{
	struct cpu *cpu = n_cpus > 1 ? cpu_for(thread) : NULL;

	thread->state = THREAD_RUNNABLE;
	enqueue(thread);
	if (cpu != NULL && cpu != cpu_self())
		kick(cpu);
}

bool sched_yield_to(struct thread *to, bool depressed)
{
	struct thread *thread = current_thread();

	if (to->state != THREAD_RUNNABLE || !may_run_here(to, cpu_self()))
		return false;
	if (depressed)
		thread->run_priority = PRIORITY_WORST;
	enqueue_current(thread);
	return sched_switch_to(to);
}

/* A worse priority is noticed by whoever is better now: at the latest at the next tick. */
void sched_set_priority(struct thread *thread, unsigned priority)
{
	bool queued = thread->state == THREAD_RUNNABLE;

	assert(priority < PRIORITIES);
	if (queued)
		sched_remove(thread);
	thread->priority = (uint8_t)priority;
	thread->run_priority = (uint8_t)priority;
	if (queued)
		sched_make_runnable(thread);
	else if (thread->state == THREAD_RUNNING && waiting_priority(thread->cpu) < priority)
		kick(thread->cpu);
}

void sched_raise_depressed(struct thread *thread)
{
	if (thread->run_priority != thread->priority)
		sched_set_priority(thread, thread->priority);
}

/* Somebody besides the thread may want to know of the tick that it was charged. */
static __attribute__((noinline)) void charge_others(const struct cpu *cpu, struct thread *thread)
{
	bool in_kernel = cpu->kernel_tick == cpu->ticks;

	if (vtimer_tasks != 0)
		vtimer_tick(thread, in_kernel);
	if (thread->label != thread->home)
		label_charge(thread->label, in_kernel);
}

void sched_tick(struct cpu *cpu)
{
	struct thread *thread = cpu->thread;

	thread->ticks++;
	if ((vtimer_tasks | (thread->label ^ thread->home)) != 0)
		charge_others(cpu, thread);
	if (--cpu->turn.left > 0)
		return;
	cpu->turn = (struct turn){.left = QUANTUM, .over = true};
	if (thread == cpu->idle_thread)
		return;
	if (waiting_priority(cpu) <= thread->priority)
		cpu_set_work(cpu, WORK_RESCHEDULE);
}

void sched_bind(struct cpu *cpu)
{
	struct thread *thread = current_thread();

	thread->bound = cpu;
	if (cpu != NULL && cpu != cpu_self()) {
		thread->state = THREAD_RUNNABLE;
		sched_make_runnable(thread);
		sched_switch();
	}
}

/* ---------------- Idle ---------------- */

/* Halts until an interrupt leaves work; the kernel lock is free meanwhile. */
static void idle_wait(struct cpu *cpu)
{
	kernel_unlock_fair();
	interrupts_off();
	while ((cpu->work & (WORK_INTERRUPT | WORK_RESCHEDULE)) == 0) {
		interrupts_wait();
		interrupts_off();
	}
	interrupts_on();
	kernel_lock();
}

void sched_idle(void)
{
	struct cpu *cpu = cpu_self();

	assert(current_thread() == cpu->idle_thread);
	for (;;) {
		interrupt_work();
		if (waiting_priority(cpu) < PRIORITIES) {
			sched_switch();
			continue;
		}
		/* Another CPU may have taken the thread that this one was woken for. */
		cpu_clear_work(cpu, WORK_RESCHEDULE);
		idle_wait(cpu);
	}
}
