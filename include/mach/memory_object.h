/* SPDX-License-Identifier: MIT */
/* Memory objects, as far as interfaces name them. */
#ifndef MACH_MEMORY_OBJECT_H
#define MACH_MEMORY_OBJECT_H

#include <mach/port.h>

typedef mach_port_t memory_object_t;
typedef mach_port_t memory_object_control_t;
typedef mach_port_t memory_object_name_t;

#define MEMORY_OBJECT_NULL MACH_PORT_NULL

typedef int memory_object_copy_strategy_t;

#define MEMORY_OBJECT_COPY_NONE      0
#define MEMORY_OBJECT_COPY_CALL      1
#define MEMORY_OBJECT_COPY_DELAY     2
#define MEMORY_OBJECT_COPY_TEMPORARY 3

typedef int memory_object_return_t;

#define MEMORY_OBJECT_RETURN_NONE  0
#define MEMORY_OBJECT_RETURN_DIRTY 1
#define MEMORY_OBJECT_RETURN_ALL   2

#endif
