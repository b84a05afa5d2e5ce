/* SPDX-License-Identifier: MIT */
/* What a child that is made with its parent's memory gets of it. */
#ifndef MACH_VM_INHERIT_H
#define MACH_VM_INHERIT_H

typedef int vm_inherit_t;

#define VM_INHERIT_SHARE   0 /* The same pages. */
#define VM_INHERIT_COPY    1 /* Pages of its own with the same contents. */
#define VM_INHERIT_NONE    2 /* Nothing. */
#define VM_INHERIT_DEFAULT VM_INHERIT_COPY

#endif
