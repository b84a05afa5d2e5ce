/* SPDX-License-Identifier: MIT */
/*
 * The device as blocks of a page, and a bit for each that is in use.
 *
 * Owns the device's port and the bitmap.
 */
#include <mach/device.h>

#include "pager.h"

#define BITS 32u

/* An ext2 file system says so here; what is one by mistake must not be lost by another. */
#define EXT2_MAGIC_AT 1080
#define EXT2_MAGIC    0xef53u

static mach_port_t device;
static uint32_t records_per_block;
static uint32_t n_blocks;
static uint32_t n_free;
static uint32_t *in_use; /* The bitmap. */
static uint32_t hint;    /* The word of it where to look first. */

/* ---------------- Opening ---------------- */

/* How large the device is; false if it does not say. */
static bool swap_measure(void)
{
	int status[DEV_GET_RECORDS_COUNT];
	mach_msg_type_number_t count = DEV_GET_RECORDS_COUNT;
	uint32_t records, record_size;

	if (device_get_status(device, DEV_GET_RECORDS, status, &count) != D_SUCCESS ||
	    count < DEV_GET_RECORDS_COUNT)
		return false;
	records = (uint32_t)status[DEV_GET_RECORDS_DEVICE_RECORDS];
	record_size = (uint32_t)status[DEV_GET_RECORDS_RECORD_SIZE];
	if (record_size == 0 || PAGE_SIZE % record_size != 0)
		return false;
	records_per_block = PAGE_SIZE / record_size;
	n_blocks = records / records_per_block;
	if (n_blocks > BLOCKS_MAX)
		n_blocks = BLOCKS_MAX;
	return n_blocks > 0;
}

/* The bits behind the last block are in use, and stay so. */
static bool swap_make_bitmap(void)
{
	uint32_t words = (n_blocks + BITS - 1) / BITS;
	vm_address_t address = 0;

	if (syscall_vm_allocate(mach_task_self_cached(), &address, words * sizeof *in_use, TRUE) !=
	    KERN_SUCCESS)
		return false;
	in_use = (uint32_t *)address;
	n_free = n_blocks;
	if (n_blocks % BITS != 0)
		in_use[words - 1] = ~0u << n_blocks % BITS;
	return true;
}

static bool swap_holds_files(void)
{
	vm_address_t page;
	bool holds;

	if (swap_read(0, &page) != SWAP_DONE)
		return false;
	holds = *(const uint16_t *)(page + EXT2_MAGIC_AT) == EXT2_MAGIC;
	syscall_vm_deallocate(mach_task_self_cached(), page, PAGE_SIZE);
	return holds;
}

bool swap_open(mach_port_t master, const char *name, bool is_last)
{
	dev_name_t room = {0};
	io_return_t result;

	mig_strncpy(room, name, sizeof room);
	result = device_open(master, D_READ | D_WRITE, room, &device);
	if (result == D_NO_SUCH_DEVICE && !is_last)
		return false;
	if (result != D_SUCCESS) {
		say("cannot open the device %s (error %d)", name, result);
		return false;
	}
	if (!swap_measure()) {
		say("%s is no device with room for pages", name);
		return false;
	}
	if (swap_holds_files()) {
		say("%s holds a file system: it is not written over", name);
		return false;
	}
	if (!swap_make_bitmap()) {
		say("there is no memory for the list of %s's %u blocks", name, n_blocks);
		return false;
	}
	return true;
}

/* ---------------- Blocks ---------------- */

uint32_t swap_blocks(void)
{
	return n_blocks;
}

uint32_t swap_blocks_free(void)
{
	return n_free;
}

uint32_t swap_alloc(void)
{
	uint32_t words = (n_blocks + BITS - 1) / BITS;
	uint32_t bit;

	if (n_free == 0)
		return BLOCK_NONE;
	while (in_use[hint] == ~0u)
		hint = hint + 1 < words ? hint + 1 : 0;
	bit = (uint32_t)__builtin_ctz(~in_use[hint]);
	in_use[hint] |= 1u << bit;
	n_free--;
	return hint * BITS + bit;
}

void swap_free(uint32_t block)
{
	in_use[block / BITS] &= ~(1u << block % BITS);
	n_free++;
}

/* ---------------- Contents ---------------- */

static enum swap_result swap_judge(const char *what, uint32_t block, io_return_t result,
				   uint32_t bytes)
{
	if (result == D_SUCCESS && bytes == PAGE_SIZE)
		return SWAP_DONE;
	if (is_shortage(result))
		return SWAP_SHORT;
	say("cannot %s block %u of the swap device (error %d)", what, block, result);
	return SWAP_BROKEN;
}

enum swap_result swap_write(uint32_t block, vm_address_t page)
{
	int bytes = 0;
	io_return_t result = device_write(device, 0, block * records_per_block, (io_buf_ptr_t)page,
					  PAGE_SIZE, &bytes);

	return swap_judge("write", block, result, (uint32_t)bytes);
}

enum swap_result swap_read(uint32_t block, vm_address_t *page)
{
	mach_msg_type_number_t bytes = 0;
	io_buf_ptr_t data = NULL;
	io_return_t result =
		device_read(device, 0, block * records_per_block, PAGE_SIZE, &data, &bytes);
	enum swap_result read = swap_judge("read", block, result, bytes);

	*page = (vm_address_t)data;
	if (read != SWAP_DONE && result == D_SUCCESS && bytes > 0)
		syscall_vm_deallocate(mach_task_self_cached(), *page, bytes);
	return read;
}
