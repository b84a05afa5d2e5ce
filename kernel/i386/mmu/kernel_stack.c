/* SPDX-License-Identifier: MIT */
/*
 * Kernel stacks: see base/kernel_stack.h.
 *
 * The region from STACK_BASE is cut into slots, a guard page and a stack above it.  A slot is open
 * when its stack has all its pages; free stacks are chained through their own lowest word.  All
 * slots below `first_closed` are open.
 */
#include "base/kernel_stack.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/stack_size.h"
#include "i386/mmu/pmap.h"
#include "thread/work.h"
#include "vm/page/kernel_memory.h"

/* Free stacks that stay mapped. */
#define STACKS_KEPT 64u

#define SLOT_SIZE (PAGE_SIZE + KERNEL_STACK_SIZE)

struct free_stack {
	struct free_stack *next;
};

static struct free_stack *free_stacks;
static uint32_t first_closed = STACK_BASE;
static uint32_t n_open; /* Slots; and of their stacks */
static uint32_t in_use; /* so many are handed out, the others are free. */

uint32_t kernel_stack_count(void)
{
	return in_use;
}

/* The page that was mapped last is the highest. */
static bool stack_slot_is_open(uint32_t slot)
{
	return pmap_kernel_is_mapped(slot + SLOT_SIZE - PAGE_SIZE);
}

/* Maps the pages of the stack at `stack`; those it got stay, mapped, for the next try. */
static bool stack_map(uint32_t stack)
{
	for (uint32_t address = stack; address < stack + KERNEL_STACK_SIZE; address += PAGE_SIZE) {
		struct page *page;

		if (pmap_kernel_is_mapped(address))
			continue;
		page = page_alloc(PAGE_STACK);
		if (page == NULL)
			return false;
		if (!pmap_enter_kernel(address, page)) {
			page_free(page);
			return false;
		}
	}
	return true;
}

static void *stack_open(void)
{
	uint32_t stack;

	while (first_closed + SLOT_SIZE <= STACK_END && stack_slot_is_open(first_closed)) {
		first_closed += SLOT_SIZE;
		pause_each();
	}
	stack = first_closed + PAGE_SIZE;
	if (first_closed + SLOT_SIZE > STACK_END || !stack_map(stack))
		return NULL;
	n_open++;
	return (void *)stack;
}

static void stack_close(uint32_t stack)
{
	n_open--;
	kernel_memory_unmap(stack, stack + KERNEL_STACK_SIZE);
	if (stack - PAGE_SIZE < first_closed)
		first_closed = stack - PAGE_SIZE;
}

static void *stack_take_free(void)
{
	void *stack = free_stacks;

	free_stacks = free_stacks->next;
	return stack;
}

void *(kernel_stack_alloc)(void)
{
	void *stack;

	assert(kernel_locked());
	stack = free_stacks != NULL ? stack_take_free() : stack_open();
	if (stack != NULL)
		in_use++;
	return stack;
}

void kernel_stack_free(void *stack)
{
	struct free_stack *free = stack;

	assert(kernel_locked());
	assert(in_use > 0);
	assert(((uint32_t)stack - STACK_BASE) % SLOT_SIZE == PAGE_SIZE);
	in_use--;
	if (n_open - in_use > STACKS_KEPT) {
		stack_close((uint32_t)stack);
		return;
	}
	free->next = free_stacks;
	free_stacks = free;
}

void kernel_stacks_trim(void)
{
	while (free_stacks != NULL) {
		stack_close((uint32_t)stack_take_free());
		pause_each();
	}
}

bool kernel_stack_is_guard(uintptr_t address)
{
	extern char boot_stack_guard[];
	uintptr_t boot_guard = (uintptr_t)boot_stack_guard;

	if (address - boot_guard < PAGE_SIZE)
		return true;
	return address >= STACK_BASE && address < STACK_END &&
	       (address - STACK_BASE) % SLOT_SIZE < PAGE_SIZE &&
	       stack_slot_is_open(page_trunc(address));
}
