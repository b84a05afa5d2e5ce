/* SPDX-License-Identifier: MIT */
/*
 * mcount: what the compiler calls at the beginning of every function, with -pg; of programs that do
 * without libprof.
 *
 * Nothing is counted here: the kernel does it, for whom the thread works, while anybody asks for
 * that (docs/for-whom.md).  The function's frame is there already, so %ebp leads to the place of
 * its call.  Arguments may be in registers: all are kept.
 */
	.section .note.GNU-stack, "", @progbits

	.text
	.globl	mcount
	.type	mcount, @function
mcount:
	pushl	%eax
	pushl	%ecx
	pushl	%edx
	pushl	12(%esp)		/* The function called, */
	pushl	4(%ebp)			/* and the place of the call. */
	call	assay_count_call
	addl	$8, %esp
	popl	%edx
	popl	%ecx
	popl	%eax
	ret
	.size	mcount, . - mcount
