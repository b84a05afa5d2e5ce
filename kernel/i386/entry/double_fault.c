/* SPDX-License-Identifier: MIT */
/* The double fault's task: see double_fault.h. */
#include "i386/entry/double_fault.h"

#include <stdnoreturn.h>

#include "base/kernel_stack.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/vectors.h"
#include "i386/entry/panic.h"
#include "i386/mmu/pmap.h"
#include "thread/cpu_state.h"

/* What the faulting code had in its registers: the CPU saved it in its task state. */
static struct frame double_fault_frame_of(const struct tss *tss)
{
	return (struct frame){
		.fs = tss->fs,
		.es = tss->es,
		.ds = tss->ds,
		.edi = tss->edi,
		.esi = tss->esi,
		.ebp = tss->ebp,
		.ebx = tss->ebx,
		.edx = tss->edx,
		.ecx = tss->ecx,
		.eax = tss->eax,
		.vector = VECTOR_DOUBLE_FAULT,
		.eip = tss->eip,
		.cs = tss->cs,
		.eflags = tss->eflags,
		.esp = tss->esp,
		.ss = tss->ss,
	};
}

noreturn static void double_fault(void)
{
	struct cpu *cpu = cpu_self();
	struct frame frame = double_fault_frame_of(&cpu->machine.tss);
	bool overflow = kernel_stack_is_guard(frame.esp - sizeof(uint32_t));

	panic_at(&frame, overflow ? "kernel stack overflow" : "double fault");
}

void double_fault_init(struct cpu *cpu)
{
	struct machine_cpu *machine = &cpu->machine;

	machine->double_fault_tss = (struct tss){
		.cr3 = virt_to_phys(kernel_pmap.pdpt),
		.eip = (uint32_t)double_fault,
		.eflags = EFLAGS_ONE,
		.esp = (uint32_t)(machine->double_fault_stack + DOUBLE_FAULT_STACK_SIZE) -
		       sizeof(uint32_t),
		.cs = KERNEL_CS,
		.ss = KERNEL_DS,
		.ds = KERNEL_DS,
		.es = KERNEL_DS,
		.fs = KERNEL_PERCPU,
		.io_map = sizeof(struct tss),
	};
}
