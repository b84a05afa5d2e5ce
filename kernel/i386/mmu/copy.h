/* SPDX-License-Identifier: MIT */
/*
 * Copying to and from user memory: the only way the kernel follows a user's pointer.
 *
 * A pointer from a user is an allegation.  It has a type of its own here (an address, not a C
 * pointer), and only these functions turn it into access.  They survive any address: false means
 * that some of the range is not the user's to read or write, and what was copied before is
 * undefined.  May block (the page may come from a pager): nothing may be half changed.
 */
#ifndef I386_MMU_COPY_H
#define I386_MMU_COPY_H

#include <stdbool.h>
#include <stdint.h>

#include "base/may_block.h"
#include "i386/cpu/copy_bytes.h"
#include "i386/cpu/memory.h"

typedef uint32_t user_address_t;

static inline bool range_is_user(user_address_t start, uint32_t size)
{
	return start <= USER_END && size <= USER_END - start;
}

static inline bool copyin(void *to, user_address_t from, uint32_t size)
{
	may_block();
	return range_is_user(from, size) && copy_bytes(to, (const void *)from, size) == 0;
}

/*
 * The end of a copyout() that was broken off: if thread_abort() did that it is made again, and
 * waits for its pages whoever aborts the thread.  What goes out is an answer, and often the only
 * one: a call that is interrupted can be made again, a message that was taken out of its queue
 * cannot.
 */
bool copyout_again(user_address_t to, const void *from, uint32_t size);

static inline bool copyout(user_address_t to, const void *from, uint32_t size)
{
	may_block();
	return range_is_user(to, size) &&
	       (copy_bytes((void *)to, from, size) == 0 || copyout_again(to, from, size));
}

/*
 * A message's header without a call.  In go the four of its six words that its sender says
 * something in; the other two are left alone.  An address so near the end of the user's half that
 * more than a header may not be is refused, too.
 */
#define HEADER_COPY_ROOM 128u

static inline bool header_is_user(user_address_t address)
{
	return address <= USER_END - HEADER_COPY_ROOM;
}

static inline bool copyin_header(void *to, user_address_t from)
{
	if (!header_is_user(from))
		return false;
	__asm__ goto("1: movl (%1), %%ecx\n\t"
		     "movl %%ecx, (%0)\n"
		     "2: movl 8(%1), %%ecx\n\t"
		     "movl %%ecx, 8(%0)\n"
		     "3: movl 12(%1), %%ecx\n\t"
		     "movl %%ecx, 12(%0)\n"
		     "4: movl 20(%1), %%ecx\n\t"
		     "movl %%ecx, 20(%0)\n"
		     ".pushsection .recover, \"a\"\n"
		     ".long 1b, %l[fault], 2b, %l[fault], 3b, %l[fault], 4b, %l[fault]\n"
		     ".popsection"
		     :
		     : "r"(to), "r"(from)
		     : "ecx", "memory"
		     : fault);
	return true;
fault:
	return false;
}

static inline bool copyout_header(user_address_t to, const void *from)
{
	if (!header_is_user(to))
		return false;
	__asm__ goto("movl (%1), %%ecx\n\t"
		     "1: movl %%ecx, (%0)\n\t"
		     "movl 4(%1), %%ecx\n"
		     "2: movl %%ecx, 4(%0)\n\t"
		     "movl 8(%1), %%ecx\n"
		     "3: movl %%ecx, 8(%0)\n\t"
		     "movl 12(%1), %%ecx\n"
		     "4: movl %%ecx, 12(%0)\n\t"
		     "movl 16(%1), %%ecx\n"
		     "5: movl %%ecx, 16(%0)\n\t"
		     "movl 20(%1), %%ecx\n"
		     "6: movl %%ecx, 20(%0)\n"
		     ".pushsection .recover, \"a\"\n"
		     ".long 1b, %l[fault], 2b, %l[fault], 3b, %l[fault]\n"
		     ".long 4b, %l[fault], 5b, %l[fault], 6b, %l[fault]\n"
		     ".popsection"
		     :
		     : "r"(to), "r"(from)
		     : "ecx", "memory"
		     : fault);
	return true;
fault:
	return false;
}

/*
 * Copies a string with its terminating zero, at most `size` bytes.  Returns its length, `size` if
 * it does not end in time, or COPY_FAULT.
 */
#define COPY_FAULT UINT32_MAX
uint32_t copyin_string(char *to, user_address_t from, uint32_t size);

#endif
