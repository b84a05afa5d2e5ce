/* SPDX-License-Identifier: MIT */
/*
 * The ways into the kernel and out of it.
 *
 * All ways in build a struct frame (i386/cpu/frame.h) and load the kernel's segments, whatever the
 * saved %cs says: in the call gate's first instructions the CPU is in kernel mode with the user's
 * segments and flags, and an interrupt or an NMI can come right there.
 *
 * All ways out to user mode end in `restore_user` with interrupts off and the kernel lock released.
 */
#include "i386/cpu/cpu_offsets.h"
#include "i386/cpu/frame.h"
#include "i386/cpu/lapic.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/vectors.h"
#include <mach/traps.h>

#define KERNEL_FLAGS (EFLAGS_ONE | EFLAGS_IF)

	/* Where a fault at `from` goes on: see i386/entry/entry.h. */
	.macro	RECOVER from, landing
	.pushsection .recover, "a"
	.long	\from, \landing
	.popsection
	.endm

	/*
	 * For debuggers, in no memory of the machine: where what was interrupted has its registers.
	 * The CFA, which does not move, is where the frame's `esp` is, or would be.
	 */
	.cfi_sections .debug_frame
	.macro	CFI_SAVED_REGISTERS
	.cfi_offset %eax, -24; .cfi_offset %ecx, -28; .cfi_offset %edx, -32; .cfi_offset %ebx, -36
	.cfi_offset %ebp, -44; .cfi_offset %esi, -48; .cfi_offset %edi, -52
	.endm

	.macro	CFI_FRAME depth=FRAME_ESP	/* So far above %esp the CFA is. */
	/* Who was interrupted may have another stack: a signal frame says that. */
	.cfi_startproc simple; .cfi_signal_frame; .cfi_def_cfa %esp, \depth
	.cfi_offset %eip, -12; .cfi_offset %cs, -8; .cfi_offset %eflags, -4
	.if	\depth == FRAME_ESP
	CFI_SAVED_REGISTERS
	.endif
	.endm

	/* Of an interrupt: before it %esp was (cs & 3) != 0 ? *CFA : CFA, as a DWARF expression. */
	.macro	CFI_INTERRUPT depth=FRAME_ESP
	CFI_FRAME \depth
	.cfi_escape 0x16, 4, 13, 0x12, 0x38, 0x1c, 6, 0x33, 0x1a, 0x28, 3, 0, 0x2f, 1, 0, 6
	.endm

	/* The call gate's, which only users go through. */
	.macro	CFI_GATE depth=FRAME_ESP
	CFI_FRAME \depth
	.cfi_offset %esp, 0
	.endm

	.macro	PUSH value
	pushl	\value; .cfi_adjust_cfa_offset 4
	.endm

	.macro	POP register
	popl	\register; .cfi_adjust_cfa_offset -4
	.endm

	.macro	SAVE_REGISTERS
	pushal; .cfi_adjust_cfa_offset 32
	CFI_SAVED_REGISTERS
	PUSH	%ds
	PUSH	%es
	PUSH	%fs
	.endm

	/* As they were, and drops vector and error. */
	.macro	LOAD_GENERAL_REGISTERS
	popal; .cfi_adjust_cfa_offset -32
	.irp	register, %eax, %ecx, %edx, %ebx, %ebp, %esi, %edi
	.cfi_same_value \register
	.endr
	addl	$8, %esp; .cfi_adjust_cfa_offset -8
	.endm

	.macro	LOAD_KERNEL_SEGMENTS
	movl	$KERNEL_DS, %edx
	movl	%edx, %ds
	movl	%edx, %es
	movl	$KERNEL_PERCPU, %edx
	movl	%edx, %fs
	.endm

	.macro	FUNCTION name, cfi=.cfi_startproc, depth
	.globl	\name
	.type	\name, @function
\name:
	\cfi	\depth
	.endm

	.macro	END name
	.cfi_endproc
	.size	\name, . - \name
	.endm

/* ---------------- The call gate: Mach's traps ---------------- */

	/*
	 * A trap of \n argument words, which lie on the user's stack behind the return address of
	 * the trap's stub.  %ebx keeps the frame while the arguments are on the kernel's.
	 */
	.macro	GATE_ARGUMENTS n
	.globl	gate_arguments_\n
gate_arguments_\n:
	.cfi_def_cfa %esp, FRAME_ESP
	movl	%esp, %ebx
	.cfi_def_cfa_register %ebx
	movl	FRAME_ESP(%esp), %esi
	cmpl	$USER_END - 4 * (\n + 1), %esi
	ja	gate_lost_\n
	.if	\n < MACH_TRAP_WORDS_MAX
	jmp	.Lgate_push_\n
	.endif
	.endm

	/*
	 * Pushes argument word \n of the user's, or lands where that one is known to be bad.  Falls
	 * into the push of the word before it.
	 */
	.macro	PUSH_ARGUMENT n
.Lgate_push_\n:
	pushl	4 * \n(%esi)
	RECOVER	.Lgate_push_\n, gate_lost_\n
	.pushsection .text.landings, "ax"
gate_lost_\n:
	leal	4 * \n(%esi), %eax
	jmp	gate_bad_arguments
	.popsection
	.endm

	.text
	/*
	 * The gate pushed ss, esp, cs, eip and left the user's flags in force.  Put the flags where
	 * an interrupt would have, with moves that change none of them; then take known ones: TF,
	 * NT, AC and DF of the user must not reach C.  With TF set the CPU traps before the first
	 * instruction here; i386/entry/trap.c takes it to gate_entry_traced.
	 */
	.balign	16
FUNCTION gate_entry, CFI_GATE, 8
	.cfi_offset %eip, -8; .cfi_offset %cs, -4; .cfi_same_value %eflags
	PUSH	(%esp)			/* eip eip cs esp ss */
	PUSH	8(%esp)			/* cs eip eip cs esp ss */
	POP	4(%esp)			/* eip cs cs esp ss */
	.cfi_offset %eip, -12; .cfi_offset %cs, -8
	pushfl
	popl	8(%esp)			/* eip cs eflags esp ss */
	.cfi_offset %eflags, -4
.Lgate_flags_saved:
	PUSH	%eax
	PUSH	$VECTOR_CALL_GATE
	SAVE_REGISTERS
	pushl	$KERNEL_FLAGS
	popfl
	LOAD_KERNEL_SEGMENTS
	lock btsl $0, kernel_lock_word
	jc	gate_wait
gate_locked:
	addl	$MACH_TRAP_COUNT - 1, %eax	/* TRAP_ROW() of the number, which is negative. */
	jnc	gate_bad_number
	jmp	*trap_table + 4(, %eax, 8)
	.globl	gate_arguments_0
gate_arguments_0:
	call	*trap_table(, %eax, 8)
	jmp	gate_return
	.cfi_remember_state
	.irp	n, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11
	GATE_ARGUMENTS \n
	.endr
	.irp	n, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1
	PUSH_ARGUMENT \n
	.endr
	call	*trap_table(, %eax, 8)
	movl	%ebx, %esp
	.cfi_restore_state
gate_return:
	movl	%eax, FRAME_EAX(%esp)
gate_leave:
	cli
	cmpl	$0, %fs:CPU_WORK
	jne	gate_work
	movl	$0, kernel_lock_word	/* Falls into restore_user. */
END gate_entry

	/* Back to user mode with what the frame at %esp says. */
FUNCTION restore_user, CFI_INTERRUPT, FRAME_ESP
1:	POP	%fs
2:	POP	%es
3:	POP	%ds
	LOAD_GENERAL_REGISTERS
4:	iret
	RECOVER	1b, bad_fs
	RECOVER	2b, bad_es
	RECOVER	3b, bad_ds
	RECOVER	4b, bad_iret
END restore_user

	/* As gate_entry, for a user with TF set: it is put back into the saved flags. */
FUNCTION gate_entry_traced, CFI_GATE, 8
	.cfi_offset %eip, -8
	PUSH	(%esp)
	PUSH	8(%esp)
	POP	4(%esp)
	.cfi_offset %eip, -12
	pushfl
	popl	8(%esp)
	orl	$EFLAGS_TF, 8(%esp)
	jmp	.Lgate_flags_saved
END gate_entry_traced

FUNCTION gate_wait, CFI_GATE, FRAME_ESP
	PUSH	%eax
	call	kernel_lock_wait
	POP	%eax
	jmp	gate_locked
END gate_wait

	/* The word at %eax cannot be read: an exception of the caller. */
FUNCTION gate_bad_arguments, CFI_GATE, FRAME_ESP
	.cfi_def_cfa_register %ebx
	movl	%ebx, %esp
	call	trap_bad_arguments
	movl	%ebx, %esp
	jmp	gate_leave
END gate_bad_arguments

FUNCTION gate_bad_number, CFI_GATE, FRAME_ESP
	movl	%esp, %ebx
	call	trap_bad_number
	movl	%ebx, %esp
	jmp	gate_leave
END gate_bad_number

FUNCTION gate_work, CFI_GATE, FRAME_ESP
	sti
	call	trap_return		/* Releases the kernel lock. */
	jmp	restore_user
END gate_work

	/*
	 * A segment or the frame that restore_user loads was refused.  Every landing completes the
	 * frame again from where restore_user stood and falls into the next: the user's registers
	 * are still whole, and the fault becomes an exception of the user.
	 */
FUNCTION bad_iret, CFI_INTERRUPT, 12
	PUSH	$0
	PUSH	$VECTOR_PROTECTION
	pushal; .cfi_adjust_cfa_offset 32
	CFI_SAVED_REGISTERS
	PUSH	%ds
bad_ds:
	PUSH	%es
bad_es:
	PUSH	%fs
bad_fs:
	cld
	LOAD_KERNEL_SEGMENTS
	movl	%esp, %eax
	call	trap_bad_return
	jmp	restore_user
END bad_iret

/* ---------------- Exceptions and interrupts ---------------- */

	/* A row of interrupt_entries: the rows are gathered in one section. */
	.macro	TABLE_ROW vector, code
	.pushsection .rodata.interrupt_entries, "a"
	.long	\vector, \code
	.popsection
	.endm

	.macro	STUB vector, has_error=0
	.balign	4
	.globl	vector_\vector
vector_\vector:
	CFI_INTERRUPT (12+4*\has_error)
	.if	\has_error == 0
	PUSH	$0
	.endif
	PUSH	$\vector
	jmp	interrupt_entry
	.cfi_endproc
	TABLE_ROW \vector, vector_\vector
	.endm

	.section .rodata.interrupt_entries, "a"
	.globl	interrupt_entries
	.balign	4
interrupt_entries:

	.text
	STUB 0
	STUB 1
	STUB 3
	STUB 4
	STUB 5
	STUB 6
	STUB 7
	STUB 9
	STUB 10, 1
	STUB 11, 1
	STUB 12, 1
	STUB 13, 1
	STUB 14, 1
	STUB 16
	STUB 17, 1
	STUB 18
	STUB 19
	.irp	n, 32, 33, 34, 35, 36, 37, 38, 39, 40, 41, 42, 43, 44, 45, 46, 47
	STUB \n
	.endr
	.altmacro
	.set	device_vector, VECTOR_DEVICE
	.rept	VECTOR_DEVICES
	STUB %device_vector
	.set	device_vector, device_vector + 1
	.endr
	STUB %VECTOR_TIMER
	STUB %VECTOR_RESCHEDULE
	STUB %VECTOR_SHOOTDOWN
	STUB %VECTOR_SPURIOUS
	.noaltmacro

	TABLE_ROW VECTOR_NMI, vector_2
	TABLE_ROW VECTOR_SAMPLE, vector_sample
	.section .rodata.interrupt_entries, "a"
	.globl	interrupt_entry_count
interrupt_entry_count:
	.long	(interrupt_entry_count - interrupt_entries) / 8

	.text
	/* The sampling clock's, ten thousand times a second: it goes straight to its function. */
FUNCTION vector_sample, CFI_INTERRUPT, 12
	PUSH	$0
	PUSH	$VECTOR_SAMPLE
	SAVE_REGISTERS
	cld
	LOAD_KERNEL_SEGMENTS
	movl	%esp, %eax
	call	sampler_interrupt
	.globl	sample_returns
sample_returns:
	movl	$0, LAPIC_BASE + LAPIC_EOI
	cmpl	$0, %fs:CPU_WORK
	je	restore_user		/* Good for the kernel's registers as well. */
	movl	%esp, %eax
	call	work_after_sample
	jmp	restore_user
END vector_sample

FUNCTION interrupt_entry, CFI_INTERRUPT, 20
	SAVE_REGISTERS
	cld
	LOAD_KERNEL_SEGMENTS
	movl	%esp, %eax
	call	interrupt		/* Comes back with interrupts off. */
	.globl	interrupt_returns
interrupt_returns:
	testb	$3, FRAME_CS(%esp)
	jnz	restore_user
END interrupt_entry

FUNCTION restore_kernel, CFI_INTERRUPT, FRAME_ESP
	POP	%fs
	POP	%es
	POP	%ds
	LOAD_GENERAL_REGISTERS
	iret
END restore_kernel

	/*
	 * An NMI can come anywhere, and goes back to exactly there: no lock, no work on the way
	 * out.
	 */
FUNCTION vector_2, CFI_INTERRUPT, 12
	PUSH	$0
	PUSH	$VECTOR_NMI
	SAVE_REGISTERS
	cld
	LOAD_KERNEL_SEGMENTS
	movl	%esp, %eax
	call	nmi
	.globl	nmi_returns
nmi_returns:
	jmp	restore_kernel
END vector_2

/* ---------------- Idle ---------------- */

	/*
	 * void interrupts_wait(void)
	 *
	 * No interrupt comes between the two instructions, but an NMI may, and after it the
	 * interrupt that ends the wait: nmi() takes it over the halt.
	 */
FUNCTION interrupts_wait
	sti
	.globl	interrupts_wait_halt
interrupts_wait_halt:
	hlt
	.globl	interrupts_wait_over
interrupts_wait_over:
	ret
END interrupts_wait

/* ---------------- Threads ---------------- */

	/*
	 * void switch_stacks(uint32_t *save_esp, uint32_t load_esp), arguments in %eax and %edx
	 *
	 * Leaves this thread's context on its stack and returns in that of another.
	 */
FUNCTION switch_stacks
	.irp	register, %ebp, %ebx, %esi, %edi
	PUSH	\register
	.cfi_rel_offset \register, 0
	.endr
	movl	%esp, (%eax)
	movl	%edx, %esp
	.irp	register, %edi, %esi, %ebx, %ebp
	POP	\register
	.cfi_restore \register
	.endr
	ret
END switch_stacks

	/*
	 * Where a new thread's first switch_stacks() returns: %ebx is its function, or 0 for a
	 * user.
	 */
FUNCTION thread_entry
	.cfi_undefined %eip		/* Nobody called it. */
	xorl	%ebp, %ebp
	call	thread_begin
	testl	%ebx, %ebx
	jz	1f
	call	*%ebx
	call	thread_exit
1:	call	user_return
	jmp	restore_user
END thread_entry

	.globl	entry_end
entry_end:

	.section .note.GNU-stack, "", @progbits
