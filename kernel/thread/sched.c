/* SPDX-License-Identifier: MIT */
/* The scheduler: see sched.h.  Guarded by the kernel lock. */
#include "thread/sched.h"

#include <stddef.h>

#include <mach/policy.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/owner.h"
#include "task/label.h"
#include "task/vtimer.h"
#include "thread/cpu_state.h"
#include "thread/holder.h"
#include "thread/share.h"
#include "thread/tick.h"
#include "thread/turn.h"
#include "thread/work.h"

uint32_t sched_policies = POLICY_TIMESHARE;
uint8_t sched_max_priority = PRIORITY_SYSTEM;

void sched_init(void)
{
	run_queue_init(&sched_common);
	for (uint32_t n = 0; n < MAX_CPUS; n++)
		run_queue_init(&cpus[n].bound);
}

/* ---------------- Who should run where ---------------- */

static struct run_queue *sched_queue_of(const struct thread *thread)
{
	return thread->bound != NULL ? &thread->bound->bound : &sched_common;
}

static inline void sched_enqueue_at(struct thread *thread, enum share_place place)
{
	struct run_queue *queue = sched_queue_of(thread);
	struct list *link = &thread->run_link.link;
	unsigned priority = thread->run_priority;

	assert(thread->state == THREAD_RUNNABLE);
	if (thread->share != NULL && thread->bound == NULL)
		share_add(thread->share, &thread->run_link, priority, place);
	else if (place == SHARE_WOKEN)
		run_queue_add_woken(queue, link, priority);
	else if (place == SHARE_FIRST)
		run_queue_add_first(queue, link, priority);
	else
		run_queue_add(queue, link, priority);
}

/* A thread in the middle of its turn is first among its equals, those that `wake` before others. */
static void sched_enqueue(struct thread *thread, bool wakes)
{
	if (thread->turn.kind < TURN_KEPT)
		sched_enqueue_at(thread, SHARE_LAST);
	else if (wakes && thread->turn.kind != TURN_OVER)
		sched_enqueue_at(thread, SHARE_WOKEN);
	else
		sched_enqueue_at(thread, SHARE_FIRST);
}

/* The priority of what runs on `cpu`; an idle CPU is worse than any thread. */
static unsigned sched_running_priority(const struct cpu *cpu)
{
	/* Told to look, it takes the best there is, and only one: who comes next needs another. */
	if ((cpu->work & WORK_RESCHEDULE) != 0)
		return PRIORITY_BEST;
	return cpu->thread == cpu->idle_thread ? PRIORITIES : cpu->thread->run_priority;
}

/* The best priority that is waiting to run on `cpu`; PRIORITIES if nothing is. */
static unsigned sched_waiting_priority(const struct cpu *cpu)
{
	unsigned anywhere = run_queue_best(&sched_common);
	unsigned here = run_queue_best(&cpu->bound);

	return here <= anywhere ? here : anywhere;
}

/* The queue with the best thread; of two with equals one who has woken's, or they take turns. */
static struct run_queue *sched_choose_queue(struct cpu *cpu)
{
	unsigned anywhere = run_queue_best(&sched_common), here = run_queue_best(&cpu->bound);
	bool woken;

	if (here != anywhere)
		return here < anywhere ? &cpu->bound : &sched_common;
	woken = run_queue_has_woken(&cpu->bound, here);
	if (woken == run_queue_has_woken(&sched_common, here))
		return cpu->thread->bound == NULL ? &cpu->bound : &sched_common;
	return woken ? &cpu->bound : &sched_common;
}

static inline bool sched_nobody_waits(const struct cpu *cpu)
{
	return run_queue_is_empty(&sched_common) && run_queue_is_empty(&cpu->bound);
}

/* Takes the first thread of `priority` off `queue`; there is one. */
static inline __attribute__((always_inline)) struct thread *sched_take(struct run_queue *queue,
								       unsigned priority)
{
	struct list *link = queue->lists[priority].next;

	if (list_object(link, struct run_entry, link)->group_of == NULL)
		run_queue_take_away(queue, link, priority);
	else
		link = share_take(link, priority);
	return list_object(link, struct thread, run_link.link);
}

/* Takes the best thread for `cpu` off its queue; there is one. */
static inline __attribute__((always_inline)) struct thread *sched_choose(struct cpu *cpu)
{
	struct run_queue *queue = &sched_common;

	if (!run_queue_is_empty(&cpu->bound))
		queue = sched_choose_queue(cpu);
	return sched_take(queue, run_queue_first(queue));
}

/* Whether `thread`, which wakes, is none that `cpu` has woken on behalf of whom it runs. */
static bool sched_is_prompt(const struct thread *thread, const struct cpu *cpu)
{
	return cpu != cpu_self() || thread->wait_result == WAIT_TIMED_OUT;
}

/*
 * Whether `thread` should run on `cpu` rather than the one that is there: if it is better; and if
 * it is as good and `wakes`, in the middle of its turn or when the other's is over.  Whom that one
 * has woken itself is only the next: both have things to do for each other.
 */
static bool sched_should_run(const struct thread *thread, const struct cpu *cpu, bool wakes)
{
	unsigned priority = sched_running_priority(cpu);

	if (thread->run_priority != priority || !wakes)
		return thread->run_priority < priority;
	if (!sched_is_prompt(thread, cpu))
		return false;
	if (thread->turn.kind == TURN_KEPT &&
	    (thread->share == NULL || !share_waits(thread, cpu->thread)))
		return true;
	return (thread->turn.kind == TURN_KEPT || thread->turn.kind == TURN_NEXT) &&
	       turn_is_over(cpu, priority);
}

/* The CPU that runs the worst of all that `thread` might run in place of. */
static struct cpu *sched_worst_cpu(const struct thread *thread)
{
	struct cpu *worst = thread->bound;
	unsigned priority;

	if (worst == NULL)
		worst = thread->cpu != NULL ? thread->cpu : &cpus[0];
	priority = sched_running_priority(worst);
	for (uint32_t n = 0; n < n_cpus && thread->bound == NULL; n++) {
		if (&cpus[n] != worst && sched_running_priority(&cpus[n]) > priority) {
			worst = &cpus[n];
			priority = sched_running_priority(worst);
		}
	}
	return worst;
}

/* ---------------- Turns ---------------- */

/* Whether the turn that runs on `cpu` is over, and a thread waits that is as good as `priority`. */
static bool sched_others_turn(const struct cpu *cpu, unsigned priority)
{
	return turn_is_over(cpu, priority) && sched_waiting_priority(cpu) <= priority;
}

/*
 * Whether a thread of `priority` that is given the turn that runs on `cpu` is not the next.  Equals
 * that were woken on its behalf wait until it does, or its turn is over; others do not.
 */
static bool sched_others_first(struct cpu *cpu, unsigned priority)
{
	unsigned waiting = sched_waiting_priority(cpu);

	if (waiting != priority || !cpu->gives_way)
		return waiting < priority || sched_others_turn(cpu, priority);
	cpu->gives_way = false;
	return true;
}

/* `thread`, which is to be queued, has what is left of the turn that runs on `cpu`. */
static void sched_keep_turn(const struct cpu *cpu, struct thread *thread)
{
	turn_keep(cpu, thread, run_queue_has(sched_queue_of(thread), thread->run_priority));
}

/* ---------------- Making runnable ---------------- */

/* Makes `cpu` look for another thread to run, before it next goes on in user mode. */
static void sched_kick(struct cpu *cpu)
{
	cpu_set_work(cpu, WORK_RESCHEDULE);
	if (cpu != cpu_self())
		machine_send_reschedule(cpu);
}

void sched_make_runnable(struct thread *thread)
{
	struct cpu *cpu = n_cpus > 1 ? sched_worst_cpu(thread) : cpu_self();

	assert(kernel_locked());
	sched_enqueue(thread, true);
	if (sched_should_run(thread, cpu, true))
		sched_kick(cpu);
	else if (sched_is_prompt(thread, cpu))
		cpu->gives_way = true;
}

void sched_remove(struct thread *thread)
{
	assert(kernel_locked());
	assert(thread->state == THREAD_RUNNABLE);
	if (thread->share != NULL && thread->bound == NULL)
		share_remove(thread->share, &thread->run_link, thread->run_priority);
	else
		run_queue_remove(sched_queue_of(thread), &thread->run_link.link,
				 thread->run_priority);
}

static void sched_set_payer(struct thread *thread)
{
	struct share *share = thread->share != NULL ? thread->share : &owner_system.share;

	thread->pays = thread->priority < PRIORITY_USER ? NULL : share;
}

void sched_set_owner(struct thread *thread, struct owner *owner)
{
	bool queued = !list_empty(&thread->run_link.link);

	if (queued)
		sched_remove(thread);
	thread->share = owner->all != NULL ? &owner->share : NULL;
	sched_set_payer(thread);
	if (queued)
		sched_enqueue(thread, false);
}

void sched_notice(struct thread *thread)
{
	assert(thread->state == THREAD_RUNNING);
	cpu_set_work(thread->cpu, WORK_THREAD);
	if (thread->cpu != cpu_self())
		machine_send_reschedule(thread->cpu);
}

/* ---------------- Switching ---------------- */

static inline void sched_end_switch(struct cpu *cpu, const struct thread *thread)
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
	sched_end_switch(cpu_self(), current_thread());
}

/*
 * Goes on in `next`, which is on no queue; its turn is the caller's business.  A dead thread is
 * reaped by whoever runs next, for its stack is in use until then.
 */
static inline void sched_run(struct cpu *cpu, struct thread *previous, struct thread *next)
{
	next->state = THREAD_RUNNING;
	next->run_priority = next->priority;
	next->cpu = cpu;
	assert(cpu->leaving == NULL);
	if (previous->state == THREAD_DEAD)
		cpu->leaving = previous;
	cpu->switches++;
	machine_switch(cpu, previous, next);
	sched_end_switch(cpu_self(), previous);
}

/*
 * What there is to do before a switch: samples of the current thread are read while it stands
 * still. The next to run is chosen now.
 */
static void sched_prepare_switch(struct cpu *cpu)
{
	if ((cpu->work & WORK_SAMPLE) != 0)
		sample_work();
	cpu_clear_work(cpu, WORK_RESCHEDULE);
}

/* Who pays for `next` pays from now on, if somebody does; else who has paid until now. */
static inline void sched_change_payer(struct cpu *cpu, const struct thread *next)
{
	if (next->pays != cpu->payer && next->pays != NULL)
		share_pay(cpu, next->pays);
}

static inline void sched_begin_turn(struct cpu *cpu, struct thread *next)
{
	sched_change_payer(cpu, next);
	turn_begin(cpu, next);
}

void sched_switch(void)
{
	struct cpu *cpu = cpu_self();
	struct thread *thread = cpu->thread;
	struct thread *next;

	assert(kernel_locked());
	assert(interrupts_are_on());
	if ((cpu->work & (WORK_RESCHEDULE | WORK_SAMPLE)) != 0)
		sched_prepare_switch(cpu);
	next = sched_nobody_waits(cpu) ? cpu->idle_thread : sched_choose(cpu);
	assert(next->magic == THREAD_MAGIC);
	sched_begin_turn(cpu, next);
	if (next != thread) {
		sched_run(cpu, thread, next);
	} else {
		thread->state = THREAD_RUNNING;
		thread->run_priority = thread->priority;
	}
}

void sched_wait(void)
{
	struct cpu *cpu = cpu_self();

	turn_keep_waiting(cpu, cpu->thread);
	sched_switch();
}

static bool sched_may_run_here(const struct thread *thread, const struct cpu *cpu)
{
	return thread->bound == NULL || thread->bound == cpu;
}

/*
 * Before the current thread hands the CPU to `to`, which it may have answered: as late as can be,
 * since of a sample that comes after it nobody can say any more what it was for.
 */
static inline void sched_read_samples(struct cpu *cpu, struct thread *to)
{
	if ((cpu->work & WORK_SAMPLE) == 0)
		return;
	cpu->goes_on = to;
	sample_work();
	cpu->goes_on = NULL;
}

/* Whether the CPU is another user's now, and the turn of who pays for `to` is over. */
static inline bool sched_is_behind(const struct cpu *cpu, const struct thread *to)
{
	const struct share *share = to->share;

	return share != NULL && to->pays == share && share != cpu->payer && to->bound == NULL &&
	       share_is_behind(share, to->priority);
}

/*
 * The turn goes on, whoever runs: threads that hand the CPU to each other have no more of it
 * together than one that keeps it.  So a client's turn may be over when it gets an answer, because
 * its server used it up, whom nobody that waits was good enough to preempt.  Or the turn was
 * another user's: whom the server has made somebody else's waits for that one's.
 */
void sched_handoff(struct thread *thread, struct thread *to)
{
	struct cpu *cpu = cpu_self();

	assert(interrupts_are_on());
	assert(cpu->thread == thread && thread->state == THREAD_WAITING);
	if (!thread_end_wait(to, WAIT_WOKEN) || !sched_may_run_here(to, cpu)) {
		if (to->state == THREAD_RUNNABLE)
			sched_make_runnable(to);
		sched_wait();
		return;
	}
	turn_swap(thread, to);
	if (sched_is_behind(cpu, to))
		cpu_set_work(cpu, WORK_RESCHEDULE);
	sched_change_payer(cpu, to);
	sched_read_samples(cpu, to);
	if ((cpu->work & WORK_RESCHEDULE) == 0 && !sched_others_first(cpu, to->priority)) {
		sched_run(cpu, thread, to);
		return;
	}
	sched_keep_turn(cpu, to);
	sched_make_runnable(to);
	sched_switch();
}

/* `to`, which is queued, gets this CPU and the turn here; unless that is over and others wait. */
static inline void sched_take_over(struct cpu *cpu, struct thread *to)
{
	assert(kernel_locked());
	sched_read_samples(cpu, to);
	sched_remove(to);
	turn_swap(cpu->thread, to);
	if (sched_others_turn(cpu, to->priority))
		cpu_set_work(cpu, WORK_RESCHEDULE);
}

bool sched_switch_to(struct thread *to)
{
	struct cpu *cpu = cpu_self();

	if (to->state != THREAD_RUNNABLE || !sched_may_run_here(to, cpu))
		return false;
	sched_take_over(cpu, to);
	sched_run(cpu, cpu->thread, to);
	return true;
}

static void sched_offer_elsewhere(struct thread *thread)
{
	struct cpu *cpu = sched_worst_cpu(thread);

	if (cpu != cpu_self() && sched_should_run(thread, cpu, false))
		sched_kick(cpu);
}

/* The current thread stays runnable, here or on a CPU that has nothing better to do. */
static inline void sched_stay_runnable(struct thread *thread)
{
	thread->state = THREAD_RUNNABLE;
	if (n_cpus > 1)
		sched_offer_elsewhere(thread);
}

void sched_preempt(void)
{
	struct thread *thread = current_thread();

	sched_keep_turn(cpu_self(), thread);
	sched_stay_runnable(thread);
	sched_enqueue(thread, false);
	share_pay(cpu_self(), NULL);
	sched_switch();
}

/* Behind its equals. */
static inline void sched_enqueue_current(struct thread *thread)
{
	sched_stay_runnable(thread);
	sched_enqueue_at(thread, SHARE_YIELD);
}

boolean_t sched_yield(unsigned priority)
{
	struct cpu *cpu = cpu_self();
	struct thread *thread = cpu->thread;
	struct thread *next;

	assert(kernel_locked());
	assert(interrupts_are_on());
	if ((cpu->work & (WORK_RESCHEDULE | WORK_SAMPLE)) != 0)
		sched_prepare_switch(cpu);
	if (sched_nobody_waits(cpu))
		return false;
	thread->run_priority = (uint8_t)priority;
	sched_enqueue_current(thread);
	next = sched_choose(cpu);
	if (next == thread) {
		thread->state = THREAD_RUNNING;
		thread->run_priority = thread->priority;
		return false;
	}
	sched_begin_turn(cpu, next);
	sched_run(cpu, thread, next);
	return true;
}

bool sched_yield_to(struct thread *to, unsigned priority)
{
	struct cpu *cpu = cpu_self();
	struct thread *thread = cpu->thread;

	if (to->state != THREAD_RUNNABLE || !sched_may_run_here(to, cpu))
		return false;
	thread->run_priority = (uint8_t)priority;
	sched_take_over(cpu, to); /* Who gives it away is none of those that wait for it. */
	sched_enqueue_current(thread);
	sched_run(cpu, thread, to);
	return true;
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
	sched_set_payer(thread);
	if (queued)
		sched_make_runnable(thread);
	else if (thread->state == THREAD_RUNNING && sched_waiting_priority(thread->cpu) < priority)
		sched_kick(thread->cpu);
}

void sched_raise_depressed(struct thread *thread)
{
	if (thread->run_priority != thread->priority)
		sched_set_priority(thread, thread->priority);
}

uint32_t sched_charges_apart;

static inline bool sched_came_in_kernel(const struct cpu *cpu)
{
	return cpu->kernel_tick == cpu->ticks;
}

/*
 * Somebody besides the thread may want to know of the tick that it is charged.  Where the CPUs run
 * in turn it may be none, for most CPUs were parked, or several, for this one has not come to work
 * on them.
 */
static __attribute__((noinline)) void sched_charge_apart(struct cpu *cpu, struct thread *thread)
{
	bool in_kernel = sched_came_in_kernel(cpu);
	uint32_t ticks = cpus_in_turn ? tick_take_charged(cpu) : 1;

	thread->ticks += ticks;
	thread->system_ticks += in_kernel ? ticks : 0;
	for (; ticks > 0; ticks--) {
		vtimer_tick(thread, in_kernel);
		if (thread->label != thread->home)
			label_charge(thread->label, in_kernel);
	}
}

void sched_tick(struct cpu *cpu)
{
	struct thread *thread = cpu->thread;

	if ((sched_charges_apart | (thread->label ^ thread->home)) != 0) {
		sched_charge_apart(cpu, thread);
	} else {
		thread->ticks++;
		if (sched_came_in_kernel(cpu))
			thread->system_ticks++;
	}
	if (turn_left(cpu) > 0 && (run_queue_is_empty(&sched_common) || !share_tick(cpu, thread)))
		return;
	turn_over(cpu);
	if (thread == cpu->idle_thread)
		return;
	if (sched_waiting_priority(cpu) <= thread->priority)
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

static void sched_wait_in_turn(void)
{
	holder_halts();
	interrupts_wait();
	holder_wakes();
}

/* Halts until an interrupt leaves work; the kernel lock is free meanwhile. */
static void sched_idle_wait(struct cpu *cpu)
{
	kernel_unlock_fair();
	interrupts_off();
	while ((cpu->work & (WORK_INTERRUPT | WORK_RESCHEDULE)) == 0) {
		if (cpus_in_turn)
			sched_wait_in_turn();
		else
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
		if (sched_waiting_priority(cpu) < PRIORITIES) {
			/* What ran before there was nothing to do was at nobody's cost. */
			cpu->pays_since = (uint32_t)machine_cycles();
			sched_switch();
			continue;
		}
		/* Another CPU may have taken the thread that this one was woken for. */
		cpu_clear_work(cpu, WORK_RESCHEDULE);
		sched_idle_wait(cpu);
	}
}
