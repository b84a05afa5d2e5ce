/* SPDX-License-Identifier: MIT */
/* The machine's half of a thread: its kernel stack, its FPU, its segment registers. */
#ifndef I386_THREAD_THREAD_STATE_H
#define I386_THREAD_THREAD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

struct cpu;
struct thread;
struct frame;
struct thread_extra;

#define FPU_AREA_SIZE 512

struct machine_thread {
	/* As FXSAVE lays it out.  Meaningful while the thread does not run, if fpu_saved. */
	uint8_t fpu[FPU_AREA_SIZE] __attribute__((aligned(16)));
	bool fpu_saved;      /* It has run in user mode before; else it starts with a clean FPU. */
	struct cpu *fpu_cpu; /* Which CPU's FPU held it last. */
	uint16_t gs;         /* The user's %gs while the thread does not run. */
	uint32_t esp;        /* Where switch_stacks() left off. */
	struct pmap *pmap;   /* Its task's, or the kernel's. */
	struct thread_extra *extra; /* What few threads have, or NULL: i386/thread/extra.h. */
	struct thread *apart; /* Itself, if a switch from or to it takes more than others do: it has
				 that, or is watched (prof/waits.h); else NULL. */
	void *stack;          /* Lowest address of the kernel stack; NULL for the boot stack. */
	uint32_t stack_top;
};

/* Zones of what few threads have; before the first thread. */
void machine_thread_module_init(void);

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

/* From now on waits_switched() is called when the thread is switched from or to, or is not. */
void machine_watch_switches(struct thread *thread, bool watch);

/* A thread is gone: CPUs forget FPU state of its, and what else it had of the machine is freed. */
void machine_thread_forget(struct thread *thread);

/*
 * The state of a user thread that runs nowhere, in one of the flavors of
 * <mach/i386/thread_status.h>.  `count` is in words: the room there is, and then what was filled.
 * KERN_INVALID_ARGUMENT for an unknown flavor or too little room.
 */
kern_return_t machine_thread_get_state(struct thread *thread, int flavor, uint32_t *state,
				       uint32_t *count);

/*
 * The other way; also for the current thread.  Nothing has changed unless it succeeds.
 * KERN_INVALID_ARGUMENT for what user mode may not have, KERN_RESOURCE_SHORTAGE.
 */
kern_return_t machine_thread_set_state(struct thread *thread, int flavor, const uint32_t *state,
				       uint32_t count);

/*
 * Brings what the CPU holds for the current thread into its structure, and back after a change
 * there.
 */
void machine_thread_store(struct thread *thread);
void machine_thread_reload(struct thread *thread);

/* What the CPUs' FPUs hold of a thread is no longer its state. */
void machine_thread_forget_fpu(const struct thread *thread);

#endif
