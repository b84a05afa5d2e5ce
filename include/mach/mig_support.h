/* SPDX-License-Identifier: MIT */
/* What generated stubs call. */
#ifndef MACH_MIG_SUPPORT_H
#define MACH_MIG_SUPPORT_H

#include <stddef.h>

#include <mach/port.h>

void *memcpy(void *to, const void *from, size_t size);
size_t strlen(const char *string);

#ifndef KERNEL
/*
 * Reply ports: a receive right for each call that is under way.  put gives one back that can be
 * used again, dealloc one that cannot: a reply may still come to it.
 */
mach_port_t mig_get_reply_port(void);
void mig_put_reply_port(mach_port_t port);
void mig_dealloc_reply_port(mach_port_t port);

/* Destroys the reply ports that are kept for later calls; not while another thread makes one. */
void mig_release_reply_ports(void);

/*
 * Copies a string of at most size - 1 characters and its zero; returns their number without it, to
 * which the stubs add one.
 */
size_t mig_strncpy(char *to, const char *from, size_t size);

/* Memory for results that came in line and have no place of the caller's. */
void mig_allocate(vm_offset_t *address, vm_size_t size);
void mig_deallocate(vm_offset_t address, vm_size_t size);
#endif

#endif
