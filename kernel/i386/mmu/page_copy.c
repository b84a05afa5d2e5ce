/* SPDX-License-Identifier: MIT */
/*
 * Clearing and copying a whole page (vm/page/page.h).
 *
 * The only two functions of the kernel that do so: whoever wants to know what a system spends on
 * that counts their calls.  The words are counted out by the CPU, so that the cost is the memory's.
 */
#include "vm/page/page.h"

#include "base/assert.h"

#define PAGE_WORDS (PAGE_SIZE / sizeof(uint32_t))

void page_clear(void *page)
{
	size_t words = PAGE_WORDS;

	assert(((uintptr_t)page & PAGE_MASK) == 0);
	__asm__ volatile("rep stosl" : "+D"(page), "+c"(words) : "a"(0) : "memory");
}

void page_copy(void *to, const void *from)
{
	size_t words = PAGE_WORDS;

	assert((((uintptr_t)to | (uintptr_t)from) & PAGE_MASK) == 0);
	assert(to != from);
	__asm__ volatile("rep movsl" : "+D"(to), "+S"(from), "+c"(words)::"memory");
}
