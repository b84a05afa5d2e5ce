/* SPDX-License-Identifier: MIT */
/*
 * What the sampling interrupt finds: who ran, and where, in user mode and in the kernel.
 *
 * The interrupt can be an NMI, and then it may have come anywhere; only the CPU's own structure and
 * the thread that it runs are looked at.
 */
#include <stddef.h>

#include <mach/prof.h>

#include "base/machine.h"
#include "i386/cpu/cpu.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/vectors.h"
#include "i386/entry/entry.h"
#include "i386/patch/thunk.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

_Static_assert(offsetof(struct thread, label) ==
			       offsetof(struct thread, id) + 4 * SAMPLER_WHO_LABEL &&
		       offsetof(struct thread, home) ==
			       offsetof(struct thread, id) + 4 * SAMPLER_WHO_TASK &&
		       offsetof(struct thread, jobs) ==
			       offsetof(struct thread, id) + 4 * SAMPLER_WHO_JOBS,
	       "a row");

/* Before the call gate's first instruction, or before that of its twin. */
static inline bool sample_is_gate(uint32_t pc)
{
	return pc == (uint32_t)gate_entry || pc == (uint32_t)gate_entry_traced;
}

/*
 * Where in user mode a thread was that is in the kernel.  The frame at the top of its stack says
 * so, but not before the call gate's first instruction: what the gate pushes begins one word
 * further up, and that instruction puts eip where it is in a frame.  The kernel may be there, or,
 * if another interrupt or exception came first, in what that does: then its own frame, which begins
 * below the gate's four words, has put the gate's address where a whole frame has its vector.
 */
static inline uint32_t sample_user_pc(const struct frame *frame, const struct thread *thread)
{
	const struct frame *users = (const struct frame *)thread->machine.stack_top - 1;

	if (sample_is_gate(frame->eip) ||
	    (sample_is_gate(users->vector) && !entry_is_gate(frame->eip)))
		return users->cs;
	return users->eip;
}

bool machine_is_user(const struct frame *frame)
{
	return frame_is_user(frame);
}

void machine_find_user_place(const struct frame *frame, struct machine_place *place)
{
	*place = (struct machine_place){.who = &current_thread()->id, .pc = frame->eip};
}

void machine_find_kernel_place(const struct frame *frame, struct machine_place *place)
{
	const struct cpu *cpu = cpu_self();
	const struct thread *thread = cpu->thread;

	place->who = &thread->id;
	place->kernel_pc = thunk_see_through(frame->eip);
	place->pc = 0;
	place->flags = (frame->eflags & EFLAGS_IF) == 0 ? PROF_INTERRUPTS_OFF : 0;
	if (thread == cpu->idle_thread)
		place->who = NULL;
	else if (thread->task == NULL)
		place->flags |= PROF_NO_USER_PC;
	else
		place->pc = sample_user_pc(frame, thread);
}

void machine_sample_work(void)
{
	cpu_set_work(cpu_self(), WORK_SAMPLE);
}

/*
 * A CPU reads its ring before it runs another thread or goes on in user mode.  What another CPU
 * reads for it is good as long as it has still to do that; but where it has just come in or is
 * about to go out, the registers may not be in the frame.
 */
const struct thread *machine_sampled_thread(uint32_t cpu, uint32_t id, uint32_t kernel_pc)
{
	const struct cpu *sampled = &cpus[cpu];
	const struct thread *thread = sampled->thread;

	if (thread->id != id)
		return NULL;
	if (sampled == cpu_self())
		return thread;
	return (sampled->work & WORK_SAMPLE) != 0 && !entry_is_at(kernel_pc) ? thread : NULL;
}

/*
 * An NMI has left work for before user mode, and nobody may look for it there any more: this CPU
 * interrupts itself, and takes that as soon as interrupts are on.
 */
void sample_work_after_nmi(const struct frame *frame)
{
	if ((cpu_self()->work & WORK_SAMPLE) != 0 &&
	    (frame_is_user(frame) || (frame->eflags & EFLAGS_IF) == 0))
		lapic_send_self(VECTOR_RESCHEDULE);
}
