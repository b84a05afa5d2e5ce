/* SPDX-License-Identifier: MIT */
/*
 * A thread that takes a signal begins here, with %esp at a struct signal_frame.  The registers of
 * before are in the frame; those of the FPU are still in the CPU, and are saved here.
 *
 * For who follows frame pointers, this looks like a function that the interrupted code has called:
 * its return address is the interrupted instruction, and the frame pointer there the next frame's.
 */
	.section .note.GNU-stack, "", @progbits

#define FPU_SIZE 512			/* What FXSAVE stores; aligned to 16. */

#define FRAME_EBP 80			/* Of the context within struct signal_frame: deliver.c */
#define FRAME_EIP 104			/* compares them with the C layout. */

#define FPU_CONTROL 0x37f		/* As at a program's start: all exceptions masked. */
#define MXCSR       0x1f80

	.text
	.globl	__signal_trampoline
	.type	__signal_trampoline, @function

/*
 * The end, with the frame in %ebx: an exception at this instruction, just before the trampoline, is
 * what the server takes for it.  It sets the mask and all registers at once.
 */
signal_end:
	ud2
__signal_trampoline:
	cld
	movl	%esp, %ebx		/* The frame. */
	pushl	FRAME_EIP(%ebx)
	pushl	FRAME_EBP(%ebx)
	movl	%esp, %ebp
	subl	$FPU_SIZE, %esp
	andl	$-16, %esp
	fxsave	(%esp)
	fxrstor	clean_fpu		/* Also where there is no SSE, and thus no LDMXCSR. */
	movl	%esp, %esi
	subl	$12, %esp
	pushl	%ebx
	call	__signal_handle
	fxrstor	(%esi)
	jmp	signal_end
	.size	__signal_trampoline, . - __signal_trampoline

	.section .rodata
	.balign	16
	.type	clean_fpu, @object
clean_fpu:
	.short	FPU_CONTROL
	.skip	22
	.long	MXCSR
	.skip	FPU_SIZE - 28
	.size	clean_fpu, . - clean_fpu
