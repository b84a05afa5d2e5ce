/* SPDX-License-Identifier: MIT */
/* What may be done with memory. */
#ifndef MACH_VM_PROT_H
#define MACH_VM_PROT_H

typedef int vm_prot_t;

#define VM_PROT_NONE    0
#define VM_PROT_READ    1
#define VM_PROT_WRITE   2
#define VM_PROT_EXECUTE 4
#define VM_PROT_DEFAULT (VM_PROT_READ | VM_PROT_WRITE)
#define VM_PROT_ALL     (VM_PROT_READ | VM_PROT_WRITE | VM_PROT_EXECUTE)

/* For memory_object_lock_request() alone: leave the locks as they are. */
#define VM_PROT_NO_CHANGE 8
/* For vm_protect(): nothing more than was asked; accepted and without effect. */
#define VM_PROT_NOTIFY 16

#endif
