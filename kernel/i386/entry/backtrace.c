/* SPDX-License-Identifier: MIT */
/* Walking a kernel stack: see backtrace.h. */
#include "i386/entry/backtrace.h"

#include <stdbool.h>
#include <stddef.h>

#include "base/log.h"
#include "base/symbols.h"
#include "i386/cpu/memory.h"
#include "i386/cpu/vectors.h"
#include "i386/entry/entry.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/thunk.h"

#define MAX_DEPTH 32

static void backtrace_print_place(uint32_t pc)
{
	uintptr_t offset;
	const char *name = symbol_name(thunk_see_through(pc), &offset);

	if (name != NULL)
		klog("    %08x %s+0x%x\n", pc, name, (unsigned)offset);
	else
		klog("    %08x\n", pc);
}

/* Whether a frame pointer and the return address above it can be read at `ebp`. */
static bool backtrace_readable(uint32_t ebp)
{
	if (ebp < KERNEL_BASE || ebp % sizeof(uint32_t) != 0 || ebp > UINT32_MAX - 8)
		return false;
	return pmap_kernel_is_mapped(ebp) && pmap_kernel_is_mapped(ebp + 7);
}

/* What was interrupted if this is the return address of an interrupt's function, else NULL. */
static const struct frame *backtrace_frame_above(const uint32_t *return_address)
{
	const struct frame *frame = (const void *)&return_address[1];

	if (!entry_is_return_of_interrupt(*return_address))
		return NULL;
	return pmap_kernel_is_mapped((uint32_t)&frame->eflags) ? frame : NULL;
}

void backtrace_print(uint32_t pc, uint32_t ebp)
{
	backtrace_print_place(pc);
	for (unsigned depth = 0; depth < MAX_DEPTH && backtrace_readable(ebp); depth++) {
		const uint32_t *words = (const uint32_t *)ebp;
		const struct frame *interrupted = backtrace_frame_above(&words[1]);

		if (words[1] == 0)
			return;
		/* A return address belongs to the call before it. */
		backtrace_print_place(words[1] - 1);
		if (interrupted != NULL && frame_is_user(interrupted))
			return;
		if (interrupted != NULL)
			backtrace_print_place(interrupted->eip);
		if (words[0] <= ebp)
			return;
		ebp = words[0];
	}
}

void backtrace_print_frame(const struct frame *frame)
{
	uintptr_t offset;

	/*
	 * A call to where no code is has left nothing but its return address, on top of the stack:
	 * there the frame ends, as the CPU pushes esp and ss only when it comes from user mode.
	 */
	if (frame->vector == VECTOR_PAGE_FAULT && symbol_name(frame->eip, &offset) == NULL) {
		backtrace_print_place(frame->eip);
		backtrace_print(frame->esp - 1, frame->ebp);
	} else {
		backtrace_print(frame->eip, frame->ebp);
	}
}
