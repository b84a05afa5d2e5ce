/* SPDX-License-Identifier: MIT */
/* How vm_msync() writes back. */
#ifndef MACH_VM_SYNC_H
#define MACH_VM_SYNC_H

typedef int vm_sync_t;

#define VM_SYNC_ASYNCHRONOUS 1
#define VM_SYNC_SYNCHRONOUS  2
#define VM_SYNC_INVALIDATE   4

/*
 * Alone, as OSF's Mach has it: the pages stay, but as those that page-out takes first, so that the
 * next touch of each is a reactivation.
 */
#define VM_SYNC_DEACTIVATE 16

#endif
