/* SPDX-License-Identifier: MIT */
/* The objects of the kernel's interfaces: for a task, names of ports. */
#ifndef MACH_MACH_TYPES_H
#define MACH_MACH_TYPES_H

#include <mach/debug_names.h>
#include <mach/host_info.h>
#include <mach/machine.h>
#include <mach/memory_object.h>
#include <mach/policy.h>
#include <mach/port.h>
#include <mach/processor_info.h>
#include <mach/std_types.h>
#include <mach/task_info.h>
#include <mach/task_special_ports.h>
#include <mach/thread_info.h>
#include <mach/thread_special_ports.h>
#include <mach/thread_status.h>
#include <mach/time_value.h>
#include <mach/vm_attributes.h>
#include <mach/vm_cache_statistics.h>
#include <mach/vm_inherit.h>
#include <mach/vm_prot.h>
#include <mach/vm_statistics.h>
#include <mach/vm_sync.h>
#include <mach/vm_wire.h>

/* The kernel has its own types for its own objects: kernel/task/convert.h. */
#ifndef KERNEL
typedef mach_port_t task_t;
typedef mach_port_t vm_task_t;
typedef mach_port_t ipc_space_t;
typedef mach_port_t thread_t;
typedef mach_port_t thread_act_t; /* The same: as later systems have it. */
typedef mach_port_t host_t;
typedef mach_port_t host_priv_t;
typedef mach_port_t processor_t;
typedef mach_port_t processor_set_t;
typedef mach_port_t processor_set_name_t;
#endif

/* A name of a receive right, of which a send right is made for who is called. */
typedef mach_port_t mach_port_make_send_t;

typedef mach_port_t *task_array_t;
typedef mach_port_t *thread_array_t;
typedef mach_port_t *processor_array_t;
typedef mach_port_t *processor_set_array_t;
typedef mach_port_t *processor_set_name_array_t;
typedef vm_offset_t *emulation_vector_t;
typedef vm_offset_t *vm_offset_array_t;
typedef vm_size_t *vm_size_array_t;

#endif
