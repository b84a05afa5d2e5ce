/* SPDX-License-Identifier: MIT */
/*
 * Which I/O ports a task may use from user mode.
 *
 * An I/O permission is a port of the kernel's that stands for a range of I/O ports; whoever has a
 * send right to it can let a task use them.  What a task may use is a bitmap beside its page tables
 * (struct pmap).  A CPU has the bitmap in its task state only while it runs a thread that has used
 * it: the first `in` or `out` of a thread is a protection fault, and io_permissions_fault() then
 * loads it.  Guarded by the kernel lock.
 */
#ifndef I386_THREAD_IO_PERMISSION_H
#define I386_THREAD_IO_PERMISSION_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct io_permissions;
struct thread;

void io_permissions_module_init(void);

/* Puts the task's bitmap into this CPU's task state; NULL: no thread, no port. */
void io_permissions_load(struct cpu *cpu, const struct thread *thread);

/*
 * The current thread has caused a protection fault.  True: its task may use I/O ports, and now this
 * thread can; the instruction is to be tried again.
 */
bool io_permissions_fault(struct thread *thread);

/* The first bits of the bitmap: 1 where the thread's task may not use the port. */
void io_permissions_show(const struct thread *thread, uint8_t *bits, uint32_t bytes);

/* Frees what an address space had; NULL: nothing. */
void io_permissions_free(struct io_permissions *io);

#endif
