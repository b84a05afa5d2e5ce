/* SPDX-License-Identifier: MIT */
/*
 * A thread that takes a signal begins here, with %esp at a struct signal_frame.  The registers of
 * before are in the frame; those of the FPU are still in the CPU, and are saved here, in Linux's
 * layout, so that a handler can see and change them.
 *
 * For who follows frame pointers, this looks like a function that the interrupted code has called:
 * its return address is the interrupted instruction, and the frame pointer there the next frame's.
 */
	.section .note.GNU-stack, "", @progbits

/* deliver.c compares these with the C layout: of the context within struct signal_frame, */
#define FRAME_EBP     188
#define FRAME_EIP     220
#define FRAME_FPSTATE 240

/* and of struct _fpstate, which begins with what FNSAVE stores. */
#define FPU_SIZE   624
#define FPU_SW     4
#define FPU_STATUS 108			/* With the magic behind it. */
#define FPU_FXSAVE 112			/* Aligned to 16, as the whole is. */
#define FPU_MAGIC1 576			/* Where FXSAVE stores nothing.  0: no more than this. */

#define FXSAVE_SIZE 512
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
	fxsave	FPU_FXSAVE(%esp)
	fnsave	(%esp)
	movzwl	FPU_SW(%esp), %eax
	movl	%eax, FPU_STATUS(%esp)
	movl	$0, FPU_MAGIC1(%esp)
	movl	%esp, FRAME_FPSTATE(%ebx)
	fxrstor	clean_fpu		/* Also where there is no SSE, and thus no LDMXCSR. */
	subl	$12, %esp
	pushl	%ebx
	call	__signal_handle
	fxrstor	clean_fpu
	movl	FRAME_FPSTATE(%ebx), %esi
	testl	%esi, %esi
	jz	signal_end
	fxrstor	FPU_FXSAVE(%esi)	/* SSE's registers, and of the x87's what is not below. */
	fninit				/* An exception of before must not be taken here. */
	frstor	(%esi)
	jmp	signal_end
	.size	__signal_trampoline, . - __signal_trampoline

	.section .rodata
	.balign	16
	.type	clean_fpu, @object
clean_fpu:
	.short	FPU_CONTROL
	.skip	22
	.long	MXCSR
	.skip	FXSAVE_SIZE - 28
	.size	clean_fpu, . - clean_fpu
