/* SPDX-License-Identifier: MIT */
/*
 * A Mach device as blocks (block_device.h).
 *
 * The device's data come and go as out-of-line memory.  What is read is copied into the cache's
 * pages and given back at once, while no lock is held.  Owns nothing but the device's port.
 */
#include "fs/block_device.h"

#include <mach/device.h>
#include <mach/host_info.h>

#define SHORTAGE_PAUSE_MS 10

#define BLOCK_FIRST 1024u /* What is read before the file system has said its own size. */

#define CACHE_MOST  (16u << 20)
#define CACHE_LEAST (1u << 20)
#define CACHE_PART  16 /* Of the machine's memory. */

/* How large the device is; false if it does not say, or has records of an odd size. */
static bool block_device_measure(struct block_device *device)
{
	int status[DEV_GET_RECORDS_COUNT];
	mach_msg_type_number_t count = DEV_GET_RECORDS_COUNT;

	if (device_get_status(device->port, DEV_GET_RECORDS, status, &count) != D_SUCCESS ||
	    count < DEV_GET_RECORDS_COUNT)
		return false;
	device->records = (uint32_t)status[DEV_GET_RECORDS_DEVICE_RECORDS];
	device->record_size = (uint32_t)status[DEV_GET_RECORDS_RECORD_SIZE];
	return device->record_size != 0 && block_device_set_block_size(device, BLOCK_FIRST);
}

int block_device_open(struct block_device *device, mach_port_t master, const char *name)
{
	dev_name_t room = {0};
	io_return_t result;

	*device = (struct block_device){0};
	mig_strncpy(room, name, sizeof room);
	mig_strncpy(device->name, name, sizeof device->name);
	device->name[sizeof device->name - 1] = '\0';
	result = device_open(master, D_READ | D_WRITE, room, &device->port);
	if (result != D_SUCCESS) {
		ux_log("cannot open the device %s (error %d)", name, result);
		return ENXIO;
	}
	if (block_device_measure(device))
		return 0;
	ux_log("%s is no device of blocks", name);
	block_device_close(device);
	return ENOTBLK;
}

void block_device_close(struct block_device *device)
{
	device_close(device->port);
	mach_port_deallocate(mach_task_self_cached(), device->port);
	device->port = MACH_PORT_NULL;
}

bool block_device_set_block_size(struct block_device *device, uint32_t size)
{
	device->block_size = size;
	return size % device->record_size == 0;
}

uint64_t block_device_size(const struct block_device *device)
{
	return (uint64_t)device->records * device->record_size;
}

/* Where a block begins, in records. */
static recnum_t block_device_record_of(const struct block_device *device, uint32_t block)
{
	return block * (device->block_size / device->record_size);
}

/*
 * Whether there was no memory for a request or its answer.  That is nothing of the device's, and
 * passes: whoever has blocks to write waits, so that nobody takes them for lost.
 */
static bool block_device_is_short(io_return_t result)
{
	bool is_short = result == D_NO_MEMORY || result == KERN_RESOURCE_SHORTAGE ||
			result == MACH_SEND_NO_BUFFER ||
			(result & ~MACH_MSG_MASK) == MACH_RCV_BODY_ERROR;

	if (is_short)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, SHORTAGE_PAUSE_MS);
	return is_short;
}

static int block_device_judge(const struct block_device *device, const char *what, uint32_t first,
			      io_return_t result, uint32_t bytes, uint32_t wanted)
{
	if (result == D_SUCCESS && bytes == wanted)
		return 0;
	if (result == D_READ_ONLY)
		return EROFS;
	ux_log("%s: cannot %s %u bytes at block %u (error %d, %u bytes)", device->name, what,
	       wanted, first, result, bytes);
	return EIO;
}

int block_device_read(const struct block_device *device, uint32_t first, uint32_t count,
		      void *const places[])
{
	uint32_t size = device->block_size;
	mach_msg_type_number_t bytes = 0;
	io_buf_ptr_t data = NULL;
	io_return_t result;
	int error;

	do
		result = device_read(device->port, 0, block_device_record_of(device, first),
				     (int)(count * size), &data, &bytes);
	while (block_device_is_short(result));
	error = block_device_judge(device, "read", first, result, bytes, count * size);

	for (uint32_t i = 0; error == 0 && i < count; i++)
		memcpy(places[i], data + i * size, size);
	if (result == D_SUCCESS && bytes > 0)
		syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)data, bytes);
	return error;
}

int block_device_write(const struct block_device *device, uint32_t first, uint32_t count,
		       const void *data)
{
	uint32_t size = count * device->block_size;
	int bytes = 0;
	io_return_t result;

	do
		result = device_write(device->port, 0, block_device_record_of(device, first),
				      (io_buf_ptr_t)data, size, &bytes);
	while (block_device_is_short(result));

	return block_device_judge(device, "write", first, result, (uint32_t)bytes, size);
}

size_t block_device_cache_size(void)
{
	host_basic_info_data_t info;
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
	mach_port_t host = mach_host_self();
	kern_return_t result = host_info(host, HOST_BASIC_INFO, (host_info_t)&info, &count);
	size_t size = result == KERN_SUCCESS ? info.memory_size / CACHE_PART : 0;

	mach_port_deallocate(mach_task_self_cached(), host);
	return size < CACHE_LEAST ? CACHE_LEAST : size > CACHE_MOST ? CACHE_MOST : size;
}
