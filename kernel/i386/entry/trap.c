/* SPDX-License-Identifier: MIT */
/*
 * Exceptions and interrupts, once entry.S has saved what they interrupted.
 *
 * An exception in user mode becomes a Mach exception of the thread.  One in kernel mode is a bug,
 * unless its place is in the recover table: there the kernel handles something of the user's.
 */
#include <stddef.h>

#include <mach/exception.h>
#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/vm_prot.h>

#include "base/assert.h"
#include "base/kernel_stack.h"
#include "base/lock.h"
#include "boot/report.h"
#include "device/interrupt.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/vectors.h"
#include "i386/entry/entry.h"
#include "i386/entry/panic.h"
#include "i386/mmu/shootdown.h"
#include "i386/patch/hold.h"
#include "i386/thread/debug_registers.h"
#include "i386/thread/fpu.h"
#include "i386/thread/io_permission.h"
#include "prof/sampler.h"
#include "task/exception.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "thread/work.h"
#include "vm/map/fault.h"

/* Of exceptions that <mach/exception.h> has no codes for. */
#define EXC_I386_SSEEXTERR 8
#define EXC_I386_ALIGNFLT  17

#define PAGE_FAULT_WRITE 2u
#define PAGE_FAULT_FETCH 16u

struct mach_exception {
	int exception;
	int code;
};

/* What each exception of the CPU is in Mach's terms; page faults have their own function. */
static const struct mach_exception mach_exceptions[VECTOR_EXCEPTIONS] = {
	[VECTOR_DIVIDE] = {EXC_ARITHMETIC, EXC_I386_DIV},
	[VECTOR_DEBUG] = {EXC_BREAKPOINT, EXC_I386_SGL},
	[VECTOR_BREAKPOINT] = {EXC_BREAKPOINT, EXC_I386_BPT},
	[VECTOR_OVERFLOW] = {EXC_ARITHMETIC, EXC_I386_INTO},
	[VECTOR_BOUND] = {EXC_SOFTWARE, EXC_I386_BOUND},
	[VECTOR_INVALID_OPCODE] = {EXC_BAD_INSTRUCTION, EXC_I386_INVOP},
	[VECTOR_NO_FPU] = {EXC_ARITHMETIC, EXC_I386_NOEXT},
	[10] = {EXC_BAD_INSTRUCTION, EXC_I386_INVTSSFLT},
	[VECTOR_NO_SEGMENT] = {EXC_BAD_INSTRUCTION, EXC_I386_SEGNPFLT},
	[VECTOR_STACK] = {EXC_BAD_INSTRUCTION, EXC_I386_STKFLT},
	[VECTOR_PROTECTION] = {EXC_BAD_INSTRUCTION, EXC_I386_GPFLT},
	[VECTOR_FPU] = {EXC_ARITHMETIC, EXC_I386_EXTERR},
	[VECTOR_ALIGNMENT] = {EXC_BAD_ACCESS, EXC_I386_ALIGNFLT},
	[VECTOR_SIMD] = {EXC_ARITHMETIC, EXC_I386_SSEEXTERR},
};

static uint32_t trap_read_cr2(void)
{
	uint32_t address;

	__asm__ volatile("movl %%cr2, %0" : "=r"(address));
	return address;
}

/* ---------------- Exceptions of user mode ---------------- */

/*
 * What the CPU was not let do.  It tells a fetch from a read only where pages can be without the
 * right to execute.
 */
static uint32_t trap_rights_of_touch(const struct frame *frame)
{
	if ((frame->error & PAGE_FAULT_WRITE) != 0)
		return VM_PROT_WRITE;
	return (frame->error & PAGE_FAULT_FETCH) != 0 ? VM_PROT_EXECUTE : VM_PROT_READ;
}

/*
 * Beyond the user's end nothing is mapped for a user, and whether the kernel has a page there is
 * not told.  A thread that is interrupted makes the same touch again if it ever goes on.
 */
static void trap_page_fault_of_user(const struct frame *frame, uint32_t address)
{
	int code = fault(current_thread()->task->map, address, trap_rights_of_touch(frame));

	if (code != KERN_SUCCESS && code != KERN_ABORTED)
		exception_raise(EXC_BAD_ACCESS, code, address);
}

/* What the CPU's own exceptions, but for page faults, are for the program. */
static void trap_other_fault_of_user(const struct frame *frame)
{
	const struct mach_exception *mach = &mach_exceptions[frame->vector];
	struct thread *thread = current_thread();
	uint32_t subcode = frame->error;

	if (mach->exception == 0)
		panic_at(frame, "exception %u of the machine itself", frame->vector);
	if (frame->vector == VECTOR_PROTECTION && io_permissions_fault(thread))
		return;
	if (frame->vector == VECTOR_DEBUG)
		debug_registers_note(thread);
	/* The FPU is still the thread's own: it is switched only with the thread. */
	if (frame->vector == VECTOR_FPU)
		subcode = fpu_status();
	exception_raise(mach->exception, mach->code, subcode);
}

static void trap_exception_of_user(const struct frame *frame)
{
	uint32_t address = trap_read_cr2();

	interrupts_on();
	kernel_lock();
	if (frame->vector == VECTOR_PAGE_FAULT)
		trap_page_fault_of_user(frame, address);
	else
		trap_other_fault_of_user(frame);
	trap_return();
}

/*
 * A thread that was interrupted while its arguments were fetched has the answer of an interrupted
 * call, upon which Mach's libraries make it again.
 */
void trap_bad_arguments(uint32_t address)
{
	struct thread *thread = current_thread();

	assert(kernel_locked());
	if (thread_is_interrupted(thread))
		thread_frame(thread)->eax = MACH_SEND_INTERRUPTED;
	else
		exception_raise(EXC_BAD_ACCESS, KERN_INVALID_ADDRESS, address);
}

/* Number 0 is a hole like others, but has no row in the table. */
void trap_bad_number(void)
{
	struct frame *frame = thread_frame(current_thread());

	assert(kernel_locked());
	if (frame->error == 0)
		frame->eax = KERN_INVALID_ARGUMENT;
	else
		exception_raise(EXC_BAD_INSTRUCTION, EXC_I386_INVOP, frame->error);
}

void trap_bad_return(struct frame *frame)
{
	assert(frame == thread_frame(current_thread()));
	interrupts_on();
	kernel_lock();
	exception_raise(EXC_BAD_INSTRUCTION, EXC_I386_GPFLT, frame->error);
	trap_return();
}

/* ---------------- Exceptions of kernel mode ---------------- */

/*
 * The kernel touched user memory for a user (i386/mmu/copy.h), under the kernel lock: true if the
 * same instruction can go on now.  May block, and come back on another CPU.
 */
static bool trap_resolve(const struct frame *frame, uint32_t address)
{
	struct task *task = current_thread()->task;
	kern_return_t result;

	if (frame->vector != VECTOR_PAGE_FAULT || address >= USER_END || task == NULL)
		return false;
	/* With interrupts off it is the sampling interrupt, which does without. */
	if ((frame->eflags & EFLAGS_IF) == 0)
		return false;
	assert(kernel_locked());
	interrupts_on();
	current_thread()->fault_frame = frame;
	result = fault(task->map, address, trap_rights_of_touch(frame));
	current_thread()->fault_frame = NULL;
	interrupts_off();
	return result == KERN_SUCCESS;
}

static bool trap_recover(struct frame *frame, uint32_t address)
{
	for (const struct recover *entry = recover_table; entry < recover_table_end; entry++)
		if (entry->fault == frame->eip) {
			if (!trap_resolve(frame, address))
				frame->eip = entry->landing;
			return true;
		}
	return false;
}

/*
 * A debug exception in kernel mode is the user's: the kernel uses neither TF nor the debug
 * registers.  TF is still in force before the call gate's first instruction.  It is taken away
 * there, and the kernel goes on in the twin that puts it back into the user's saved flags.  A CPU
 * may also deliver one late that the user's last instruction put off (a load of ss): that one is
 * dropped.
 */
static bool trap_debug_of_user(struct frame *frame)
{
	if (frame->vector != VECTOR_DEBUG)
		return false;
	if ((frame->eflags & EFLAGS_TF) != 0 && frame->eip == (uint32_t)gate_entry)
		frame->eip = (uint32_t)gate_entry_traced;
	frame->eflags &= ~EFLAGS_TF;
	return true;
}

static void trap_exception_of_kernel(struct frame *frame)
{
	uint32_t address = trap_read_cr2();

	if (trap_debug_of_user(frame) || trap_recover(frame, address))
		return;
	if (frame->vector != VECTOR_PAGE_FAULT)
		panic_at(frame, "exception %u in the kernel", frame->vector);
	if (kernel_stack_is_guard(address))
		panic_at(frame, "kernel stack overflow");
	panic_at(frame, "page fault in the kernel: cannot %s 0x%08x",
		 (frame->error & PAGE_FAULT_FETCH) != 0   ? "execute"
		 : (frame->error & PAGE_FAULT_WRITE) != 0 ? "write"
							  : "read",
		 (unsigned)address);
}

/* ---------------- Interrupts ---------------- */

_Static_assert(VECTOR_DEVICES == DEVICE_INTERRUPTS, "a vector each");

/*
 * What an interrupt does at once; it takes no lock and touches nothing that threads do.  The most
 * frequent one is looked for first.
 */
static void trap_hardware_interrupt(struct cpu *cpu, const struct frame *frame)
{
	if (frame->vector == VECTOR_TIMER) {
		tick_interrupt(cpu);
		lapic_eoi();
		return;
	}
	switch (frame->vector) {
	case VECTOR_SHOOTDOWN:
		shootdown_interrupt(cpu);
		break;
	case VECTOR_RESCHEDULE: /* The bit is already in this CPU's work. */
		break;
	default:
		/* Spurious ones of the local APIC and the silenced 8259s want no answer. */
		if (frame->vector - VECTOR_DEVICE >= VECTOR_DEVICES)
			return;
		device_interrupt_note(frame->vector - VECTOR_DEVICE);
	}
	lapic_eoi();
}

void interrupt(struct frame *frame)
{
	struct cpu *cpu;

	if (frame->vector < VECTOR_EXCEPTIONS) {
		if (frame_is_user(frame))
			trap_exception_of_user(frame);
		else
			trap_exception_of_kernel(frame);
		return;
	}
	cpu = cpu_self();
	trap_hardware_interrupt(cpu, frame);
	if (frame_is_user(frame) && cpu->work != 0) {
		interrupts_on();
		kernel_lock();
		user_return();
	}
}

/* Most times the work is the sample itself, whose stack is to be read. */
void work_after_sample(const struct frame *frame)
{
	if (!frame_is_user(frame))
		return;
	interrupts_on();
	kernel_lock();
	if ((cpu_self()->work & WORK_SAMPLE) != 0)
		sample_work();
	user_return();
}

void nmi(struct frame *frame)
{
	if (panic_is_here())
		return;
	hold_if_asked();
	panic_stop_if_asked(frame);
	if (report_request_pending())
		panic_timeout_at(frame, "the runner's time limit is over");
	if (sampler_uses_nmi()) {
		sampler_interrupt(frame);
		sample_work_after_nmi(frame);
	} else if (!hold_was_used()) {
		panic_at(frame, "NMI that nobody asked for");
	}
	/* What ends the wait may have come meanwhile: let the idle loop look before it halts. */
	if (frame->eip == (uint32_t)interrupts_wait_halt)
		frame->eip = (uint32_t)interrupts_wait_over;
}
