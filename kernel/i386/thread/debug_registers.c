/* SPDX-License-Identifier: MIT */
/* The debug registers: see debug_registers.h.  Guarded by the kernel lock. */
#include "i386/thread/debug_registers.h"

#include <stddef.h>

#include "i386/cpu/memory.h"
#include "i386/thread/extra.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

#define ADDRESSES 4

#define DR6_KEPT 0x0000600fu /* Which address it was, single step, task switch. */

/* Register 7: two bits that enable each address, and four that say when and how wide. */
#define DR7_ENABLED       0x000000ffu
#define DR7_ALLOWED       0xffff07ffu /* Not GD, which watches the debug registers themselves. */
#define DR7_ONE           0x00000400u /* Always set. */
#define DR7_WHEN(dr7, n)  ((dr7) >> (16 + 4 * (n)) & 3)
#define DR7_WIDTH(dr7, n) ((dr7) >> (18 + 4 * (n)) & 3)

#define WHEN_EXECUTED 0
#define WHEN_PORT     2 /* Needs CR4.DE, which is off. */
#define WIDTH_1       0
#define WIDTH_8       2 /* Of 64-bit CPUs. */

static bool debug_registers_kind_is_acceptable(uint32_t when, uint32_t width)
{
	if (when == WHEN_EXECUTED)
		return width == WIDTH_1;
	return when != WHEN_PORT && width != WIDTH_8;
}

bool debug_registers_are_acceptable(const uint32_t registers[8])
{
	uint32_t dr7 = registers[7];

	if ((dr7 & ~DR7_ALLOWED) != 0)
		return false;
	for (unsigned n = 0; n < ADDRESSES; n++) {
		/* The CPU rounds addresses down to the width: none reaches over the end. */
		if (registers[n] >= USER_END)
			return false;
		if (!debug_registers_kind_is_acceptable(DR7_WHEN(dr7, n), DR7_WIDTH(dr7, n)))
			return false;
	}
	return true;
}

static void debug_arm(const uint32_t registers[8])
{
	__asm__ volatile("movl %0, %%dr0" ::"r"(registers[0]));
	__asm__ volatile("movl %0, %%dr1" ::"r"(registers[1]));
	__asm__ volatile("movl %0, %%dr2" ::"r"(registers[2]));
	__asm__ volatile("movl %0, %%dr3" ::"r"(registers[3]));
	__asm__ volatile("movl %0, %%dr6" ::"r"(0));
	__asm__ volatile("movl %0, %%dr7" ::"r"(registers[7] | DR7_ONE));
}

void debug_registers_load(struct cpu *cpu, const uint32_t registers[8])
{
	uint32_t wanted = registers[7] & DR7_ENABLED;

	if (wanted == 0 && !cpu->machine.debug_armed)
		return;
	/* Disarmed first: what is half loaded must not fire. */
	__asm__ volatile("movl %0, %%dr7" ::"r"(DR7_ONE));
	if (wanted != 0)
		debug_arm(registers);
	cpu->machine.debug_armed = wanted != 0;
}

void debug_registers_note(struct thread *thread)
{
	struct thread_extra *extra = thread->machine.extra;
	uint32_t dr6;

	if (extra == NULL)
		return;
	__asm__ volatile("movl %%dr6, %0" : "=r"(dr6));
	__asm__ volatile("movl %0, %%dr6" ::"r"(0));
	extra->debug[6] = dr6 & DR6_KEPT;
}
