/* SPDX-License-Identifier: MIT */
/*
 * A user's stack for a sample, walked when the ring is read.
 *
 * The user's memory is not touched at its address, where it might fault and ask a pager: its pages
 * are looked up in the address space that the thread's CPU has loaded, and read where the kernel
 * has all memory.  What is not mapped ends the stack, with a mark.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "i386/frame.h"
#include "i386/memory.h"
#include "i386/pmap.h"
#include "i386/sample_stack.h"
#include "i386/thread_state.h"
#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/lock.h"
#include "kern/thread.h"
#include "prof/sampler.h"

/* The user's memory, through the page of it that was looked at last. */
struct view {
	struct pmap *pmap;
	uint32_t page;  /* The user's address of that page. */
	uint32_t shift; /* How much further up the kernel sees it. */
};

/* Brings the page of `address` into view; false, and no other view, if it is not mapped. */
static __attribute__((noinline)) bool turn_to(struct view *view, uint32_t address)
{
	uint32_t rights;
	struct page *page;

	if (address >= USER_END)
		return false;
	page = pmap_lookup(view->pmap, address, &rights);
	if (page == NULL)
		return false;
	view->page = page_trunc(address);
	view->shift = (uint32_t)page_data(page) - view->page;
	return true;
}

static inline bool can_see(struct view *view, uint32_t address)
{
	return (address ^ view->page) < PAGE_SIZE || turn_to(view, address);
}

/* The word at `address`, which is a multiple of 4. */
static inline bool see_word(struct view *view, uint32_t address, uint32_t *word)
{
	if (!can_see(view, address))
		return false;
	*word = *(const uint32_t *)(address + view->shift);
	return true;
}

/*
 * The code around `pc`, whose page is in view; zeros, which mean nothing, for what is not mapped.
 */
static const uint8_t *see_code(struct view *view, uint32_t pc,
			       uint8_t bytes[CODE_BEFORE + CODE_AFTER])
{
	if ((pc & PAGE_MASK) - CODE_BEFORE <= PAGE_SIZE - CODE_BEFORE - CODE_AFTER)
		return (const uint8_t *)(pc + view->shift);
	for (uint32_t i = 0; i < CODE_BEFORE + CODE_AFTER; i++) {
		uint32_t address = pc - CODE_BEFORE + i;

		bytes[i] = can_see(view, address) ? *(const uint8_t *)(address + view->shift) : 0;
	}
	return bytes + CODE_BEFORE;
}

/* Where a walk is: at a return address, in the function whose frame is at `frame_pointer`. */
struct walk {
	uint32_t address;
	uint32_t frame_pointer;
	uint32_t last; /* Frame pointers are above this one. */
};

/* Goes from a frame pointer to what it points at; false if that is not to be read. */
static inline bool follow(struct view *view, struct walk *walk)
{
	uint32_t at = walk->frame_pointer;

	if (at <= walk->last || (at & 3) != 0)
		return false;
	walk->last = at;
	/* Both words are in view, most times. */
	if ((at ^ view->page) < PAGE_SIZE - 4) {
		const uint32_t *words = (const uint32_t *)(at + view->shift);

		walk->frame_pointer = words[0];
		walk->address = words[1];
		return true;
	}
	return see_word(view, at, &walk->frame_pointer) && see_word(view, at + 4, &walk->address);
}

/* The first return address, by the code at the thread's program counter. */
static bool begin(struct walk *walk, struct view *view, const struct frame *frame)
{
	uint8_t bytes[CODE_BEFORE + CODE_AFTER];
	const uint8_t *code = NULL;
	uint32_t top;

	walk->frame_pointer = frame->ebp;
	walk->last = frame->esp - 1;
	if (turn_to(view, frame->eip))
		code = see_code(view, frame->eip, bytes);
	if ((frame->esp & 3) != 0 || !turn_to(view, frame->esp))
		return false;
	top = *(const uint32_t *)(frame->esp + view->shift);
	if (code != NULL && code_has_no_frame(code)) {
		walk->address = top;
		return true;
	}
	if (code != NULL && top == frame->ebp && code_makes_frame(code))
		return see_word(view, frame->esp + 4, &walk->address);
	return follow(view, walk);
}

/* The outermost function has a frame pointer of 0, or returns to nowhere. */
uint32_t sampler_user_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			    bool *cut)
{
	struct view view = {.pmap = thread->cpu->machine.pmap};
	struct walk walk;
	uint32_t n = 0;

	assert(kernel_locked() && thread->cpu->thread == thread);
	*cut = true;
	if (!begin(&walk, &view, thread_frame(thread)))
		return 0;
	while (walk.address != 0) {
		if (n == depth)
			return n;
		frames[n++] = walk.address;
		if (walk.frame_pointer == 0)
			break;
		if (!follow(&view, &walk))
			return n;
	}
	*cut = false;
	return n;
}
