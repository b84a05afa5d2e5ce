/* SPDX-License-Identifier: MIT */
/* What interrupts leave behind, and the way out of the kernel: see work.h. */
#include "kern/work.h"

#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/lock.h"
#include "kern/sched.h"
#include "kern/thread.h"
#include "kern/tick.h"

/* What has to be done under the kernel lock before this CPU may go on in user mode. */
#define THREAD_WORK (WORK_INTERRUPT | WORK_THREAD | WORK_RESCHEDULE)

void interrupt_work(void)
{
	struct cpu *cpu = cpu_self();

	assert(kernel_locked());
	if ((cpu->work & WORK_TICK) != 0) {
		cpu_clear_work(cpu, WORK_TICK);
		tick_work(cpu);
	}
}

void kernel_pause(void)
{
	if ((cpu_self()->work & WORK_INTERRUPT) != 0)
		interrupt_work();
}

/* Does what `work` says, with the kernel lock and interrupts on. */
static void do_work(uint32_t work)
{
	interrupt_work();
	if ((work & WORK_THREAD) != 0) {
		cpu_clear_work(cpu_self(), WORK_THREAD);
		if (current_thread()->dying)
			thread_exit();
	}
	if ((cpu_self()->work & WORK_RESCHEDULE) != 0)
		sched_preempt();
}

/* Whether somebody else should have the lock before this CPU goes on, or at least may. */
static bool should_hand_over(uint32_t work)
{
	return (work & (WORK_LOCK | WORK_RACE)) != 0;
}

/* Does all work there is for this CPU and its thread; interrupts are off before and after. */
static void work_until_none(void)
{
	uint32_t work;

	while (((work = cpu_self()->work) & THREAD_WORK) != 0) {
		interrupts_on();
		do_work(work);
		interrupts_off();
	}
}

void user_return(void)
{
	assert(kernel_locked());
	assert(!interrupts_are_on());
	for (;;) {
		work_until_none();
		if (!should_hand_over(cpu_self()->work)) {
			kernel_unlock();
			return;
		}
		interrupts_on();
		kernel_unlock_fair();
		interrupts_off();
		if ((cpu_self()->work & THREAD_WORK) == 0)
			return;
		interrupts_on();
		kernel_lock();
		interrupts_off();
	}
}
