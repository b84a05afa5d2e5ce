/* SPDX-License-Identifier: MIT */
/*
 * links: servers/ux/fs/block_device.c
 * flags: -D_POSIX_C_SOURCE=200809L -isystem include -DUX_SERVER -Itests/lib/host/ux -Iservers/ux
 * flags: -Wno-pointer-to-int-cast
 */
/* What the Unix server makes of a device's answers: sizes, errors, and when it asks again. */
#include "fs/block_device.h"

#include <mach/device.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "check.h"

#define MASTER 17u
#define DEVICE 18u
#define RECORD 512
#define BLOCK  4096u
#define FIRST  3u /* Block of a request. */
#define COUNT  2u /* Blocks of it. */

/* What the device answers; a request is answered by `result` from when `shortages` is 0. */
static struct {
	io_return_t opened, told, result, shortage;
	unsigned shortages;
	int status[DEV_GET_RECORDS_COUNT];
	unsigned n_status;
	uint32_t missing; /* Bytes fewer than were asked for. */
	natural_t memory; /* Of the machine; 0: it is not told. */
} device;

/* What it was asked. */
static struct {
	char name[sizeof(dev_name_t)];
	recnum_t record;
	uint32_t bytes;
	unsigned requests, pauses, closed, released, given_back, said;
} asked;

static char answer[BLOCK * COUNT];

static void device_is(int records, int record_size)
{
	memset(&asked, 0, sizeof asked);
	memset(&device, 0, sizeof device);
	device.status[DEV_GET_RECORDS_DEVICE_RECORDS] = records;
	device.status[DEV_GET_RECORDS_RECORD_SIZE] = record_size;
	device.n_status = DEV_GET_RECORDS_COUNT;
}

/* ---------------- The kernel's side ---------------- */

void ux_log(const char *words, ...)
{
	(void)words;
	asked.said++;
}

size_t mig_strncpy(char *to, const char *from, size_t size)
{
	strncpy(to, from, size);
	return strnlen(to, size);
}

mach_port_t mach_task_self_cached(void)
{
	return 1;
}

mach_port_t mach_host_self(void)
{
	return 2;
}

kern_return_t mach_port_deallocate(mach_port_t task, mach_port_name_t name)
{
	(void)task;
	asked.released += name == DEVICE;
	return KERN_SUCCESS;
}

kern_return_t thread_switch(uint32_t thread, int option, uint32_t milliseconds)
{
	(void)thread;
	EXPECT_EQ(option, SWITCH_OPTION_WAIT);
	EXPECT_LT(0, milliseconds);
	asked.pauses++;
	return KERN_SUCCESS;
}

kern_return_t syscall_vm_deallocate(mach_port_t task, vm_address_t address, vm_size_t size)
{
	(void)task;
	EXPECT_EQ(address, (vm_address_t)answer);
	asked.given_back += size;
	return KERN_SUCCESS;
}

kern_return_t host_info(mach_port_t host, int flavor, host_info_t info,
			mach_msg_type_number_t *count)
{
	(void)host;
	EXPECT_EQ(flavor, HOST_BASIC_INFO);
	EXPECT_EQ(*count, HOST_BASIC_INFO_COUNT);
	((host_basic_info_t)info)->memory_size = device.memory;
	return device.memory == 0 ? KERN_FAILURE : KERN_SUCCESS;
}

kern_return_t device_open(mach_port_t master, dev_mode_t mode, const_dev_name_t name,
			  mach_port_t *opened)
{
	EXPECT_EQ(master, MASTER);
	EXPECT_EQ(mode, D_READ | D_WRITE);
	memcpy(asked.name, name, sizeof asked.name);
	*opened = device.opened == D_SUCCESS ? DEVICE : MACH_PORT_NULL;
	return device.opened;
}

kern_return_t device_close(mach_port_t port)
{
	EXPECT_EQ(port, DEVICE);
	asked.closed++;
	return D_SUCCESS;
}

kern_return_t device_get_status(mach_port_t port, dev_flavor_t flavor, dev_status_t status,
				mach_msg_type_number_t *count)
{
	EXPECT_EQ(port, DEVICE);
	EXPECT_EQ(flavor, DEV_GET_RECORDS);
	EXPECT_EQ(*count, DEV_GET_RECORDS_COUNT);
	memcpy(status, device.status, sizeof device.status);
	*count = device.n_status;
	return device.told;
}

/* The answer to a request, and how much was done. */
static io_return_t answer_request(mach_port_t port, recnum_t record, uint32_t bytes, uint32_t *done)
{
	EXPECT_EQ(port, DEVICE);
	asked.requests++;
	asked.record = record;
	asked.bytes = bytes;
	if (device.shortages > 0) {
		device.shortages--;
		*done = 0;
		return device.shortage;
	}
	*done = device.result == D_SUCCESS ? bytes - device.missing : 0;
	return device.result;
}

kern_return_t device_read(mach_port_t port, dev_mode_t mode, recnum_t record, int wanted,
			  io_buf_ptr_t *data, mach_msg_type_number_t *bytes)
{
	(void)mode;
	*data = answer;
	return answer_request(port, record, (uint32_t)wanted, bytes);
}

kern_return_t device_write(mach_port_t port, dev_mode_t mode, recnum_t record, io_buf_ptr_t data,
			   mach_msg_type_number_t size, int *bytes)
{
	(void)mode;
	EXPECT(data == answer);
	return answer_request(port, record, size, (uint32_t *)bytes);
}

/* ---------------- Opening ---------------- */

TEST(a_disk_is_opened)
{
	struct block_device disk;

	device_is(1 << 24, RECORD);
	EXPECT_EQ(block_device_open(&disk, MASTER, "hd0"), 0);
	EXPECT(strcmp(asked.name, "hd0") == 0 && strcmp(disk.name, "hd0") == 0);
	EXPECT_EQ(disk.port, DEVICE);
	EXPECT_EQ(disk.block_size, 1024);
	EXPECT_EQ(block_device_size(&disk), 1ll << 33);
	EXPECT_EQ(asked.closed + asked.released, 0);
	block_device_close(&disk);
	EXPECT_EQ(asked.closed, 1);
	EXPECT_EQ(asked.released, 1);
	EXPECT_EQ(disk.port, MACH_PORT_NULL);
}

TEST(a_name_that_is_too_long_is_cut)
{
	struct block_device disk;
	char name[300];

	memset(name, 'x', sizeof name - 1);
	name[sizeof name - 1] = '\0';
	device_is(8, RECORD);
	EXPECT_EQ(block_device_open(&disk, MASTER, name), 0);
	EXPECT_EQ(strlen(disk.name), sizeof disk.name - 1);
}

/* There is nothing to close then. */
TEST(no_device_of_that_name)
{
	struct block_device disk;

	device_is(8, RECORD);
	device.opened = D_NO_SUCH_DEVICE;
	EXPECT_EQ(block_device_open(&disk, MASTER, "hd9"), ENXIO);
	EXPECT_EQ(asked.said, 1);
	EXPECT_EQ(asked.closed + asked.released, 0);
}

static void expect_no_blocks(void)
{
	struct block_device disk;

	EXPECT_EQ(block_device_open(&disk, MASTER, "console"), ENOTBLK);
	EXPECT_EQ(asked.said, 1);
	EXPECT_EQ(asked.closed, 1);
	EXPECT_EQ(asked.released, 1);
}

TEST(a_device_without_blocks)
{
	device_is(8, 0);
	expect_no_blocks();
	device_is(8, 3000);
	expect_no_blocks();
	device_is(8, RECORD);
	device.told = D_INVALID_OPERATION;
	expect_no_blocks();
	device_is(8, RECORD);
	device.n_status--;
	expect_no_blocks();
}

/* ---------------- Reading and writing ---------------- */

static struct block_device opened(void)
{
	struct block_device disk;

	device_is(1024, RECORD);
	EXPECT_EQ(block_device_open(&disk, MASTER, "hd0"), 0);
	EXPECT(!block_device_set_block_size(&disk, BLOCK + 1));
	EXPECT(block_device_set_block_size(&disk, BLOCK));
	return disk;
}

static int read_two(const struct block_device *disk, char *first, char *second)
{
	void *const places[COUNT] = {first, second};

	for (unsigned i = 0; i < sizeof answer; i++)
		answer[i] = (char)(1 + i / BLOCK);
	return block_device_read(disk, FIRST, COUNT, places);
}

static void expect_request(unsigned requests)
{
	EXPECT_EQ(asked.requests, requests);
	EXPECT_EQ(asked.record, FIRST * BLOCK / RECORD);
	EXPECT_EQ(asked.bytes, COUNT * BLOCK);
}

TEST(blocks_are_read_each_to_its_place)
{
	struct block_device disk = opened();
	char first[BLOCK + 1] = {0}, second[BLOCK + 1] = {0};

	EXPECT_EQ(read_two(&disk, first, second), 0);
	EXPECT(memcmp(second, answer + BLOCK, BLOCK) == 0 && second[BLOCK] == 0);
	EXPECT(memcmp(first, answer, BLOCK) == 0 && first[BLOCK] == 0);
	expect_request(1);
	EXPECT_EQ(asked.given_back, sizeof answer);
}

TEST(what_cannot_be_read)
{
	static const io_return_t results[] = {D_IO_ERROR, D_INVALID_RECNUM, D_DEVICE_DOWN,
					      KERN_INVALID_ARGUMENT, MACH_SEND_INVALID_DEST};
	struct block_device disk = opened();
	char first[BLOCK] = {0}, second[BLOCK] = {0};

	for (unsigned i = 0; i < sizeof results / sizeof *results; i++) {
		device.result = results[i];
		EXPECT_EQ(read_two(&disk, first, second), EIO);
	}
	EXPECT_EQ(asked.requests, sizeof results / sizeof *results);
	EXPECT_EQ(asked.given_back, 0);
	device.result = D_SUCCESS;
	device.missing = 1;
	EXPECT_EQ(read_two(&disk, first, second), EIO);
	EXPECT_EQ(asked.given_back, sizeof answer - 1);
	EXPECT_EQ(first[0] | second[0] | asked.pauses, 0);
}

TEST(what_cannot_be_written)
{
	struct block_device disk = opened();

	EXPECT_EQ(block_device_write(&disk, FIRST, COUNT, answer), 0);
	expect_request(1);
	device.missing = RECORD;
	EXPECT_EQ(block_device_write(&disk, FIRST, COUNT, answer), EIO);
	device.result = D_IO_ERROR;
	EXPECT_EQ(block_device_write(&disk, FIRST, COUNT, answer), EIO);
	device.result = D_READ_ONLY;
	EXPECT_EQ(block_device_write(&disk, FIRST, COUNT, answer), EROFS);
	EXPECT_EQ(asked.requests, 4);
	EXPECT_EQ(asked.pauses, 0);
}

/* Nothing is wrong with the device then: what is asked for is asked for until there is memory. */
TEST(without_memory_it_waits)
{
	static const io_return_t shortages[] = {
		D_NO_MEMORY, KERN_RESOURCE_SHORTAGE, MACH_SEND_NO_BUFFER,
		MACH_RCV_BODY_ERROR | MACH_MSG_VM_KERNEL, MACH_RCV_BODY_ERROR | MACH_MSG_IPC_SPACE};
	char first[BLOCK], second[BLOCK];

	for (unsigned i = 0; i < sizeof shortages / sizeof *shortages; i++) {
		struct block_device disk = opened();

		device.shortage = shortages[i];
		device.shortages = 3;
		EXPECT_EQ(read_two(&disk, first, second), 0);
		expect_request(4);
		device.shortages = 2;
		EXPECT_EQ(block_device_write(&disk, FIRST, COUNT, answer), 0);
		expect_request(7);
		EXPECT_EQ(asked.pauses, 5);
	}
}

/* ---------------- The cache ---------------- */

TEST(a_sixteenth_of_the_memory_is_for_blocks)
{
	device_is(8, RECORD);
	EXPECT_EQ(block_device_cache_size(), 1 << 20);
	device.memory = 8 << 20;
	EXPECT_EQ(block_device_cache_size(), 1 << 20);
	device.memory = 64 << 20;
	EXPECT_EQ(block_device_cache_size(), 4 << 20);
	device.memory = 1024 << 20;
	EXPECT_EQ(block_device_cache_size(), 16 << 20);
}
