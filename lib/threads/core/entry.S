/* SPDX-License-Identifier: MIT */
/* A new thread's first instructions, on its own stack, with three arguments in registers. */
	.section .note.GNU-stack, "", @progbits

	.text
	.globl	__thread_entry
	.type	__thread_entry, @function
__thread_entry:
	xorl	%ebp, %ebp		/* A backtrace ends here. */
	subl	$4, %esp		/* With three arguments the stack is aligned at the call. */
	pushl	%edx			/* The thread. */
	pushl	%ecx			/* The name of its port. */
	pushl	%ebx			/* Its id. */
	call	__thread_begin
	ud2				/* It does not return. */
	.size	__thread_entry, . - __thread_entry
