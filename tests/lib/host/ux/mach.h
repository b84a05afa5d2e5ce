/* SPDX-License-Identifier: MIT */
/*
 * A stand-in for lib/mach.h, on the host: the types of the kernel's interface, and those of its
 * calls that a test makes answers of its own for.
 */
#ifndef LIB_MACH_H
#define LIB_MACH_H

#include <mach/host_info.h>
#include <mach/kern_return.h>
#include <mach/mach_types.h>
#include <mach/message.h>
#include <mach/mig_support.h>
#include <mach/port.h>
#include <mach/thread_switch.h>

mach_port_t mach_task_self_cached(void);
mach_port_t mach_host_self(void);
kern_return_t thread_switch(uint32_t thread, int option, uint32_t milliseconds);
kern_return_t mach_port_deallocate(mach_port_t task, mach_port_name_t name);
kern_return_t host_info(mach_port_t host, int flavor, host_info_t info,
			mach_msg_type_number_t *count);
kern_return_t syscall_vm_deallocate(mach_port_t task, vm_address_t address, vm_size_t size);

#endif
