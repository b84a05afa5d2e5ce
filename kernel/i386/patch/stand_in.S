/* SPDX-License-Identifier: MIT */
/*
 * What is called while calls are counted by label (follow.c): from where labels are set, in place
 * of functions that do what interrupts want, and of the trap that sends messages.  All callers but
 * that one's may know which registers the code that always stands there leaves alone, so these
 * leave alone all of them.
 */
#include "i386/cpu/cpu_offsets.h"
#include "i386/cpu/frame.h"
#include "i386/cpu/vectors.h"

	.macro	FUNCTION name
	.globl	\name
	.type	\name, @function
	.p2align 4
\name:
	.endm

	.macro	END name
	.size	\name, . - \name
	.endm

	.macro	KEEPING function
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	call	\function
	popl	%edx
	popl	%ecx
	popl	%eax
	.endm

	.section .stand_ins, "ax"
FUNCTION follow_set
	KEEPING	follow_label
	ret
END follow_set

FUNCTION follow_switch
	KEEPING	follow_other_thread
	ret
END follow_switch

	/*
	 * With a frame, for those who walk the stack, and in it what was shown before.  An
	 * exception is the thread's own.
	 */
FUNCTION interrupt_apart
	cmpl	$VECTOR_EXCEPTIONS, FRAME_VECTOR(%eax)
	jae	1f
	jmp	interrupt
1:	pushl	%ebp
	movl	%esp, %ebp
	pushl	%eax
	movl	FRAME_VECTOR(%eax), %eax
	call	follow_begin_interrupt
	pushl	%eax
	movl	-4(%ebp), %eax
	call	interrupt
	popl	%edx
	popl	%eax
	call	follow_end_interrupt
	leave
	ret
END interrupt_apart

FUNCTION interrupt_work_apart
	pushl	%ebp
	movl	%esp, %ebp
	subl	$4, %esp
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	call	follow_begin_work
	movl	%eax, -4(%ebp)
	popl	%edx
	popl	%ecx
	popl	%eax
	call	interrupt_work
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	movl	-4(%ebp), %eax
	call	follow_end_event
	popl	%edx
	popl	%ecx
	popl	%eax
	leave
	ret
END interrupt_work_apart

	/* The seven words are the caller's, and are handed on. */
FUNCTION mach_msg_apart
	pushl	%ebp
	movl	%esp, %ebp
	leal	8(%ebp), %eax
	call	requests_count
	pushl	%eax
	pushl	32(%ebp)
	pushl	28(%ebp)
	pushl	24(%ebp)
	pushl	20(%ebp)
	pushl	16(%ebp)
	pushl	12(%ebp)
	pushl	8(%ebp)
	call	trap_mach_msg
	movl	-4(%ebp), %edx
	call	requests_done
	leave
	ret
END mach_msg_apart
