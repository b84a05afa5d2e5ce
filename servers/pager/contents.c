/* SPDX-License-Identifier: MIT */
/*
 * The contents of single pages: written to a block of the device, and read from there.
 *
 * When the device is full, or a block of it broken, the page goes back to where it came from
 * (serve.c).  So nothing is lost.  The kernel, which gains nothing by sending more, comes to the
 * end of what it can send and tells programs that there is no memory.
 */
#include "pager.h"

#define READ_TRIES 100 /* While the kernel has no memory for what is read. */
#define ROOM_AGAIN 8   /* When this part of swap is free, it is no longer said to be full. */

static bool is_full; /* People have been told that there is no room. */

static uint32_t contents_block_of(place_t place)
{
	return place >= PLACE_BLOCKS ? place - PLACE_BLOCKS : BLOCK_NONE;
}

static void contents_tell_full(void)
{
	if (!is_full)
		say("swap is full");
	is_full = true;
}

/* A block for the place, the one that it has or a new one; BLOCK_NONE if there is none. */
static uint32_t contents_block_for(place_t place)
{
	if (place >= PLACE_BLOCKS)
		return contents_block_of(place);
	if (swap_blocks_free() > swap_blocks() / ROOM_AGAIN)
		is_full = false;
	if (swap_blocks_free() == 0)
		contents_tell_full();
	return swap_alloc();
}

bool contents_put(place_t *place, vm_address_t page)
{
	uint32_t block = contents_block_for(*place);
	enum swap_result result;

	*place = PLACE_KERNEL;
	if (block == BLOCK_NONE)
		return false;
	result = swap_write(block, page);
	if (result == SWAP_SHORT)
		swap_free(block);
	if (result != SWAP_DONE)
		return false;
	*place = PLACE_BLOCKS + block;
	syscall_vm_deallocate(mach_task_self_cached(), page, PAGE_SIZE);
	return true;
}

enum contents_result contents_get(const place_t *place, vm_address_t *page)
{
	enum swap_result result;

	if (*place == PLACE_NONE)
		return CONTENTS_NONE;
	if (*place == PLACE_KERNEL)
		return CONTENTS_KERNEL;
	result = swap_read(contents_block_of(*place), page);
	for (unsigned tries = 1; result == SWAP_SHORT && tries < READ_TRIES; tries++) {
		wait_for_memory();
		result = swap_read(contents_block_of(*place), page);
	}
	return result == SWAP_DONE ? CONTENTS_READ : CONTENTS_BROKEN;
}

void contents_drop(place_t *place)
{
	if (*place >= PLACE_BLOCKS)
		swap_free(contents_block_of(*place));
	*place = PLACE_NONE;
}
