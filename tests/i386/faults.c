/* SPDX-License-Identifier: MIT */
/*
 * What a user program may do wrong: `faults NAME` does one thing that must end it with an
 * exception.  test_faults.py starts one program for each name and reads in the kernel's log what
 * became of it.
 *
 * The label pc_NAME is where the exception must be reported: the instruction itself for a fault,
 * the one behind it for a trap.  CASE is TEST under another name, for a program that survives its
 * case has not passed.
 */
#include "check.h"
#include <assay.h>

#define CASE(name) TEST(name)

#define FAULT(name, before, at)                                                                   \
	CASE(name)                                                                                \
	{                                                                                         \
		__asm__ volatile(before "\n.globl pc_" #name "\npc_" #name ": " at ::: "memory"); \
	}
#define TRAPPED(name, code) FAULT(name, code, "nop")

/* Sets bits of the flags; the last instruction is the popfl. */
#define FLAGS(bits) "pushfl; orl $" #bits ", (%%esp); popfl;"

/* ---------------- Instructions that raise an exception of their own ---------------- */

FAULT(divide, "xorl %%ecx, %%ecx; movl $1, %%eax; cdq", "divl %%ecx")
FAULT(divide_overflow, "movl $1, %%edx; movl $1, %%ecx", "divl %%ecx")
TRAPPED(breakpoint, "int3")
TRAPPED(breakpoint_long, ".byte 0xcd, 3")
TRAPPED(overflow, "movb $0x7f, %%al; incb %%al; into")
TRAPPED(overflow_by_number, "int $4")
TRAPPED(single_step, FLAGS(0x100) "nop")
FAULT(undefined, "", "ud2")
FAULT(undefined_lock, "", "lock; .byte 0x01, 0xc3")
FAULT(undefined_resume, "", "rsm")

static const int32_t bounds[2] = {1, 5};

CASE(bound)
{
	/* In bytes: assemblers differ about the order of its operands. */
	__asm__ volatile(".globl pc_bound\npc_bound: .byte 0x62, 0x01" ::"a"(6), "c"(bounds));
}

/* ---------------- What only the kernel may do ---------------- */

FAULT(hlt, "", "hlt")
FAULT(cli, "", "cli")
FAULT(sti, "", "sti")
FAULT(in, "", "inb $0x60, %%al")
FAULT(out, "movw $0xf4, %%dx", "outb %%al, %%dx")
FAULT(ins, "movw $0x60, %%dx; leal bounds, %%edi", "insb")
FAULT(clts, "", "clts")
FAULT(invd, "", "invd")
FAULT(wbinvd, "", "wbinvd")
FAULT(invlpg, "", "invlpg (%%esp)")
FAULT(rdmsr, "movl $0x1b, %%ecx", "rdmsr")
FAULT(wrmsr, "movl $0x1b, %%ecx", "wrmsr")
FAULT(read_cr0, "", "movl %%cr0, %%eax")
FAULT(write_cr3, "", "movl %%eax, %%cr3")
FAULT(write_dr7, "", "movl %%eax, %%dr7")
FAULT(lmsw, "", "lmsw %%ax")
FAULT(lgdt, "", "lgdt (%%esp)")
FAULT(lidt, "", "lidt (%%esp)")
FAULT(lldt, "", "lldt %%ax")
FAULT(ltr, "", "ltr %%ax")
FAULT(sysenter, "", "sysenter")

/* ---------------- Ways into the kernel that are none ---------------- */

FAULT(int_nmi, "", "int $2")
FAULT(int_double_fault, "", "int $8")
FAULT(int_page_fault, "", "int $14")
FAULT(int_device, "", "int $0x20")
FAULT(int_linux, "", "int $0x80")
FAULT(int_timer, "", "int $0xe1")
FAULT(int_shootdown, "", "int $0xf1")
FAULT(int_last, "", "int $0xff")
FAULT(ljmp_kernel, "", "ljmp $0x08, $0xc0100000")
FAULT(lcall_kernel, "", "lcall $0x08, $0xc0100000")
FAULT(lcall_task, "", "lcall $0x30, $0")
FAULT(lcall_double_fault_task, "", "lcall $0x38, $0")
FAULT(lcall_table, "", "lcall $0x40, $0")
FAULT(lcall_nothing, "", "lcall $0x0f, $0")
FAULT(lcall_null, "", "lcall $0, $0")
FAULT(ljmp_through_gate, "", "ljmp $7, $0")
FAULT(lret_kernel, "pushl $0x08; pushl $0xc0100000", "lret")
FAULT(iret_kernel, "pushfl; pushl $0x08; pushl $0xc0100000", "iret")
FAULT(iret_virtual, "pushl $0x20202; pushl $0x08; pushl $0", "iret")
FAULT(iret_nested, FLAGS(0x4000), "iret")

/* ---------------- Segments that are not the user's ---------------- */

FAULT(ds_kernel, "movl $0x10, %%eax", "movw %%ax, %%ds")
FAULT(es_kernel_code, "movl $0x08, %%eax", "movw %%ax, %%es")
FAULT(fs_per_cpu, "movl $0x28, %%eax", "movw %%ax, %%fs")
FAULT(gs_task, "movl $0x30, %%eax", "movw %%ax, %%gs")
FAULT(ds_gate, "movl $0x07, %%eax", "movw %%ax, %%ds")
FAULT(ds_nothing, "movl $0x0f, %%eax", "movw %%ax, %%ds")
FAULT(ds_beyond_table, "movl $0xfffb, %%eax", "movw %%ax, %%ds")
FAULT(ss_kernel, "movl $0x10, %%eax", "movw %%ax, %%ss")
FAULT(ss_null, "xorl %%eax, %%eax", "movw %%ax, %%ss")
FAULT(ss_code, "movl $0x1b, %%eax", "movw %%ax, %%ss")

/* ---------------- Memory ---------------- */

FAULT(null_read, "xorl %%eax, %%eax", "movl (%%eax), %%ecx")
FAULT(null_write, "xorl %%eax, %%eax", "movl %%eax, (%%eax)")
FAULT(page_0_end, "movl $0xfff, %%eax", "movb (%%eax), %%cl")
FAULT(unmapped_read, "movl $0x1000, %%eax", "movl (%%eax), %%ecx")
FAULT(unmapped_write, "movl $0x40000000, %%eax", "movl %%eax, (%%eax)")
FAULT(kernel_read, "movl $0xc0100000, %%eax", "movl (%%eax), %%ecx")
FAULT(kernel_write, "movl $0xc0100000, %%eax", "movl %%eax, (%%eax)")
FAULT(kernel_stack_read, "movl $0xf0001000, %%eax", "movl (%%eax), %%ecx")
FAULT(kernel_unmapped_read, "movl $0xfeffe000, %%eax", "movl (%%eax), %%ecx")
FAULT(lapic_write, "movl $0xffffe0b0, %%eax", "movl %%eax, (%%eax)")
FAULT(last_byte_read, "movl $0xffffffff, %%eax", "movb (%%eax), %%cl")
FAULT(user_end_straddled, "movl $0xbffffffe, %%eax", "movl (%%eax), %%ecx")
FAULT(stack_below_all, "xorl %%esp, %%esp", "pushl %%eax")
FAULT(text_write, "leal pc_text_write, %%eax", "movb $0, (%%eax)")
FAULT(null_execute, "xorl %%eax, %%eax", "jmp *%%eax")
FAULT(kernel_execute, "movl $0xc0100000, %%eax", "jmp *%%eax")
FAULT(stack_execute, "movl $0xbffff000, %%eax", "jmp *%%eax")
FAULT(data_execute, "leal data_code, %%eax", "jmp *%%eax")

__asm__(".data\n.globl data_code\ndata_code: nop; nop\n.text");

/* ---------------- Floating point ---------------- */

/*
 * QEMU's own CPU raises neither the alignment check nor the exceptions of SSE, and does not look at
 * the limits of segments: cases for those would prove nothing here.
 */

static const uint16_t control_all_unmasked = 0x0340;
CASE(x87_divide)
{
	__asm__ volatile("fninit; fldcw %0; fld1; fldz; fdivr %%st(1), %%st\n"
			 ".globl pc_x87_divide\npc_x87_divide: fwait" ::"m"(control_all_unmasked));
}

FAULT(sse_misaligned, "andl $-16, %%esp; incl %%esp", "movaps (%%esp), %%xmm0")
