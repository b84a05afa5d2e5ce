/* SPDX-License-Identifier: MIT */
/* A thread that runs a C function with an argument. */
#include <assay.h>

#define STACK_ALIGN 16u /* What the ABI wants of the stack where arguments begin. */

/*
 * Lays the stack out as if run had been called with its argument from the first instruction of
 * assay_thread_exit: when run returns, it "returns" there.
 */
kern_return_t thread_start(void (*run)(void *), void *argument, void *stack, size_t size,
			   int priority, uint32_t *id)
{
	uintptr_t top = ((uintptr_t)stack + size) & ~(uintptr_t)(STACK_ALIGN - 1);
	uintptr_t *frame = (uintptr_t *)(top - STACK_ALIGN) - 1;

	if (size < 2 * STACK_ALIGN)
		return KERN_INVALID_ARGUMENT;
	frame[0] = (uintptr_t)assay_thread_exit;
	frame[1] = (uintptr_t)argument;
	/* The kernel's idea of an entry takes no argument; this one finds its own on the stack. */
	return assay_thread_create((void (*)(void))(uintptr_t)run, frame, priority, id);
}
