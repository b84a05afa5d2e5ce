/* SPDX-License-Identifier: MIT */
/*
 * What the library keeps for each thread, found at %gs:0.
 *
 * Below the block lies the thread's copy of the program's `__thread` variables, as the ABI wants it
 * (variant II): the compiler counts down from the address at %gs:0.
 */
#ifndef LIBC_TCB_H
#define LIBC_TCB_H

#include <mach/port.h>
#include <stddef.h>

struct tcb {
	struct tcb *self; /* At %gs:0. */
	int error;        /* errno */
	int id;           /* Of the thread in its process: 1 for the first. */
	mach_port_t port; /* By which it calls the Unix server. */
	void *thread;     /* For the threads library. */
};

_Static_assert(offsetof(struct tcb, self) == 0, "the compiler finds it at %gs:0");

static inline struct tcb *tcb_self(void)
{
	struct tcb *tcb;

	__asm__("movl %%gs:0, %0" : "=r"(tcb));
	return tcb;
}

/* Bytes of the block with what lies below it, wherever they begin. */
size_t __tcb_size(void);

/* Makes a block in `memory` of __tcb_size() bytes; returns it. */
struct tcb *__tcb_make(void *memory, mach_port_t port, int id);

/* Makes it the calling thread's.  0 if the kernel will not give a segment. */
int __tcb_use(struct tcb *tcb);

/* The Unix server's port of the calling thread. */
#define ux_port() (tcb_self()->port)

#endif
