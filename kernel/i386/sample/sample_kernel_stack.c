/* SPDX-License-Identifier: MIT */
/*
 * A kernel stack's frames for a sample, walked in the sampling interrupt.
 *
 * The interrupt may be an NMI that came in the middle of anything, so nothing on the stack is
 * believed: no word is read that does not lie on the current thread's kernel stack above what was
 * interrupted, and no word is told that is no address in the kernel's code.  Where the kernel was
 * entered the walk ends: above that the frame pointer is the user's, who may have put anything in.
 */
#include <stddef.h>

#include "base/assert.h"
#include "base/machine.h"
#include "i386/cpu/stack_size.h"
#include "i386/cpu/vectors.h"
#include "i386/entry/entry.h"
#include "i386/patch/thunk.h"
#include "i386/sample/sample_stack.h"
#include "i386/thread/thread_state.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

extern const char kernel_start[], kernel_text_end[];

struct walk {
	const uint32_t *address; /* The next return address is there. */
	uint32_t frame_pointer;  /* Of the function that it leads to. */
	uint32_t end;            /* Of the stack. */
};

static inline bool kernel_walk_is_kernel_code(uint32_t pc)
{
	return pc - (uint32_t)kernel_start < (uint32_t)(kernel_text_end - kernel_start);
}

static inline bool kernel_walk_is_return(uint32_t address)
{
	return kernel_walk_is_kernel_code(address - CALL_LONGEST) &&
	       kernel_walk_is_kernel_code(address) && code_is_behind_call((const uint8_t *)address);
}

/* Goes up to the frame at `frame_pointer`; false if none can be there above what was read. */
static inline bool kernel_walk_step(struct walk *walk)
{
	uint32_t frame_pointer = walk->frame_pointer;
	uint32_t next = (uint32_t)(walk->address + 1);

	/* The frame takes two words. */
	if (frame_pointer < next || frame_pointer > walk->end - 8 || (frame_pointer & 3) != 0)
		return false;
	walk->frame_pointer = *(const uint32_t *)frame_pointer;
	walk->address = (const uint32_t *)frame_pointer + 1;
	return true;
}

/* What `address`, on top of the stack, is to the function that is at `pc`. */
static enum code_return kernel_walk_judge(uint32_t address, uint32_t pc)
{
	uint32_t target;

	if (!kernel_walk_is_kernel_code(address - CALL_SIZE) ||
	    !kernel_walk_is_kernel_code(address))
		return CODE_NO_RETURN;
	target = thunk_see_through(
		code_call_target((const uint8_t *)(address - CALL_SIZE), address));
	if (!kernel_walk_is_kernel_code(target) || !code_is_near_begin(target, pc))
		return CODE_NO_RETURN;
	return *(const uint8_t *)target == CODE_PUSH_EBP ? CODE_HAS_FRAME : CODE_IS_LEAF;
}

/* Where it is, on top of the stack; NULL: the function has a frame. */
static const uint32_t *kernel_walk_find_leafs_return(const struct walk *walk, const uint32_t *top,
						     uint32_t pc)
{
	for (unsigned n = 0; n < LEAF_WORDS && (uint32_t)(top + n) < walk->end; n++) {
		enum code_return found = kernel_walk_judge(top[n], pc);

		if (found != CODE_NO_RETURN)
			return found == CODE_IS_LEAF ? top + n : NULL;
	}
	return NULL;
}

/*
 * Where the first return address is, by the code that was interrupted; in a thunk, by the first of
 * the function that it leads to.
 */
static bool kernel_walk_begin(struct walk *walk, const struct frame *frame, uint32_t depth)
{
	const struct thread *thread = cpu_self()->thread;
	const uint32_t *top = &frame->esp; /* In kernel mode neither esp nor ss was pushed. */
	uint32_t pc = thunk_see_through(frame->eip);
	const uint8_t *code = (const uint8_t *)pc;

	walk->end = thread->machine.stack_top;
	walk->frame_pointer = frame->ebp;
	if ((uint32_t)top - (walk->end - KERNEL_STACK_SIZE) > KERNEL_STACK_SIZE - 8 || depth == 0 ||
	    !kernel_walk_is_kernel_code(pc))
		return false;
	walk->address = kernel_walk_find_leafs_return(walk, top, pc);
	if (code_has_no_frame(code) || (code_may_have_left(code) && kernel_walk_is_return(*top))) {
		walk->address = top;
	} else if (*top == frame->ebp && code_makes_frame(code)) {
		walk->address = top + 1;
	} else if (walk->address == NULL) {
		walk->address = top - 1;
		return kernel_walk_step(walk);
	}
	return true;
}

/* What was interrupted where the return address is that of an interrupt's function, else NULL. */
static const struct frame *kernel_walk_interrupted(const struct walk *walk)
{
	const struct frame *frame = (const struct frame *)(walk->address + 1);

	if (!entry_is_return_of_interrupt(*walk->address))
		return NULL;
	if ((uint32_t)frame > walk->end - sizeof(struct frame) || frame_is_user(frame))
		return NULL;
	return frame;
}

/*
 * Of the walk's end in code of entry.S: true if that was interrupted in the kernel, and the walk
 * goes on there.
 */
static __attribute__((noinline)) bool kernel_walk_pass_interrupt(struct walk *walk,
								 uint32_t *frames, uint32_t *n)
{
	const struct frame *frame = kernel_walk_interrupted(walk);
	uint32_t pc;

	if (frame == NULL)
		return false;
	pc = thunk_see_through(frame->eip);
	if (!kernel_walk_is_kernel_code(pc))
		return false;
	/* Like a return address: a reader looks at the byte before an address. */
	frames[(*n)++] = pc + 1;
	walk->address = &frame->eflags;
	walk->frame_pointer = frame->ebp;
	return true;
}

/* The return addresses from where the walk is on. */
static uint32_t kernel_walk_collect(struct walk *walk, uint32_t *frames, uint32_t depth, bool *cut)
{
	uint32_t n = 0;

	*cut = false;
	for (;;) {
		uint32_t address = *walk->address;

		if (entry_is_at(address)) {
			if (n == depth || !kernel_walk_pass_interrupt(walk, frames, &n))
				return n;
		} else if (n == depth || !kernel_walk_is_kernel_code(address)) {
			break;
		} else {
			frames[n++] = address;
		}
		if (!kernel_walk_step(walk))
			break;
	}
	*cut = true;
	return n;
}

uint32_t machine_kernel_stack(const struct frame *frame, uint32_t *frames, uint32_t depth,
			      bool *cut)
{
	struct walk walk;

	*cut = false;
	if (entry_is_at(frame->eip))
		return 0;
	if (kernel_walk_begin(&walk, frame, depth))
		return kernel_walk_collect(&walk, frames, depth, cut);
	*cut = true;
	return 0;
}

/* ---------------- Events ---------------- */

/*
 * The kernel touches a user's memory by machine code that faults, or looks for the page itself (at
 * `kernel_pc`).
 */
uint32_t machine_event_pc(const struct thread *thread, uint32_t kernel_pc)
{
	if (thread->fault_frame != NULL)
		return thread->fault_frame->eip;
	if (thread->task != NULL && thread_frame(thread)->vector == VECTOR_PAGE_FAULT)
		return 0;
	return kernel_pc;
}

/* Those who look for a page have called; the frames are above the one that returns to them. */
uint32_t machine_event_stack(const struct thread *thread, uint32_t kernel_pc, uint32_t *frames,
			     uint32_t depth, bool *cut)
{
	const uint32_t *own = __builtin_frame_address(0);
	struct walk walk = {own + 1, own[0], thread->machine.stack_top};

	assert(thread == current_thread());
	if (thread->fault_frame != NULL)
		return machine_kernel_stack(thread->fault_frame, frames, depth, cut);
	*cut = true;
	while (*walk.address != kernel_pc)
		if (!kernel_walk_step(&walk))
			return 0;
	return kernel_walk_step(&walk) ? kernel_walk_collect(&walk, frames, depth, cut) : 0;
}

/* ---------------- Waits ---------------- */

/* What switch_stacks() leaves on the stack of the thread that it goes from. */
struct switched {
	uint32_t edi, esi, ebx, ebp;
	uint32_t eip;
};

static const struct switched *kernel_walk_switched_from(const struct thread *thread)
{
	return (const struct switched *)thread->machine.esp;
}

uint32_t machine_waiting_pc(const struct thread *thread)
{
	return kernel_walk_switched_from(thread)->eip;
}

uint32_t machine_waiting_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			       bool *cut)
{
	const struct switched *from = kernel_walk_switched_from(thread);
	struct walk walk = {&from->eip, from->ebp, thread->machine.stack_top};

	*cut = true;
	return kernel_walk_step(&walk) ? kernel_walk_collect(&walk, frames, depth, cut) : 0;
}
