/* SPDX-License-Identifier: MIT */
/* The machine's half of a thread: its kernel stack, its FPU, its segment registers. */
#ifndef I386_THREAD_STATE_H
#define I386_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

struct cpu;
struct thread;
struct frame;

#define FPU_AREA_SIZE 512

struct machine_thread {
	/* As FXSAVE lays it out.  Meaningful while the thread does not run, if fpu_saved. */
	uint8_t fpu[FPU_AREA_SIZE] __attribute__((aligned(16)));
	bool fpu_saved;      /* It has run in user mode before; else it starts with a clean FPU. */
	struct cpu *fpu_cpu; /* Which CPU's FPU held it last. */
	uint16_t gs;         /* The user's %gs while the thread does not run. */
	uint32_t esp;        /* Where switch_stacks() left off. */
	void *stack;         /* Lowest address of the kernel stack; NULL for the boot stack. */
	uint32_t stack_top;
};

/* The user mode registers of a user thread that is in the kernel. */
struct frame *thread_frame(const struct thread *thread);

/* Where in user mode it is. */
uint32_t thread_user_pc(const struct thread *thread);

/* Prepares a new thread's stack: it will run thread_begin(), then `function` or user mode. */
void machine_thread_init_kernel(struct thread *thread, void *stack, void (*function)(void));
void machine_thread_init_user(struct thread *thread, void *stack, uint32_t entry, uint32_t esp);

/* The boot stack becomes that of the boot CPU's idle thread, which is running on it. */
void machine_thread_adopt_boot_stack(struct thread *thread);

/*
 * Goes on in `next` on this CPU, with its address space and FPU; returns when `previous` runs
 * again.
 */
void machine_switch(struct cpu *cpu, struct thread *previous, struct thread *next);

/* Forgets FPU state that a CPU may still hold for a thread that is gone. */
void machine_thread_forget(struct thread *thread);

#endif
