/* SPDX-License-Identifier: MIT */
/* What thread_switch() does besides. */
#ifndef MACH_THREAD_SWITCH_H
#define MACH_THREAD_SWITCH_H

#define SWITCH_OPTION_NONE    0
#define SWITCH_OPTION_DEPRESS 1 /* Lowest priority for so many milliseconds. */
#define SWITCH_OPTION_WAIT    2 /* Sleeps for so many milliseconds. */

#define valid_switch_option(option) ((option) >= 0 && (option) <= 2)

#endif
