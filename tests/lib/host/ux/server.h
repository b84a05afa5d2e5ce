/* SPDX-License-Identifier: MIT */
/*
 * The ground that parts of the Unix server stand on when they are tested on the host.
 *
 * Threads are the host's (threads.h), memory is malloc's, the device is an image (image.h).  A test
 * program says in its first comment what it links, with threads.c, image.c and server.c of here.
 */
#ifndef HOST_UX_SERVER_H
#define HOST_UX_SERVER_H

#include "check.h"
#include "fs/vnode.h"
#include "image.h"
#include "threads.h"

/* The server's clock, which only tests move. */
extern time_t host_seconds;

/* How large a file system's cache becomes. */
extern size_t host_cache_size;

/* Whether lines of the log are printed; how many there were, and the last. */
extern bool host_log_is_shown;
extern unsigned host_log_lines;
extern char host_log_line[256];

/* The last call of paging_changed(), and how many there were; the same of paging_forget(). */
extern struct vnode *host_changed_vnode;
extern off_t host_changed_offset, host_changed_size;
extern unsigned host_changes, host_forgets;

/*
 * For whom this thread works, 0 for nobody; whether all whom it worked for have ended; and what was
 * written for each.
 */
#define HOST_CLIENTS 4u
extern _Thread_local uint32_t host_served;
extern bool host_all_are_gone;
extern unsigned host_requests_for[HOST_CLIENTS], host_blocks_for[HOST_CLIENTS];

/* Root, and somebody who is not. */
extern const struct credentials host_root, host_user;

/* Makes an image and mounts it: the lock is held from then on.  False: the test has failed. */
bool host_mount_new(const char *options, unsigned kib);

/* Mounts the image as it is: 0, or why not.  Holds the lock if it is mounted. */
int host_mount(void);

/* Unmounts it, and fails the test unless e2fsck finds nothing. */
void host_unmount(void);
void host_unmount_unchecked(void);

/* A number from 0 to n - 1 out of a repeatable sequence. */
uint32_t host_random(uint32_t *state, uint32_t n);

#endif
