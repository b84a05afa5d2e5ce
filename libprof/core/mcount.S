/* SPDX-License-Identifier: MIT */
/*
 * mcount: what the compiler calls at the beginning of every function, with -pg.
 *
 * The function's frame is there already, so %ebp leads to the place of its call.  Arguments may be
 * in registers: all are kept.  Two threads may count the same call at once, on two CPUs: hence the
 * lock.  A count that wraps goes on in the word behind it.
 */
#include "arcs.h"

	.section .note.GNU-stack, "", @progbits

	.text
	.globl	mcount
	.type	mcount, @function
mcount:
	cmpl	$ARCS_IN_TABLE, __mcount_is_on
	jb	off
	pushl	%eax
	pushl	%ecx
	ja	by_label
	movl	4(%ebp), %eax		/* The place of the call, */
	movl	%eax, %ecx
	andl	$((ARC_BUCKETS - 1) * 4), %ecx
	movl	__mcount_buckets(%ecx), %ecx
	testl	%ecx, %ecx
	jz	slow
	cmpl	%eax, ARC_FROM(%ecx)
	jne	slow
	movl	8(%esp), %eax		/* and the function called. */
	cmpl	%eax, ARC_SELF(%ecx)
	jne	slow
	lock incl ARC_LOW(%ecx)
	jz	carry
out:
	popl	%ecx
	popl	%eax
off:
	ret

slow:
	pushl	%edx
	pushl	12(%esp)
	pushl	4(%ebp)
	call	mcountaux
	addl	$8, %esp
	popl	%edx
	jmp	out

by_label:
	pushl	%edx
	pushl	12(%esp)
	pushl	4(%ebp)
	call	__mcount_by_label
	addl	$8, %esp
	popl	%edx
	jmp	out

carry:
	lock incl ARC_HIGH(%ecx)
	jmp	out
	.size	mcount, . - mcount
