/* SPDX-License-Identifier: MIT */
/*
 * One stub for each trap: the way from a C call into the kernel.
 *
 * The trap's number goes, negated, to %eax; the far call goes through the call gate that the kernel
 * keeps in slot 0 of the LDT.  The kernel reads the arguments where the caller of the stub put
 * them, above the stub's return address, and answers in %eax.  All other registers survive.  The
 * stubs are assembly, in a C file because the numbers are in headers that also declare C types.
 */
#include <assay/traps.h>
#include <mach/traps.h>

#define STUB(name, number) STUB_TEXT(name, number)
#define STUB_TEXT(name, number)                                                     \
	__asm__(".pushsection .text." #name ", \"ax\", @progbits\n"                 \
		".globl " #name "\n"                                                \
		".type " #name ", @function\n" #name ": movl $-" #number ", %eax\n" \
		" lcall $7, $0\n"                                                   \
		" ret\n"                                                            \
		".size " #name ", . - " #name "\n"                                  \
		".popsection")

STUB(mach_print, TRAP_mach_print);
STUB(null_trap, TRAP_unassigned);
STUB(swtch_pri, TRAP_swtch_pri);
STUB(swtch, TRAP_swtch);
STUB(thread_switch, TRAP_thread_switch);

STUB(assay_exit, TRAP_assay_exit);
STUB(assay_thread_create, TRAP_assay_thread_create);
STUB(assay_thread_exit, TRAP_assay_thread_exit);
STUB(assay_thread_join, TRAP_assay_thread_join);
STUB(assay_thread_bind, TRAP_assay_thread_bind);
STUB(assay_memory_map, TRAP_assay_memory_map);
STUB(assay_memory_unmap, TRAP_assay_memory_unmap);
STUB(assay_memory_protect, TRAP_assay_memory_protect);
STUB(assay_clock_read, TRAP_assay_clock_read);
STUB(assay_sample_clock, TRAP_assay_sample_clock);
STUB(assay_sample_counts, TRAP_assay_sample_counts);
STUB(assay_counts, TRAP_assay_counts);
STUB(assay_cpu_info, TRAP_assay_cpu_info);
