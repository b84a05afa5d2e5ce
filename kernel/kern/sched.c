/* SPDX-License-Identifier: MIT */
/* The scheduler: see sched.h.  Guarded by the kernel lock. */
#include "kern/sched.h"

#include <stddef.h>

#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/lock.h"
#include "kern/machine.h"
#include "kern/thread.h"
#include "kern/work.h"

/* Threads that may run anywhere. */
static struct run_queue common;

void sched_init(void)
{
	run_queue_init(&common);
	for (uint32_t n = 0; n < MAX_CPUS; n++)
		run_queue_init(&cpus[n].bound);
}

/* ---------------- Who should run where ---------------- */

static struct run_queue *queue_of(const struct thread *thread)
{
	return thread->bound != NULL ? &thread->bound->bound : &common;
}

static void enqueue(struct thread *thread)
{
	assert(thread->state == THREAD_RUNNABLE);
	if (thread->turn < QUANTUM)
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
	unsigned anywhere = run_queue_best(&common);
	unsigned here = run_queue_best(&cpu->bound);

	return here <= anywhere ? here : anywhere;
}

/* Takes the best thread for `cpu` off its queue; the idle thread if there is none. */
static struct thread *choose(struct cpu *cpu)
{
	unsigned anywhere = run_queue_best(&common);
	unsigned here = run_queue_best(&cpu->bound);
	struct list *link;

	if (here <= anywhere) {
		if (here == PRIORITIES)
			return cpu->idle_thread;
		link = run_queue_take(&cpu->bound, here);
	} else {
		link = run_queue_take(&common, anywhere);
	}
	return list_object(link, struct thread, run_link);
}

/* The CPU that should run `thread` rather than what it runs now; NULL if all have better to do. */
static struct cpu *cpu_for(const struct thread *thread)
{
	struct cpu *worst = thread->cpu != NULL ? thread->cpu : &cpus[0];

	if (thread->bound != NULL)
		worst = thread->bound;
	else
		for (uint32_t n = 0; n < n_cpus; n++)
			if (running_priority(&cpus[n]) > running_priority(worst))
				worst = &cpus[n];
	return thread->run_priority < running_priority(worst) ? worst : NULL;
}

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

void sched_notice_death(struct thread *thread)
{
	assert(thread->state == THREAD_RUNNING);
	cpu_set_work(thread->cpu, WORK_THREAD);
	if (thread->cpu != cpu_self())
		machine_send_reschedule(thread->cpu);
}

/* ---------------- Switching ---------------- */

void sched_finish_switch(void)
{
	struct cpu *cpu = cpu_self();
	struct thread *left = cpu->leaving;

	cpu->leaving = NULL;
	if (left != NULL && left->state == THREAD_DEAD)
		thread_reap(left);
	if (current_thread()->dying)
		cpu_set_work(cpu, WORK_THREAD);
}

static void dispatch(struct cpu *cpu, struct thread *previous, struct thread *next)
{
	assert(next->magic == THREAD_MAGIC);
	assert(cpu->leaving == NULL);
	next->state = THREAD_RUNNING;
	next->run_priority = next->priority;
	next->cpu = cpu;
	cpu->quantum = next->turn;
	next->turn = QUANTUM;
	if (next == previous)
		return;
	cpu->leaving = previous;
	cpu->switches++;
	machine_switch(cpu, previous, next);
	sched_finish_switch();
}

void sched_switch(void)
{
	struct cpu *cpu = cpu_self();

	assert(kernel_locked());
	assert(interrupts_are_on());
	if ((cpu->work & WORK_RESCHEDULE) != 0)
		cpu_clear_work(cpu, WORK_RESCHEDULE);
	cpu->turn_over = false;
	dispatch(cpu, cpu->thread, choose(cpu));
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

/* A thread in the middle of its turn goes on first among its equals, for the rest of it. */
void sched_preempt(void)
{
	struct thread *thread = current_thread();
	struct cpu *cpu = cpu_self();

	if (!cpu->turn_over)
		thread->turn = (uint8_t)cpu->quantum;
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

void sched_tick(struct cpu *cpu)
{
	if (cpu->thread == cpu->idle_thread || --cpu->quantum > 0)
		return;
	cpu->quantum = QUANTUM;
	cpu->turn_over = true;
	if (waiting_priority(cpu) <= cpu->thread->priority)
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
