/* SPDX-License-Identifier: MIT */
/*
 * A user's stack for a sample.
 *
 * There are two ways to look at the user's memory.  The sampling interrupt that came in user mode
 * reads it where it is: the address space is loaded, and a touch of what is not mapped only ends
 * the stack (touch()).  Later, when the thread is in the kernel, its pages are looked up in the
 * page tables and read where the kernel has all memory (struct view); that is under the kernel
 * lock.  Neither brings a page in.  The walk is written once: a view of NULL is the first way.
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
#include "kern/machine.h"
#include "kern/thread.h"
#include "prof/sampler.h"

#define INLINE static inline __attribute__((always_inline))

/* ---------------- The user's memory ---------------- */

/*
 * A fault at one of these loads goes on at its landing, without a look for the page, since
 * interrupts are off (i386/trap.c).
 */

/* The word at `address`; false if it cannot be read. */
INLINE bool touch(uint32_t address, uint32_t *word)
{
	uint32_t could = 1;

	if (address > USER_END - sizeof *word)
		return false;
	__asm__ volatile("1: movl (%2), %0\n"
			 "2:\n"
			 ".pushsection .text.landings, \"ax\"\n"
			 "3: xorl %1, %1\n"
			 "jmp 2b\n"
			 ".popsection\n"
			 ".pushsection .recover, \"a\"\n"
			 ".long 1b, 3b\n"
			 ".popsection"
			 : "=&r"(*word), "+&r"(could)
			 : "r"(address));
	return could != 0;
}

/* What touch_pair() finds where it cannot read. */
#define UNREADABLE 1u

/* The two words of a frame; UNREADABLE and 0 if they cannot be read.  `address` is the user's. */
INLINE void touch_pair(uint32_t address, uint32_t *first, uint32_t *second)
{
	__asm__ volatile("1: movl (%2), %0\n"
			 "2: movl 4(%2), %1\n"
			 "3:\n"
			 ".pushsection .text.landings, \"ax\"\n"
			 "4: movl %3, %0\n"
			 "xorl %1, %1\n"
			 "jmp 3b\n"
			 ".popsection\n"
			 ".pushsection .recover, \"a\"\n"
			 ".long 1b, 4b, 2b, 4b\n"
			 ".popsection"
			 : "=&r"(*first), "=&r"(*second)
			 : "r"(address), "i"(UNREADABLE));
}

/* Three words that lie in one page, or zeros. */
INLINE void touch_three(uint32_t address, uint32_t words[3])
{
	__asm__ volatile("1: movl (%3), %0\n"
			 "2: movl 4(%3), %1\n"
			 "3: movl 8(%3), %2\n"
			 "4:\n"
			 ".pushsection .text.landings, \"ax\"\n"
			 "5: xorl %0, %0\n"
			 "xorl %1, %1\n"
			 "xorl %2, %2\n"
			 "jmp 4b\n"
			 ".popsection\n"
			 ".pushsection .recover, \"a\"\n"
			 ".long 1b, 5b, 2b, 5b, 3b, 5b\n"
			 ".popsection"
			 : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2])
			 : "r"(address));
}

/* Memory through the page of it that was looked at last. */
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

/* The word at `address`, which is a multiple of 4. */
INLINE bool see_word(struct view *view, uint32_t address, uint32_t *word)
{
	if (view == NULL)
		return touch(address, word);
	if ((address ^ view->page) >= PAGE_SIZE && !turn_to(view, address))
		return false;
	*word = *(const uint32_t *)(address + view->shift);
	return true;
}

/* Bytes of code; zeros, which mean nothing, for what is not mapped. */
static __attribute__((noinline)) void see_bytes(struct view *view, uint32_t address, uint8_t *bytes,
						uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		uint32_t word = 0;

		if (!see_word(view, (address + i) & ~3u, &word))
			word = 0;
		bytes[i] = (uint8_t)(word >> (address + i) % 4 * 8);
	}
}

#define SEEN 12u

_Static_assert(SEEN >= CODE_BEFORE + CODE_AFTER && SEEN == 4 * LEAF_WORDS, "what is looked at");

/* The same for the code at a program counter, and for the top of the stack: quicker. */
INLINE void see_three(struct view *view, uint32_t address, uint32_t words[3])
{
	if (view == NULL && (address & PAGE_MASK) <= PAGE_SIZE - SEEN && address < USER_END)
		touch_three(address, words);
	else
		see_bytes(view, address, (uint8_t *)words, SEEN);
}

/* ---------------- The walk ---------------- */

/* Where a walk is: at a return address, in the function whose frame is at `frame_pointer`. */
struct walk {
	uint32_t address;
	uint32_t frame_pointer;
	uint32_t last; /* Frame pointers are above this one. */
};

/* Goes from a frame pointer to what it points at; false if that is not to be read. */
INLINE bool follow(struct view *view, struct walk *walk)
{
	uint32_t at = walk->frame_pointer;
	uint32_t frame_pointer, address;

	if (at <= walk->last || (at & 3) != 0)
		return false;
	if (view == NULL && at > USER_END - 8)
		return false;
	if (view == NULL)
		touch_pair(at, &frame_pointer, &address);
	else if (!see_word(view, at, &frame_pointer) || !see_word(view, at + 4, &address))
		return false;
	*walk = (struct walk){address, frame_pointer, at};
	return true;
}

/* What `address`, on top of the stack, is to the function that is at `pc`. */
INLINE enum code_return judge(struct view *view, uint32_t address, uint32_t pc)
{
	uint8_t call[CALL_SIZE], first;
	uint32_t target;

	if (address - pc + CODE_NEAR > 2 * CODE_NEAR)
		return CODE_NO_RETURN;
	see_bytes(view, address - CALL_SIZE, call, CALL_SIZE);
	target = code_call_target(call, address);
	if (!code_is_near_begin(target, pc))
		return CODE_NO_RETURN;
	see_bytes(view, target, &first, 1);
	return first == CODE_PUSH_EBP ? CODE_HAS_FRAME : CODE_IS_LEAF;
}

/* The first return address, by the code at the program counter. */
INLINE bool begin(struct view *view, struct walk *walk, const struct frame *frame)
{
	uint32_t seen[SEEN / 4], top[LEAF_WORDS];
	const uint8_t *code = (const uint8_t *)seen + CODE_BEFORE;

	walk->frame_pointer = frame->ebp;
	walk->last = frame->esp - 1;
	see_three(view, frame->eip - CODE_BEFORE, seen);
	see_three(view, frame->esp, top);
	if (code_has_no_frame(code)) {
		walk->address = top[0];
		return true;
	}
	if (top[0] == frame->ebp && code_makes_frame(code)) {
		walk->address = top[1];
		return true;
	}
	for (unsigned n = 0; n < LEAF_WORDS; n++) {
		enum code_return found = judge(view, top[n], frame->eip);

		walk->address = top[n];
		if (found == CODE_IS_LEAF)
			return true;
		if (found == CODE_HAS_FRAME)
			break;
	}
	return follow(view, walk);
}

/* The outermost function has a frame pointer of 0, or returns to nowhere. */
INLINE uint32_t walk_stack(struct view *view, const struct frame *frame, uint32_t *frames,
			   uint32_t depth, bool *cut)
{
	struct walk walk;
	uint32_t n = 0;

	*cut = true;
	if (!begin(view, &walk, frame))
		return 0;
	while (walk.address != 0) {
		if (n == depth)
			return n;
		frames[n++] = walk.address;
		if (!follow(view, &walk)) {
			*cut = walk.frame_pointer != 0;
			return n;
		}
	}
	*cut = walk.frame_pointer == UNREADABLE;
	return n;
}

uint32_t machine_user_stack(const struct frame *frame, uint32_t *frames, uint32_t depth, bool *cut)
{
	return walk_stack(NULL, frame, frames, depth, cut);
}

uint32_t sampler_user_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			    bool *cut)
{
	struct view view = {.pmap = thread->cpu->machine.pmap};

	assert(kernel_locked() && thread->cpu->thread == thread);
	return walk_stack(&view, thread_frame(thread), frames, depth, cut);
}
