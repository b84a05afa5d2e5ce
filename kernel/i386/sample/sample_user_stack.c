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

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "i386/cpu/frame.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"
#include "i386/sample/sample_stack.h"
#include "i386/thread/thread_state.h"
#include "prof/sampler.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

#define INLINE static inline __attribute__((always_inline))

/* ---------------- The user's memory ---------------- */

/*
 * What is done behind loads that cannot be made: a fault at one of them, which are named with this
 * landing for each, goes on there without a look for the page, since interrupts are off
 * (i386/entry/trap.c).
 */
#define OR_ELSE(landing, loads)                                                        \
	"9:\n.pushsection .text.landings, \"ax\"\n8: " landing "jmp 9b\n.popsection\n" \
	".pushsection .recover, \"a\"\n.long " loads ", 8b\n.popsection"

/* The word at `address`; false if it cannot be read. */
INLINE bool touch(uint32_t address, uint32_t *word)
{
	uint32_t could = 1;

	if (address > USER_END - sizeof *word)
		return false;
	__asm__ volatile("1: movl (%2), %0\n" OR_ELSE("xorl %1, %1\n", "1b")
			 : "=&r"(*word), "+&r"(could)
			 : "r"(address));
	return could != 0;
}

/* What touch_pair() finds where it cannot read. */
#define UNREADABLE 1u

/* The two words of a frame, which is the user's; UNREADABLE and 0 if they cannot be read. */
INLINE void touch_pair(const uint32_t *frame, uint32_t *first, uint32_t *second)
{
	__asm__ volatile("1: movl %3, %1\n"
			 "2: movl %2, %0\n" OR_ELSE("movl %4, %0\nxorl %1, %1\n", "1b, 8b, 2b")
			 : "=r"(*first), "=&r"(*second)
			 : "m"(frame[0]), "m"(frame[1]), "i"(UNREADABLE));
}

/* The byte at `address`, or 0. */
INLINE uint8_t touch_byte(uint32_t address)
{
	uint32_t byte;

	if (address >= USER_END)
		return 0;
	__asm__ volatile("1: movzbl (%1), %0\n" OR_ELSE("xorl %0, %0\n", "1b")
			 : "=&r"(byte)
			 : "r"(address));
	return (uint8_t)byte;
}

/* Three words that lie in one page, or zeros. */
INLINE void touch_three(uint32_t address, uint32_t words[3])
{
	__asm__ volatile("1: movl (%3), %0\n"
			 "2: movl 4(%3), %1\n"
			 "3: movl 8(%3), %2\n" OR_ELSE("xorl %0, %0\nxorl %1, %1\nxorl %2, %2\n",
						       "1b, 8b, 2b, 8b, 3b")
			 : "=&r"(words[0]), "=&r"(words[1]), "=&r"(words[2])
			 : "r"(address));
}

/* Memory through the page of it that was looked at last. */
struct view {
	struct pmap *pmap;
	uint32_t page;  /* The user's address of that page; USER_END: none was. */
	uint32_t shift; /* How much further up the kernel sees it. */
};

/* Brings the page of `address` into view; false, and no other view, if it is not mapped. */
static __attribute__((noinline)) bool user_walk_turn_to(struct view *view, uint32_t address)
{
	uint32_t rights;
	struct page *page;

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
	if (address >= USER_END ||
	    ((address ^ view->page) >= PAGE_SIZE && !user_walk_turn_to(view, address)))
		return false;
	*word = *(const uint32_t *)(address + view->shift);
	return true;
}

/* Bytes of code; zeros, which mean nothing, for what is not mapped. */
static __attribute__((noinline)) void user_walk_see_bytes(struct view *view, uint32_t address,
							  uint8_t *bytes, uint32_t n)
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

/* Whether touch_three() can be asked for what is at `address`. */
INLINE bool is_within_page(uint32_t address)
{
	return (address & PAGE_MASK) <= PAGE_SIZE - SEEN && address < USER_END;
}

/* user_walk_see_bytes() for the code at a program counter and the top of the stack: quicker. */
INLINE void see_three(struct view *view, uint32_t address, uint32_t words[3])
{
	if (view == NULL && is_within_page(address))
		touch_three(address, words);
	else
		user_walk_see_bytes(view, address, (uint8_t *)words, SEEN);
}

/* The two words of a frame; UNREADABLE and 0 if they are not there. */
INLINE void see_pair(struct view *view, uint32_t address, uint32_t *first, uint32_t *second)
{
	if (view == NULL) {
		touch_pair((const uint32_t *)address, first, second);
	} else if (!see_word(view, address, first) || !see_word(view, address + 4, second)) {
		*first = UNREADABLE;
		*second = 0;
	}
}

/* ---------------- Functions without a frame ---------------- */

INLINE bool is_near(uint32_t address, uint32_t pc)
{
	return address - (pc - CODE_NEAR) <= 2 * CODE_NEAR;
}

/*
 * Whether the function has a frame, without much ado: it is not about to make it, has not just left
 * it, and no return address of its own can be on top of the stack.
 */
INLINE bool surely_has_frame(const struct frame *frame)
{
	uint32_t top[LEAF_WORDS], pc = frame->eip;

	if (!is_within_page(frame->esp))
		return false;
	touch_three(frame->esp, top);
	return top[0] != frame->ebp && !is_near(top[0], pc) && !is_near(top[1], pc) &&
	       !is_near(top[2], pc) && !code_may_lack_frame(touch_byte(pc));
}

static bool user_walk_is_return(struct view *view, uint32_t address)
{
	uint8_t call[CALL_LONGEST];

	user_walk_see_bytes(view, address - sizeof call, call, sizeof call);
	return code_is_behind_call(call + sizeof call);
}

/* What `address`, on top of the stack, is to the function that is at `pc`. */
static enum code_return user_walk_judge(struct view *view, uint32_t address, uint32_t pc)
{
	uint8_t call[CALL_SIZE];
	uint32_t target;

	if (!is_near(address, pc))
		return CODE_NO_RETURN;
	user_walk_see_bytes(view, address - CALL_SIZE, call, CALL_SIZE);
	target = code_call_target(call, address);
	if (!code_is_near_begin(target, pc))
		return CODE_NO_RETURN;
	user_walk_see_bytes(view, target, call, 1);
	return call[0] == CODE_PUSH_EBP ? CODE_HAS_FRAME : CODE_IS_LEAF;
}

/* The return address of a function that has no frame, by the code at the program counter. */
static __attribute__((noinline)) bool
user_walk_find_return(struct view *view, const struct frame *frame, uint32_t *address)
{
	uint32_t seen[SEEN / 4], top[LEAF_WORDS];
	const uint8_t *code = (const uint8_t *)seen + CODE_BEFORE;
	enum code_return found = CODE_NO_RETURN;

	see_three(view, frame->eip - CODE_BEFORE, seen);
	see_three(view, frame->esp, top);
	*address = top[0];
	if (code_has_no_frame(code) ||
	    (code_may_have_left(code) && user_walk_is_return(view, top[0])))
		return true;
	*address = top[1];
	if (top[0] == frame->ebp && code_makes_frame(code))
		return true;
	for (unsigned n = 0; n < LEAF_WORDS && found == CODE_NO_RETURN; n++) {
		*address = top[n];
		found = user_walk_judge(view, top[n], frame->eip);
	}
	return found == CODE_IS_LEAF;
}

/* ---------------- The walk ---------------- */

/*
 * Frames are at addresses that grow, up to the end of the user's memory.  One comparison says both
 * if it is made between heights: the last place for a frame has the greatest, and the addresses
 * behind it come below all others.
 */
#define BEHIND (USER_END - 4)

INLINE uint32_t height_of(uint32_t address)
{
	return address - BEHIND;
}

/*
 * Return addresses, from the frame at `next` on, into `to` and up to `end`; *cut if there are more,
 * or may be.  The outermost function has a frame pointer of 0, or returns to nowhere.
 */
INLINE uint32_t *climb(struct view *view, uint32_t next, uint32_t height, uint32_t *to,
		       const uint32_t *end, bool *cut)
{
	uint32_t address;

	while (height_of(next) > height && next % 4 == 0) {
		height = height_of(next);
		see_pair(view, next, &next, &address);
		if (address == 0 || to == end) {
			*cut = address != 0 || next == UNREADABLE;
			return to;
		}
		*to++ = address;
	}
	*cut = next != 0;
	return to;
}

INLINE uint32_t walk_stack(struct view *view, const struct frame *frame, uint32_t *frames,
			   uint32_t depth, bool *cut)
{
	uint32_t *to = frames, *end = frames + depth;
	uint32_t address;

	*cut = true;
	if (frame->esp >= BEHIND)
		return 0;
	if ((view != NULL || !surely_has_frame(frame)) &&
	    user_walk_find_return(view, frame, &address)) {
		*cut = address != 0;
		if (address == 0 || depth == 0)
			return 0;
		*to++ = address;
	}
	to = climb(view, frame->ebp, height_of(frame->esp - 1), to, end, cut);
	return (uint32_t)(to - frames);
}

uint32_t machine_user_stack(const struct frame *frame, uint32_t *frames, uint32_t depth, bool *cut)
{
	return walk_stack(NULL, frame, frames, depth, cut);
}

uint32_t sampler_own_stack(uint32_t *frames, uint32_t depth)
{
	uint32_t n;
	bool cut;

	assert(kernel_locked());
	interrupts_off();
	n = walk_stack(NULL, thread_frame(current_thread()), frames, depth, &cut);
	interrupts_on();
	return n;
}

uint32_t sampler_user_stack(const struct thread *thread, uint32_t *frames, uint32_t depth,
			    bool *cut)
{
	struct view view = {.pmap = thread->machine.pmap, .page = USER_END};

	assert(kernel_locked());
	return walk_stack(&view, thread_frame(thread), frames, depth, cut);
}
