/* SPDX-License-Identifier: MIT */
/*
 * The instructions that touch user memory: see copy_bytes.h.  Arguments in %eax, %edx, %ecx.
 * copy_bytes has no frame, which would be a quarter of what a short message costs here.  A
 * fault at one of them that cannot be resolved goes on at its landing in the recover table.
 */
	.macro	RECOVER from, landing
	.pushsection .recover, "a"
	.long	\from, \landing
	.popsection
	.endm

	.cfi_sections .debug_frame	/* As in entry.S. */
	.macro	PUSH register
	pushl	\register; .cfi_adjust_cfa_offset 4; .cfi_rel_offset \register, 0
	.endm

	.text
	.globl	copy_bytes
	.type	copy_bytes, @function
copy_bytes:
	.cfi_startproc
	PUSH	%esi
	PUSH	%edi
	movl	%eax, %edi
	movl	%edx, %esi
	movl	%ecx, %eax
	shrl	$2, %ecx
1:	rep movsl
	andl	$3, %eax		/* The result, if there is no odd byte. */
	jnz	copy_odd_bytes
copy_bytes_end:
	.cfi_remember_state
	popl	%edi; .cfi_adjust_cfa_offset -4
	popl	%esi; .cfi_adjust_cfa_offset -4
	ret
	.cfi_restore_state
copy_odd_bytes:
	movl	%eax, %ecx
2:	rep movsb
	xorl	%eax, %eax
	jmp	copy_bytes_end
copy_bytes_fault:
	movl	$1, %eax
	jmp	copy_bytes_end
	RECOVER	1b, copy_bytes_fault
	RECOVER	2b, copy_bytes_fault
	.cfi_endproc
	.size	copy_bytes, . - copy_bytes

	.globl	copy_string
	.type	copy_string, @function
copy_string:
	pushl	%ebp			/* By which a debugger goes back from here. */
	movl	%esp, %ebp
	pushl	%esi
	pushl	%edi
	movl	%eax, %edi
	movl	%edx, %esi
	movl	%ecx, %edx
	jecxz	2f
1:	lodsb
	stosb
	testb	%al, %al
	jz	2f
	loop	1b
	movl	%edx, %eax		/* No zero in `size` bytes. */
	jmp	3f
2:	movl	%edx, %eax
	subl	%ecx, %eax
3:	popl	%edi
	popl	%esi
	popl	%ebp
	ret
copy_string_fault:
	movl	$-1, %eax
	jmp	3b
	RECOVER	1b, copy_string_fault
	.size	copy_string, . - copy_string

	.section .note.GNU-stack, "", @progbits
