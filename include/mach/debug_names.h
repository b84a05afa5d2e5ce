/* SPDX-License-Identifier: MIT */
/* Names that people see, of tasks and threads. */
#ifndef MACH_DEBUG_NAMES_H
#define MACH_DEBUG_NAMES_H

#define KERNEL_DEBUG_NAME_MAX 64

typedef char kernel_debug_name_t[KERNEL_DEBUG_NAME_MAX];
typedef const char *const_kernel_debug_name_t;

#endif
