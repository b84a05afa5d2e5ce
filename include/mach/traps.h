/* SPDX-License-Identifier: MIT */
/* Numbers of Mach's traps on i386, as GNU Mach assigns them. */
#ifndef MACH_TRAPS_H
#define MACH_TRAPS_H

#define TRAP_mach_print    30
#define TRAP_unassigned    31 /* A hole: answers KERN_INVALID_ARGUMENT.  The null trap. */
#define TRAP_swtch_pri     59
#define TRAP_swtch         60
#define TRAP_thread_switch 61

#define MACH_TRAP_COUNT 130 /* Numbers from here on are not in the table. */

/* thread_switch(thread, option, milliseconds) */
#define SWITCH_OPTION_NONE    0
#define SWITCH_OPTION_DEPRESS 1
#define SWITCH_OPTION_WAIT    2

#endif
