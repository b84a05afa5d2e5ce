/* SPDX-License-Identifier: MIT */
/*
 * What the kernel saves of whatever it interrupts, for C and assembler.
 *
 * Every way into the kernel builds the same frame: exceptions, interrupts, NMI and the call gate.
 * When it came from user mode the frame lies at the very top of the thread's kernel stack.  `esp`
 * and `ss` are there only then.  %gs is the user's all the time and is changed by thread switches
 * only.
 */
#ifndef I386_CPU_FRAME_H
#define I386_CPU_FRAME_H

#define FRAME_EAX    40
#define FRAME_VECTOR 44
#define FRAME_EIP    52
#define FRAME_CS     56
#define FRAME_EFLAGS 60
#define FRAME_ESP    64
#define FRAME_SIZE   72

/* Selectors; the first four in the order that sysenter wants. */
#define KERNEL_CS             0x08
#define KERNEL_DS             0x10
#define USER_CS               0x1b
#define USER_DS               0x23
#define KERNEL_PERCPU         0x28 /* Base: this CPU's struct cpu.  In %fs while in the kernel. */
#define SELECTOR_TSS          0x30
#define SELECTOR_DOUBLE_FAULT 0x38
#define SELECTOR_LDT          0x40
#define USER_GDT              0x4b /* The first of the slots that a thread fills for itself. */
#define USER_GDT_SLOTS        2
#define GDT_ENTRIES           (9 + USER_GDT_SLOTS)

/* The local descriptor table: its first entry is Mach's call gate, selector 7. */
#define LDT_GATE      0
#define LDT_USER_CODE 2 /* Selector 0x17 and */
#define LDT_USER_DATA 3 /* 0x1f: what GNU Mach gives its programs. */
#define LDT_ENTRIES   4

#define EFLAGS_ONE 0x00000002
#define EFLAGS_TF  0x00000100
#define EFLAGS_IF  0x00000200
#define EFLAGS_RF  0x00010000
#define EFLAGS_VM  0x00020000

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct frame {
	uint32_t fs, es, ds; /* Only the low halves mean anything. */
	uint32_t edi, esi, ebp, unused_esp, ebx, edx, ecx, eax;
	uint32_t vector;
	uint32_t error; /* The CPU's error code; for the call gate the trap number as given. */
	uint32_t eip, cs, eflags;
	uint32_t esp, ss; /* Only when user mode was interrupted. */
};

_Static_assert(offsetof(struct frame, eax) == FRAME_EAX, "entry.S");
_Static_assert(offsetof(struct frame, vector) == FRAME_VECTOR, "entry.S");
_Static_assert(offsetof(struct frame, eip) == FRAME_EIP, "entry.S");
_Static_assert(offsetof(struct frame, cs) == FRAME_CS, "entry.S");
_Static_assert(offsetof(struct frame, eflags) == FRAME_EFLAGS, "entry.S");
_Static_assert(offsetof(struct frame, esp) == FRAME_ESP, "entry.S");
_Static_assert(sizeof(struct frame) == FRAME_SIZE, "entry.S");

/*
 * Whether the frame is of user mode.  In the first instructions of the call gate it is not.  In
 * virtual-8086 mode, where %cs is no selector, it is: no user should get there, but QEMU's iret
 * takes them.
 */
static inline bool frame_is_user(const struct frame *frame)
{
	return (frame->cs & 3) != 0 || (frame->eflags & EFLAGS_VM) != 0;
}

#endif
#endif
