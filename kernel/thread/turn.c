/* SPDX-License-Identifier: MIT */
/* Turns: see turn.h.  Guarded by the kernel lock. */
#include "thread/turn.h"

#include "base/assert.h"
#include "base/lock.h"

uint32_t turn_length;
uint32_t turn_new;

void turn_init(uint32_t tick)
{
	turn_length = QUANTUM * tick;
	turn_new = turn_length - tick / 2;
}

/* What is left of the turn that runs on `cpu`, for a thread that leaves it. */
static struct turn turn_rest(const struct cpu *cpu)
{
	int32_t left = turn_left(cpu);
	struct turn turn = {(uint32_t)left, TURN_KEPT, cpu->turn_over_from};

	if (left <= 0) {
		turn.left += turn_length;
		turn.kind = TURN_NEXT;
	}
	/* After a machine stood still, the clock tells nothing of turns. */
	if (turn.left - 1 >= turn_length)
		turn.left = turn_new;
	return turn;
}

void turn_keep(const struct cpu *cpu, struct thread *thread, bool equals_wait)
{
	thread->turn = turn_rest(cpu);
	if (turn_is_over(cpu, thread->priority))
		thread->turn.kind = equals_wait ? TURN_NEXT : TURN_OVER;
}

void turn_keep_waiting(const struct cpu *cpu, struct thread *thread)
{
	bool is_over = turn_is_over(cpu, thread->priority);

	thread->turn = is_over ? (struct turn){turn_new, TURN_NEXT, 0} : turn_rest(cpu);
}

void turn_share(struct cpu *cpu, struct thread *thread)
{
	struct turn turn = turn_rest(cpu);

	assert(kernel_locked());
	if (turn_is_over(cpu, thread->priority) || turn.kind != TURN_KEPT)
		return;
	thread->turn = (struct turn){turn.left / 2, TURN_SHARE, turn.over_from};
	cpu->turn_end -= turn.left / 2;
}

void turn_resume(struct cpu *cpu, struct thread *thread)
{
	cpu->turn_end = (uint32_t)machine_cycles() + thread->turn.left;
	cpu->turn_over_from = thread->turn.over_from;
	if (thread->turn.kind == TURN_NEXT)
		cpu->turn_over_from = thread->priority + 1;
	thread->turn.kind = TURN_WHOLE;
}
