/* SPDX-License-Identifier: MIT */
/* What interrupts leave behind, and the way out of the kernel: see work.h. */
#include "thread/work.h"

#include "base/assert.h"
#include "base/lock.h"
#include "device/interrupt.h"
#include "prof/sampler.h"
#include "prof/stream.h"
#include "thread/cpu_state.h"
#include "thread/holder.h"
#include "thread/sched.h"
#include "thread/thread.h"
#include "thread/tick.h"

/* What has to be done under the kernel lock before this CPU may go on in user mode. */
#define THREAD_WORK (WORK_INTERRUPT | WORK_THREAD | WORK_RESCHEDULE)

void sample_work(void)
{
	cpu_clear_work(cpu_self(), WORK_SAMPLE);
	delivery_work();
	sampler_work();
}

/* What comes more rarely than ticks; last what is counted for somebody. */
static __attribute__((noinline)) void work_rare_work(struct cpu *cpu)
{
	if ((cpu->work & WORK_SAMPLE) != 0)
		sample_work();
	if ((cpu->work & WORK_DEVICE) != 0) {
		cpu_clear_work(cpu, WORK_DEVICE);
		device_interrupt_work();
	}
}

/* Never inlined: where calls are counted by label another is called in its place (follow.c). */
__attribute__((noinline)) void interrupt_work(void)
{
	struct cpu *cpu = cpu_self();

	assert(kernel_locked());
	if ((cpu->work & WORK_TICK) != 0) {
		cpu_clear_work(cpu, WORK_TICK);
		tick_work(cpu);
	}
	if ((cpu->work & (WORK_DEVICE | WORK_SAMPLE)) != 0)
		work_rare_work(cpu);
}

/* A tick whose work is done here came in kernel mode. */
static void work_note_kernel_tick(void)
{
	struct cpu *cpu = cpu_self();

	if ((cpu->work & WORK_TICK) != 0)
		cpu->kernel_tick = cpu->ticks;
}

uint32_t pause_turns_left = PAUSE_TURNS;

void kernel_pause(void)
{
	pause_turns_left = PAUSE_TURNS;
	if ((cpu_self()->work & WORK_INTERRUPT) != 0) {
		work_note_kernel_tick();
		interrupt_work();
	}
}

/* The current thread is asked something. */
static void work_do_asked(void)
{
	cpu_clear_work(cpu_self(), WORK_THREAD);
	if (current_thread()->asked != 0)
		thread_do_asked();
}

static void work_preempt(void)
{
	struct thread *thread = current_thread();

	thread->at_edge = true;
	sched_preempt();
	thread->at_edge = false;
}

/* The rarer part of work_do_work(), not inlined: most ways out are short. */
static __attribute__((noinline)) void work_do_thread_work(void)
{
	if ((cpu_self()->work & WORK_THREAD) != 0)
		work_do_asked();
	if ((cpu_self()->work & WORK_RESCHEDULE) != 0)
		work_preempt();
}

/*
 * Does what there is to do, as far as it is known now.  Does not return to a thread that is to end;
 * may return much later, and on another CPU.
 */
static void work_do_work(void)
{
	interrupt_work();
	if ((cpu_self()->work & (WORK_THREAD | WORK_RESCHEDULE)) != 0)
		work_do_thread_work();
}

void kernel_rest(void)
{
	may_block();
	thread_pay_wake(current_thread());
	kernel_unlock_fair();
	kernel_lock();
	kernel_pause();
	if ((cpu_self()->work & WORK_RESCHEDULE) != 0)
		sched_preempt();
}

/*
 * Gives up the lock so that a CPU that waits for it has it next, and says whether nothing came up
 * meanwhile: then interrupts are off and the caller may go on in user mode.  Otherwise it has the
 * lock again.
 */
static bool work_hand_over(void)
{
	kernel_unlock_fair();
	if (cpus_in_turn)
		tick_give_back_turn(cpu_self());
	interrupts_off();
	if ((cpu_self()->work & THREAD_WORK) == 0)
		return true;
	interrupts_on();
	kernel_lock();
	return false;
}

void user_return(void)
{
	assert(kernel_locked());
	for (;;) {
		uint32_t work;

		if (cpu_self()->work != 0)
			work_do_work();
		interrupts_off();
		work = cpu_self()->work;
		if (work == 0) {
			kernel_unlock();
			return;
		}
		interrupts_on();
		if ((work & THREAD_WORK) == 0 && work_hand_over())
			return;
	}
}

void trap_return(void)
{
	work_note_kernel_tick();
	user_return();
}
