/* SPDX-License-Identifier: MIT */
/*
 * Where a program starts.  The kernel leaves on the stack: argc, the words of the command line, a
 * null, the environment, a null.  What main returns is the status that the task ends with.
 */
	.section .note.GNU-stack, "", @progbits

	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp		/* A backtrace ends here. */
	movl	(%esp), %eax		/* argc */
	leal	4(%esp), %ecx		/* argv */
	andl	$-16, %esp		/* The ABI wants calls made from an aligned stack; */
	subl	$8, %esp		/* with two arguments below this, it is. */
	pushl	%ecx
	pushl	%eax
	call	main
	pushl	%eax
	call	assay_exit
	ud2				/* assay_exit does not return. */
	.size	_start, . - _start
