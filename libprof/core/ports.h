/* SPDX-License-Identifier: MIT */
/* Ports of the collector's. */
#ifndef LIBPROF_PORTS_H
#define LIBPROF_PORTS_H

#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/port.h>

/* Makes a port with a right to send to it, and puts it into the set. */
kern_return_t __prof_port_member(mach_port_t *port, mach_port_t set);

/* Has the kernel tell `port` when the task has ended. */
kern_return_t __prof_port_watch(mach_port_t task, mach_port_t port);

/* What the kernel calls the task in samples; 0: it has ended. */
uint32_t __prof_task_number(mach_port_t task);

#endif
