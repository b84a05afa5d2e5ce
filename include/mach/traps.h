/* SPDX-License-Identifier: MIT */
/* Numbers of Mach's traps on i386, as GNU Mach assigns them. */
#ifndef MACH_TRAPS_H
#define MACH_TRAPS_H

#include <mach/thread_switch.h>

/* Where Mach 2.5 had task_self and its like: they answer no port. */
#define TRAP_old_task_self    10
#define TRAP_old_thread_reply 11
#define TRAP_old_task_notify  12
#define TRAP_old_thread_self  13
#define TRAP_old_host_self    55

#define TRAP_mach_msg         25
#define TRAP_mach_reply_port  26
#define TRAP_mach_thread_self 27
#define TRAP_mach_task_self   28
#define TRAP_mach_host_self   29
#define TRAP_mach_print       30
#define TRAP_unassigned       31 /* A hole: answers KERN_INVALID_ARGUMENT.  The null trap. */

#define TRAP_swtch_pri     59
#define TRAP_swtch         60
#define TRAP_thread_switch 61

/* Short ways to what messages do as well; MACH_SEND_INTERRUPTED: send the message instead. */
#define TRAP_vm_map                  64
#define TRAP_vm_allocate             65
#define TRAP_vm_deallocate           66
#define TRAP_task_create             68
#define TRAP_task_terminate          69
#define TRAP_task_suspend            70
#define TRAP_task_set_special_port   71
#define TRAP_mach_port_allocate      72
#define TRAP_mach_port_deallocate    73
#define TRAP_mach_port_insert_right  74
#define TRAP_mach_port_allocate_name 75
#define TRAP_thread_depress_abort    76

#define TRAP_thread_set_self_state 77

#define MACH_TRAP_WORDS_MAX 11  /* Words of arguments that the longest has. */
#define MACH_TRAP_COUNT     130 /* Numbers from here on are not in the table. */

#endif
