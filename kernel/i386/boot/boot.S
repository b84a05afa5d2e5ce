/* SPDX-License-Identifier: MIT */
/*
 * The kernel's first instructions: from the boot loader, without paging, to kernel_main().
 *
 * A multiboot loader enters at `boot_start` with the loader's magic in %eax and its information in
 * %ebx.  Addresses here are physical until paging is on.  The CPU is checked first: with a feature
 * missing nothing later could even print.  Page tables are the kernel's one directory, seen both at
 * 0 and at KERNEL_BASE; pmap_init() leaves them, and CPUs that start later come through them.
 */
#include "i386/cpu/frame.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/stack_size.h"

#define PHYSICAL(symbol) ((symbol) - KERNEL_BASE)

#define MULTIBOOT_MAGIC 0x1badb002
#define MULTIBOOT_FLAGS 0x00000003 /* Modules on page boundaries; memory information. */

#define CR0_PG 0x80000000
#define CR0_WP 0x00010000
#define CR4_PAE 0x00000020

#define PTE_PRESENT_WRITE 0x003
#define PTE_LARGE 0x080

/* CPUID.1:EDX bits: PSE, TSC, MSR, PAE, CX8, APIC, CMOV, FXSR. */
#define CPU_NEEDED                                                                             \
	((1 << 3) | (1 << 4) | (1 << 5) | (1 << 6) | (1 << 8) | (1 << 9) | (1 << 15) | (1 << 24))

	.section .boot, "ax"
	.balign 4
	.long	MULTIBOOT_MAGIC
	.long	MULTIBOOT_FLAGS
	.long	-(MULTIBOOT_MAGIC + MULTIBOOT_FLAGS)

	.globl	boot_start
	.type	boot_start, @function
boot_start:
	cld
	movl	%eax, %esi
	movl	$PHYSICAL(boot_stack_top), %esp
	call	check_cpu

	rdtsc
	movl	%eax, PHYSICAL(boot_cycles)
	movl	%edx, PHYSICAL(boot_cycles) + 4

	/* The direct map, in pages of 2 MiB. */
	movl	$PHYSICAL(kernel_directory), %edi
	movl	$PTE_PRESENT_WRITE | PTE_LARGE, %eax
1:	movl	%eax, (%edi)
	addl	$0x200000, %eax
	addl	$8, %edi
	cmpl	$DIRECT_MAP_SIZE, %eax
	jb	1b

	movl	%cr4, %eax
	orl	$CR4_PAE, %eax
	movl	%eax, %cr4
	movl	$PHYSICAL(boot_pdpt), %eax
	movl	%eax, %cr3
	movl	%cr0, %eax
	orl	$CR0_PG | CR0_WP, %eax
	movl	%eax, %cr0
	movl	$1f, %eax
	jmp	*%eax
1:
	movl	$boot_stack_top, %esp
	xorl	%ebp, %ebp
	movl	%esi, %eax
	movl	%ebx, %edx
	call	kernel_main
	.size	boot_start, . - boot_start

	/*
	 * Returns if the CPU can run Assay, else says so on the first serial port and the screen.
	 */
	.type	check_cpu, @function
check_cpu:
	pushl	%ebx
	pushfl
	popl	%eax
	movl	%eax, %ecx
	xorl	$0x00200000, %eax
	pushl	%eax
	popfl
	pushfl
	popl	%eax
	xorl	%ecx, %eax
	testl	$0x00200000, %eax
	jz	cpu_refused
	movl	$1, %eax
	cpuid
	andl	$CPU_NEEDED, %edx
	cmpl	$CPU_NEEDED, %edx
	jne	cpu_refused
	popl	%ebx
	ret
	.size	check_cpu, . - check_cpu

	.type	cpu_refused, @function
cpu_refused:
	movl	$PHYSICAL(refusal), %esi
	movl	$0xb8000, %edi
1:	lodsb
	testb	%al, %al
	jz	2f
	movw	$0x3f8, %dx
	outb	%al, %dx
	movb	$0x07, %ah
	stosw
	jmp	1b
2:	movw	$0xf4, %dx		/* The debug exit, where there is one. */
	movl	$4, %eax		/* MACHINE_REFUSED */
	outl	%eax, %dx
3:	cli
	hlt
	jmp	3b
	.size	cpu_refused, . - cpu_refused

	.section .boot.data, "a"
refusal:
	.ascii	"Assay cannot run here: it needs a CPU with PSE, TSC, MSR, PAE, CX8, APIC, "
	.asciz	"CMOV and FXSR.\r\n"

	.data
	.balign 32
	.globl	boot_pdpt
boot_pdpt:
	.long	PHYSICAL(kernel_directory) + 1, 0
	.long	0, 0
	.long	0, 0
	.long	PHYSICAL(kernel_directory) + 1, 0
	.globl	boot_cycles
boot_cycles:
	.long	0, 0

	.bss
	.balign 4096
	.globl	kernel_directory
kernel_directory:
	.skip	4096
	.globl	boot_stack_guard
boot_stack_guard:			/* Unmapped by pmap_init(). */
	.skip	4096
	.globl	boot_stack
boot_stack:
	.skip	KERNEL_STACK_SIZE
	.globl	boot_stack_top
boot_stack_top:

	.section .note.GNU-stack, "", @progbits
