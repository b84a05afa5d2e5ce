/* SPDX-License-Identifier: MIT */
/* Walking a kernel stack: see backtrace.h. */
#include "i386/backtrace.h"

#include <stdbool.h>
#include <stddef.h>

#include "i386/memory.h"
#include "i386/pmap.h"
#include "kern/log.h"
#include "kern/symbols.h"

#define MAX_DEPTH 32

static void print_place(uint32_t pc)
{
	uintptr_t offset;
	const char *name = symbol_name(pc, &offset);

	if (name != NULL)
		klog("    %08x %s+0x%x\n", pc, name, (unsigned)offset);
	else
		klog("    %08x\n", pc);
}

/* Whether a frame pointer and the return address above it can be read at `ebp`. */
static bool readable(uint32_t ebp)
{
	if (ebp < KERNEL_BASE || ebp % sizeof(uint32_t) != 0 || ebp > UINT32_MAX - 8)
		return false;
	return pmap_kernel_is_mapped(ebp) && pmap_kernel_is_mapped(ebp + 7);
}

void backtrace_print(uint32_t pc, uint32_t ebp)
{
	print_place(pc);
	for (unsigned depth = 0; depth < MAX_DEPTH && readable(ebp); depth++) {
		const uint32_t *frame = (const uint32_t *)ebp;

		if (frame[1] == 0)
			return;
		/* A return address belongs to the call before it. */
		print_place(frame[1] - 1);
		if (frame[0] <= ebp)
			return;
		ebp = frame[0];
	}
}
