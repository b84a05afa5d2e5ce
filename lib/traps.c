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
#define STUB_TEXT(name, number)                                     \
	__asm__(".pushsection .text." #name ", \"ax\", @progbits\n" \
		".globl " #name "\n"                                \
		".type " #name ", @function\n" #name ":\n"          \
		" .cfi_sections .debug_frame\n"                     \
		" .cfi_startproc\n"                                 \
		" movl $-" #number ", %eax\n"                       \
		" lcall $7, $0\n"                                   \
		" ret\n"                                            \
		" .cfi_endproc\n"                                   \
		".size " #name ", . - " #name "\n"                  \
		".popsection")

STUB(mach_msg_trap, TRAP_mach_msg);
STUB(mach_reply_port, TRAP_mach_reply_port);
STUB(mach_thread_self, TRAP_mach_thread_self);
STUB(mach_task_self, TRAP_mach_task_self);
STUB(mach_host_self, TRAP_mach_host_self);
STUB(mach_print, TRAP_mach_print);
STUB(null_trap, TRAP_unassigned);
STUB(swtch_pri, TRAP_swtch_pri);
STUB(swtch, TRAP_swtch);
STUB(thread_switch, TRAP_thread_switch);
STUB(syscall_vm_map, TRAP_vm_map);
STUB(syscall_vm_allocate, TRAP_vm_allocate);
STUB(syscall_vm_deallocate, TRAP_vm_deallocate);
STUB(syscall_task_create, TRAP_task_create);
STUB(syscall_task_terminate, TRAP_task_terminate);
STUB(syscall_task_suspend, TRAP_task_suspend);
STUB(syscall_task_set_special_port, TRAP_task_set_special_port);
STUB(syscall_mach_port_allocate, TRAP_mach_port_allocate);
STUB(syscall_mach_port_deallocate, TRAP_mach_port_deallocate);
STUB(syscall_mach_port_insert_right, TRAP_mach_port_insert_right);
STUB(syscall_mach_port_allocate_name, TRAP_mach_port_allocate_name);
STUB(syscall_thread_depress_abort, TRAP_thread_depress_abort);
STUB(thread_set_self_state, TRAP_thread_set_self_state);

STUB(assay_exit, TRAP_assay_exit);
STUB(assay_thread_create, TRAP_assay_thread_create);
STUB(assay_thread_exit, TRAP_assay_thread_exit);
STUB(assay_thread_join, TRAP_assay_thread_join);
STUB(assay_thread_bind, TRAP_assay_thread_bind);
STUB(assay_memory_map, TRAP_assay_memory_map);
STUB(assay_memory_unmap, TRAP_assay_memory_unmap);
STUB(assay_memory_protect, TRAP_assay_memory_protect);
STUB(assay_clock_read, TRAP_assay_clock_read);
STUB(assay_thread_label, TRAP_assay_thread_label);
STUB(assay_counts, TRAP_assay_counts);
STUB(assay_cpu_info, TRAP_assay_cpu_info);
STUB(assay_thread_serve, TRAP_assay_thread_serve);
STUB(assay_fail_allocation, TRAP_assay_fail_allocation);
STUB(assay_allocation_site, TRAP_assay_allocation_site);
STUB(assay_interrupts_off, TRAP_assay_interrupts_off);
STUB(assay_count_call, TRAP_assay_count_call);
STUB(assay_event_pass, TRAP_assay_event_pass);
STUB(assay_event_attribute, TRAP_assay_event_attribute);
