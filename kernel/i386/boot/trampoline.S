/* SPDX-License-Identifier: MIT */
/*
 * Where another CPU starts: in real mode, at the beginning of a page below 1 MiB.
 *
 * start_cpus() copies [trampoline, trampoline_end) to TRAMPOLINE_PAGE and fills in the four words
 * at its end.  The CPU takes the same steps as boot.S and goes on in ap_main() on its own stack.
 */
#include "i386/boot/trampoline.h"
#include "i386/cpu/frame.h"
#include "i386/cpu/memory.h"

#define THERE(symbol) (TRAMPOLINE_PAGE + (symbol) - trampoline)

#define CR0_PE 0x00000001
#define CR0_PG 0x80000000
#define CR0_WP 0x00010000
#define CR4_PAE 0x00000020
#define MSR_EFER 0xc0000080

	.section .rodata.trampoline, "a"
	.globl	trampoline
	.balign	16
trampoline:
	.code16
	cli
	cld
	xorw	%ax, %ax
	movw	%ax, %ds
	lgdtl	THERE(trampoline_gdtr)
	movl	$CR0_PE, %eax
	movl	%eax, %cr0
	ljmpl	$KERNEL_CS, $THERE(1f)

	.code32
1:	movw	$KERNEL_DS, %ax
	movw	%ax, %ds
	movw	%ax, %es
	movw	%ax, %ss
	movl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	THERE(trampoline_efer), %eax
	testl	%eax, %eax
	jz	2f			/* No NX, and then no such register either. */
	xorl	%edx, %edx
	movl	$MSR_EFER, %ecx
	wrmsr
2:	movl	THERE(trampoline_cr3), %eax
	movl	%eax, %cr3
	movl	$CR0_PG | CR0_WP | CR0_PE, %eax
	movl	%eax, %cr0
	movl	THERE(trampoline_stack), %esp
	movl	THERE(trampoline_cpu), %eax
	xorl	%ebp, %ebp
	movl	$ap_main, %edx
	call	*%edx

	.balign	8
trampoline_gdt:
	.quad	0
	.quad	0x00cf9a000000ffff	/* KERNEL_CS: flat code */
	.quad	0x00cf92000000ffff	/* KERNEL_DS: flat data */
trampoline_gdtr:
	.word	. - trampoline_gdt - 1
	.long	THERE(trampoline_gdt)

	.balign	4
	.globl	trampoline_words
trampoline_words:			/* struct trampoline_words */
trampoline_cr3:
	.long	0
trampoline_efer:
	.long	0
trampoline_stack:
	.long	0
trampoline_cpu:
	.long	0
	.globl	trampoline_end
trampoline_end:

	.section .note.GNU-stack, "", @progbits
