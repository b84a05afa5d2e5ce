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
 * Copies of whole words, at most SHORT_COPY bytes, without a call and checked the short way; where
 * the end of the user's half is nearer than that, as copyin() and copyout().
 */
#define SHORT_COPY 136u

static inline bool short_is_user(user_address_t address)
{
	return address <= USER_END - SHORT_COPY;
}

#define WORD_RECOVER ".pushsection .recover, \"a\"\n.long 1b, %l[fault]\n.popsection"

static inline bool copy_words(void *to, const void *from, uint32_t size)
{
	uint32_t words = size / sizeof words;

	__asm__ volatile goto("1: rep movsl\n" WORD_RECOVER
			      : "+D"(to), "+S"(from), "+c"(words)
			      :
			      : "memory"
			      : fault);
	return true;
fault:
	return false;
}

/* As copyin_short(), where the caller has seen that short_is_user(). */
static inline bool copyin_words(void *to, user_address_t from, uint32_t size)
{
	return copy_words(to, (const void *)from, size);
}

static inline bool copyin_short(void *to, user_address_t from, uint32_t size)
{
	return short_is_user(from) ? copyin_words(to, from, size) : copyin(to, from, size);
}

static inline bool copyout_short(user_address_t to, const void *from, uint32_t size)
{
	return (short_is_user(to) && copy_words((void *)to, from, size)) || copyout(to, from, size);
}

/* One word, where the caller has seen that it is the user's. */
static inline bool copyin_word(uint32_t *to, user_address_t from)
{
	uint32_t word;

	/* The thread may wait for the page: what is in memory may be another's afterwards. */
	__asm__ volatile goto("1: movl %1, %0\n" WORD_RECOVER
			      : "=r"(word)
			      : "m"(*(const uint32_t *)from)
			      : "memory"
			      : fault);
	*to = word;
	return true;
fault:
	return false;
}

static inline bool copyout_word(user_address_t to, uint32_t word)
{
	__asm__ goto("1: movl %1, %0\n" WORD_RECOVER
		     :
		     : "m"(*(uint32_t *)to), "r"(word)
		     : "memory"
		     : fault);
	return true;
fault:
	return false;
}

/*
 * A message's header.  In go the four of its six words that its sender says something in; the other
 * two are left alone, and the caller has seen that it is the user's.
 */
static inline bool copyin_header(uint32_t *to, user_address_t from)
{
	return copyin_word(&to[0], from) && copyin_word(&to[2], from + 8) &&
	       copyin_word(&to[3], from + 12) && copyin_word(&to[5], from + 20);
}

static inline bool copyout_header(user_address_t to, const uint32_t *from)
{
	return short_is_user(to) && copyout_word(to, from[0]) && copyout_word(to + 4, from[1]) &&
	       copyout_word(to + 8, from[2]) && copyout_word(to + 12, from[3]) &&
	       copyout_word(to + 16, from[4]) && copyout_word(to + 20, from[5]);
}

/*
 * Copies a string with its terminating zero, at most `size` bytes.  Returns its length, `size` if
 * it does not end in time, or COPY_FAULT.
 */
#define COPY_FAULT UINT32_MAX
uint32_t copyin_string(char *to, user_address_t from, uint32_t size);

#endif
