/* SPDX-License-Identifier: MIT */
/*
 * Memory objects: memory that a program, their pager, has for others (<mach/memory_object.defs>).
 * The kernel gives the pager a control port, to call it by, and a name port, which only shows which
 * object it is.
 */
#ifndef MACH_MEMORY_OBJECT_H
#define MACH_MEMORY_OBJECT_H

#include <mach/port.h>

typedef mach_port_t memory_object_t;
typedef mach_port_t memory_object_control_t;
typedef mach_port_t memory_object_name_t;
typedef mach_port_t *memory_object_array_t;

#define MEMORY_OBJECT_NULL MACH_PORT_NULL

/*
 * How a pager wants its object to be copied: by pages that are copied at once; by being asked for a
 * new object (memory_object_copy); later, as they are written to, as it changes nothing by itself;
 * the same, and it need not see at all what was written.
 */
typedef int memory_object_copy_strategy_t;

#define MEMORY_OBJECT_COPY_NONE      0
#define MEMORY_OBJECT_COPY_CALL      1
#define MEMORY_OBJECT_COPY_DELAY     2
#define MEMORY_OBJECT_COPY_TEMPORARY 3

/* Which pages memory_object_lock_request() returns: none, those written to, precious ones too. */
typedef int memory_object_return_t;

#define MEMORY_OBJECT_RETURN_NONE  0
#define MEMORY_OBJECT_RETURN_DIRTY 1
#define MEMORY_OBJECT_RETURN_ALL   2

#endif
