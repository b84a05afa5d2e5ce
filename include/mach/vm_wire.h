/* SPDX-License-Identifier: MIT */
/* What vm_wire_all() wires. */
#ifndef MACH_VM_WIRE_H
#define MACH_VM_WIRE_H

typedef int vm_wire_t;

#define VM_WIRE_NONE    0
#define VM_WIRE_CURRENT 1 /* What is mapped now, */
#define VM_WIRE_FUTURE  2 /* and what will be. */
#define VM_WIRE_ALL     (VM_WIRE_CURRENT | VM_WIRE_FUTURE)

#endif
