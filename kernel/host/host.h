/* SPDX-License-Identifier: MIT */
/*
 * The host, its processors and its one processor set, as objects that ports stand for.
 *
 * All are there from boot and for good.  Guarded by the kernel lock.
 */
#ifndef HOST_HOST_H
#define HOST_HOST_H

#include <mach/message.h>

#include "thread/cpu_state.h"

/* What processors say that they are: no less than a Pentium Pro boots this kernel. */
#define PROCESSOR_TYPE CPU_TYPE_PENTIUMPRO

struct port;

struct host {
	struct port *port;        /* For everybody: to ask, */
	struct port *priv_port;   /* to change, */
	struct port *device_port; /* and for devices. */
	struct port *audit_port;  /* A send right to whoever keeps the audit trail, or none. */
};

struct processor {
	struct port *port;
};

struct processor_set {
	struct port *port;      /* To change it, */
	struct port *name_port; /* and for everybody. */
};

extern struct host the_host;
extern struct processor processors[MAX_CPUS]; /* As cpus[]. */
extern struct processor_set default_set;

/* Makes the ports; panics without memory, as there is at boot. */
void host_module_init(void);

/* The ports, without a reference or a right. */
static inline struct port *host_port(void)
{
	return the_host.port;
}

static inline struct port *host_priv_port(void)
{
	return the_host.priv_port;
}

static inline struct port *host_device_port(void)
{
	return the_host.device_port;
}

/* Gives so many words of information; KERN_FAILURE if *count, the caller's room, is less. */
kern_return_t host_give_info(integer_t *out, mach_msg_type_number_t *count, const void *info,
			     uint32_t words);

#endif
