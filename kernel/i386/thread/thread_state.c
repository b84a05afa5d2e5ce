/* SPDX-License-Identifier: MIT */
/*
 * The machine's half of threads: stacks, switching, FPU.  Guarded by the kernel lock.
 *
 * The FPU is switched eagerly: a thread's state is saved whenever it leaves a CPU and loaded when
 * it comes, unless the CPU still holds it because nothing but kernel threads ran in between.
 */
#include "i386/thread/thread_state.h"

#include <stddef.h>

#include "base/assert.h"
#include "i386/cpu/cpu.h"
#include "i386/cpu/stack_size.h"
#include "i386/entry/entry.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/follow.h"
#include "i386/thread/extra.h"
#include "i386/thread/fpu.h"
#include "i386/thread/io_permission.h"
#include "prof/waits.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"
#include "vm/map/map.h"

void machine_thread_module_init(void)
{
	extra_module_init();
	io_permissions_module_init();
}

struct frame *thread_frame(const struct thread *thread)
{
	assert(thread->task != NULL);
	return (struct frame *)(thread->machine.stack_top - sizeof(struct frame));
}

uint32_t thread_user_pc(const struct thread *thread)
{
	return thread_frame(thread)->eip;
}

/* What switch_stacks() pops when it comes to a new thread for the first time. */
struct first_switch {
	uint32_t edi, esi, ebx, ebp; /* A frame pointer of 0 ends backtraces. */
	uint32_t eip;
};

static void thread_state_push_first_switch(struct thread *thread, uint32_t top,
					   void (*function)(void))
{
	struct first_switch *first = (struct first_switch *)top - 1;

	*first = (struct first_switch){
		.ebx = (uint32_t)function,
		.eip = (uint32_t)thread_entry,
	};
	thread->machine.esp = (uint32_t)first;
}

/* Every field but the FPU's area and what the callers set; the structure may hold anything. */
static void thread_state_set_stack(struct thread *thread, void *stack)
{
	thread->machine.fpu_saved = false;
	thread->machine.fpu_cpu = NULL;
	thread->machine.extra = NULL;
	thread->machine.apart = NULL;
	thread->machine.gs = 0;
	thread->machine.pmap = thread->task != NULL ? thread->task->map->pmap : &kernel_pmap;
	thread->machine.stack = stack;
	thread->machine.stack_top = (uint32_t)stack + KERNEL_STACK_SIZE;
}

void machine_thread_init_kernel(struct thread *thread, void *stack, void (*function)(void))
{
	thread_state_set_stack(thread, stack);
	thread_state_push_first_switch(thread, thread->machine.stack_top, function);
}

void machine_thread_init_user(struct thread *thread, void *stack, uint32_t entry, uint32_t esp)
{
	struct frame *frame;

	thread_state_set_stack(thread, stack);
	frame = thread_frame(thread);
	*frame = (struct frame){
		.fs = USER_DS,
		.es = USER_DS,
		.ds = USER_DS,
		.eip = entry,
		.cs = USER_CS,
		.eflags = EFLAGS_ONE | EFLAGS_IF,
		.esp = esp,
		.ss = USER_DS,
	};
	thread->machine.gs = USER_DS;
	thread_state_push_first_switch(thread, (uint32_t)frame, NULL);
}

void machine_thread_adopt_boot_stack(struct thread *thread)
{
	extern char boot_stack[];

	thread_state_set_stack(thread, boot_stack);
}

/* ---------------- Switching ---------------- */

static void thread_state_user_state_save(struct thread *thread)
{
	fpu_save(thread->machine.fpu);
	thread->machine.fpu_saved = true;
	__asm__ volatile("movw %%gs, %0" : "=rm"(thread->machine.gs));
}

/* A selector that has become invalid since it was saved is loaded as the null selector. */
static void thread_state_load_gs(uint16_t selector)
{
	__asm__ volatile("1: movw %w0, %%gs\n"
			 "2:\n"
			 ".pushsection .text.landings, \"ax\"\n"
			 "3: movw %w1, %%gs\n"
			 "jmp 2b\n"
			 ".popsection\n"
			 ".pushsection .recover, \"a\"\n"
			 ".long 1b, 3b\n"
			 ".popsection" ::"r"(selector),
			 "r"(0));
}

static void thread_state_user_state_load(struct cpu *cpu, struct thread *thread)
{
	thread_state_load_gs(thread->machine.gs);
	if (!thread->machine.fpu_saved)
		fpu_load(fpu_clean);
	else if (cpu->machine.fpu_thread != thread || thread->machine.fpu_cpu != cpu)
		fpu_load(thread->machine.fpu);
	cpu->machine.fpu_thread = thread;
	thread->machine.fpu_cpu = cpu;
}

/*
 * Switches between threads of which one has a state that most have not.  Not inlined: else every
 * switch takes two instructions more (tools/bench call-general).
 */
static __attribute__((noinline)) void
thread_state_switch_apart(struct cpu *cpu, struct thread *previous, struct thread *next)
{
	follow_set_apart(cpu, next->machine.apart);
	if (previous->watched || next->watched)
		waits_switched(previous, next);
	if (cpu->machine.extra != next->machine.extra)
		extra_load(cpu, next);
}

void machine_switch(struct cpu *cpu, struct thread *previous, struct thread *next)
{
	struct pmap *pmap = next->machine.pmap;

	if (previous->task != NULL)
		thread_state_user_state_save(previous);
	cpu->thread = next;
	cpu->machine.tss.esp0 = next->machine.stack_top;
	if (cpu->machine.pmap != pmap)
		pmap_load(cpu, pmap);
	if (cpu->machine.apart != next->machine.apart)
		thread_state_switch_apart(cpu, previous, next);
	if (next->task != NULL)
		thread_state_user_state_load(cpu, next);
	switch_stacks(&previous->machine.esp, next->machine.esp);
}

void machine_watch_switches(struct thread *thread, bool watch)
{
	thread->machine.apart = watch || thread->machine.extra != NULL ? thread : NULL;
	if (thread->state == THREAD_RUNNING)
		thread->cpu->machine.apart = follow_apart(thread->machine.apart);
}

void machine_thread_store(struct thread *thread)
{
	assert(thread == current_thread());
	thread_state_user_state_save(thread);
}

void machine_thread_reload(struct thread *thread)
{
	struct cpu *cpu = cpu_self();

	assert(thread == current_thread());
	extra_load(cpu, thread);
	thread_state_user_state_load(cpu, thread);
}

void machine_thread_forget_fpu(const struct thread *thread)
{
	for (uint32_t n = 0; n < n_cpus; n++)
		if (cpus[n].machine.fpu_thread == thread)
			cpus[n].machine.fpu_thread = NULL;
}

void machine_thread_forget(struct thread *thread)
{
	machine_thread_forget_fpu(thread);
	if (thread->machine.extra != NULL)
		extra_free(thread);
}
