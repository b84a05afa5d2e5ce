/* SPDX-License-Identifier: MIT */
/*
 * The server as pager of files: a memory object for each file that is mapped, so that programs are
 * loaded page by page, as they touch them.
 *
 * Requests of the kernel have a port set and threads of their own.  They are served from the block
 * cache like read(), so both see the same data.  The kernel keeps pages of its own meanwhile; a
 * change of the file takes those away first (paging_changed()).
 */
#ifndef UX_PAGING_H
#define UX_PAGING_H

#include "fs/vnode.h"

/* The port by which vm_map() maps the file: a send right, which the caller gives back.  Unlocks. */
int paging_object(struct vnode *vnode, mach_port_t *port);

/* For programs: a proxy, by which pages can be read and executed, or mapped as copies.  Unlocks. */
int paging_proxy(struct vnode *vnode, mach_port_t *port);

/*
 * Contents from `offset` on, `size` bytes, are about to be others, or are no longer there.  The
 * vnode is busy until they are.  Does not unlock.
 */
void paging_changed(struct vnode *vnode, off_t offset, off_t size);

/* The vnode's last reference but the memory object's has gone, or the file has been removed. */
void paging_forget(struct vnode *vnode);

/* Waits until files that have been removed are no longer kept for maps: before a halt.  Unlocks. */
void paging_settle(void);

/* Starts the threads. */
bool paging_start(void);

/* ---------------- Between these files ---------------- */

/*
 * Guarded by the server's lock.  It has a reference to the vnode, and lives as long as somebody has
 * a send right to its port: a caller of paging_object(), or the kernel.
 */
struct memory_object {
	struct list link; /* In the list of all. */
	natural_t id;     /* Payload of its port; never used again. */
	struct vnode *vnode;
	mach_port_t port;    /* Receive right. */
	mach_port_t control; /* Send right; null: the kernel does not have it. */
	unsigned rights;     /* Send rights ever made. */
	bool is_kept;        /* By the kernel, when nobody maps it. */
};

/* Null if the kernel's message was for one that is no more. */
struct memory_object *paging_find(natural_t id);

/* The kernel tells that there was no send right when so many had been made.  Unlocks. */
void paging_no_senders(struct memory_object *object, unsigned rights);

/* Receives and serves the kernel's requests, for ever (paging_requests.c). */
void paging_serve(void *ports);

#define PAGING_THREADS 4 /* A request may wait for a disk, and others go on meanwhile. */

/*
 * What is sent to the kernel (paging_answers.c).  None of these waits: an object may have ended,
 * and then its control port is in a queue of this server's.
 */
void answer_ready(mach_port_t control, bool may_cache);
void answer_supply(mach_port_t control, vm_offset_t offset, const void *data, vm_size_t size);
void answer_error(mach_port_t control, vm_offset_t offset, vm_size_t size);
void answer_unlock(mach_port_t control, vm_offset_t offset, vm_size_t size);
void answer_attributes(mach_port_t control, bool may_cache);

/* The kernel has none of these pages when this returns. */
void answer_flush(mach_port_t control, vm_offset_t offset, vm_size_t size);

#endif
