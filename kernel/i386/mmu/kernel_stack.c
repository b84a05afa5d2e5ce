/* SPDX-License-Identifier: MIT */
/*
 * Kernel stacks: see base/kernel_stack.h.
 *
 * The region from STACK_BASE is cut into slots, a guard page and a stack above it.  Slots are
 * opened in order and never given up; free stacks are chained through their own lowest word.
 */
#include "base/kernel_stack.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/stack_size.h"
#include "i386/mmu/pmap.h"

#define SLOT_SIZE (PAGE_SIZE + KERNEL_STACK_SIZE)

struct free_stack {
	struct free_stack *next;
};

static struct free_stack *free_stacks;
static uint32_t next_slot = STACK_BASE;
static uint32_t in_use;

uint32_t kernel_stack_count(void)
{
	return in_use;
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
	uint32_t stack = next_slot + PAGE_SIZE;

	if (next_slot + SLOT_SIZE > STACK_END || !stack_map(stack))
		return NULL;
	next_slot += SLOT_SIZE;
	return (void *)stack;
}

void *(kernel_stack_alloc)(void)
{
	void *stack = free_stacks;

	assert(kernel_locked());
	if (stack != NULL)
		free_stacks = free_stacks->next;
	else
		stack = stack_open();
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
	free->next = free_stacks;
	free_stacks = free;
	in_use--;
}

bool kernel_stack_is_guard(uintptr_t address)
{
	extern char boot_stack_guard[];
	uintptr_t boot_guard = (uintptr_t)boot_stack_guard;

	if (address - boot_guard < PAGE_SIZE)
		return true;
	return address >= STACK_BASE && address < next_slot &&
	       (address - STACK_BASE) % SLOT_SIZE < PAGE_SIZE;
}
