/* SPDX-License-Identifier: MIT */
/*
 * Where a program begins: on the stack lie argc, the arguments, a null, the environment, a null.
 */
	.section .note.GNU-stack, "", @progbits

	.text
	.globl	_start
	.type	_start, @function
_start:
	xorl	%ebp, %ebp		/* A backtrace ends here. */
	movl	%esp, %eax
	andl	$-16, %esp
	subl	$12, %esp		/* With one argument the stack is aligned at the call. */
	pushl	%eax
	call	__libc_start
	ud2				/* It does not return. */
	.size	_start, . - _start
