/* SPDX-License-Identifier: MIT */
/* Types of the mach_i386 interface. */
#ifndef MACH_I386_MACH_I386_TYPES_H
#define MACH_I386_MACH_I386_TYPES_H

#include <mach/port.h>

/* The kernel has its own struct of the same layout: i386/cpu/segment.h. */
#ifndef KERNEL
struct descriptor {
	unsigned int low_word;
	unsigned int high_word;
};
#endif

typedef struct descriptor descriptor_t;
typedef struct descriptor *descriptor_list_t;
typedef const struct descriptor *const_descriptor_list_t;

typedef unsigned short io_port_t;
typedef mach_port_t io_perm_t;

#endif
