/* SPDX-License-Identifier: MIT */
/* Saving and restoring the registers that a function must keep: <setjmp.h> has the layout. */
	.section .note.GNU-stack, "", @progbits

	.text
	.globl	setjmp, _setjmp
	.type	setjmp, @function
	.type	_setjmp, @function
setjmp:
_setjmp:
	movl	4(%esp), %eax
	movl	$0, 24(%eax)		/* No mask. */
	call	save
	xorl	%eax, %eax
	ret
	.size	setjmp, . - setjmp

/* int sigsetjmp(place, save_mask): the mask is saved by the C function, if it is wanted. */
	.globl	sigsetjmp
	.type	sigsetjmp, @function
sigsetjmp:
	movl	4(%esp), %eax
	call	save
	subl	$4, %esp		/* With two arguments the stack is aligned at the call. */
	pushl	12(%esp)		/* save_mask */
	pushl	12(%esp)		/* place */
	call	__save_mask
	addl	$12, %esp
	xorl	%eax, %eax
	ret
	.size	sigsetjmp, . - sigsetjmp

/* Into the buffer at %eax, as the caller of our caller will see them. */
	.type	save, @function
save:
	movl	%ebx, 0(%eax)
	movl	%esi, 4(%eax)
	movl	%edi, 8(%eax)
	movl	%ebp, 12(%eax)
	leal	8(%esp), %edx		/* Above our return address and our caller's. */
	movl	%edx, 16(%eax)
	movl	4(%esp), %edx
	movl	%edx, 20(%eax)
	ret
	.size	save, . - save

	.globl	longjmp, _longjmp
	.type	longjmp, @function
	.type	_longjmp, @function
longjmp:
_longjmp:
	movl	4(%esp), %edx
	movl	8(%esp), %eax
	testl	%eax, %eax
	jnz	1f
	incl	%eax			/* setjmp() returns 0 only the first time. */
1:	movl	0(%edx), %ebx
	movl	4(%edx), %esi
	movl	8(%edx), %edi
	movl	12(%edx), %ebp
	movl	16(%edx), %esp
	jmp	*20(%edx)
	.size	longjmp, . - longjmp
