/* SPDX-License-Identifier: MIT */
/*
 * Proxies: ports by which a part of a memory object can be mapped, with some rights at most
 * (<mach/mach4.defs>).  Who has nothing but the proxy gets no more of the object than that.
 * Guarded by the kernel lock.
 */
#ifndef VM_MAP_PROXY_H
#define VM_MAP_PROXY_H

#include <stdint.h>

#include <mach/vm_prot.h>

struct object;
struct port;

#define PROXY_MAGIC 0x50524f58u

struct proxy {
	uint32_t magic;
	struct port *memory;   /* A send right to the memory object, or PORT_NULL and */
	struct object *object; /* a reference to the object itself, which the proxy shares. */
	uint64_t start;        /* Where in that the part begins, in bytes, */
	uint32_t size;         /* and how long it is. */
	uint32_t rights;       /* VM_PROT_*: the most that mappings may have. */
};

void proxy_module_init(void);

/* The proxy that a port stands for, or NULL. */
struct proxy *proxy_of_port(const struct port *port);

/* The last right to the proxy's port is gone: for port_no_more_senders(). */
void proxy_destroy(struct proxy *proxy);

#endif
