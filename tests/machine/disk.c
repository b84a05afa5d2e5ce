/* SPDX-License-Identifier: MIT */
/*
 * What test_guest_files.py wants done to the RAM disk, which is blocks to programs so far:
 *
 *     disk ${device-port} sum               prints size and CRC-32 of rd0
 *     disk ${device-port} replace OLD NEW   writes NEW where OLD is, once; both are as long
 *     disk ${device-port} spoil             writes over the file system's superblock
 */
#include <assay.h>
#include <mach.h>
#include <mach/device.h>

#define BLOCK      PAGE_SIZE
#define POLYNOMIAL 0xedb88320u /* CRC-32 with its bits reversed, as zlib has it. */

static mach_port_t disk;
static uint32_t record_size;
static uint32_t n_blocks;

/* The status of a program that cannot go on, which says why. */
static int failed(const char *what, int error)
{
	print("disk: %s: error %d\n", what, error);
	return 1;
}

static int open_disk(mach_port_t master)
{
	int status[DEV_GET_RECORDS_COUNT];
	mach_msg_type_number_t count = DEV_GET_RECORDS_COUNT;
	int error = device_open(master, D_READ | D_WRITE, "rd0", &disk);

	if (error == D_SUCCESS)
		error = device_get_status(disk, DEV_GET_RECORDS, status, &count);
	if (error != D_SUCCESS)
		return failed("opening rd0", error);
	record_size = (uint32_t)status[DEV_GET_RECORDS_RECORD_SIZE];
	n_blocks = (uint32_t)status[DEV_GET_RECORDS_DEVICE_RECORDS] / (BLOCK / record_size);
	return 0;
}

static int read_block(uint32_t block, char **data)
{
	mach_msg_type_number_t size = 0;
	int error = device_read(disk, 0, block * (BLOCK / record_size), BLOCK, data, &size);

	return error != D_SUCCESS || size != BLOCK ? failed("reading", error) : 0;
}

static int write_block(uint32_t block, char *data)
{
	int size = 0;
	int error = device_write(disk, 0, block * (BLOCK / record_size), data, BLOCK, &size);

	return error != D_SUCCESS || size != BLOCK ? failed("writing", error) : 0;
}

static void drop(char *data)
{
	vm_deallocate(mach_task_self(), (vm_address_t)data, BLOCK);
}

static uint32_t crc_of(uint32_t crc, const char *data)
{
	for (uint32_t i = 0; i < BLOCK; i++) {
		crc ^= (uint8_t)data[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? POLYNOMIAL : 0);
	}
	return crc;
}

static int sum(void)
{
	uint32_t crc = ~0u;

	for (uint32_t block = 0; block < n_blocks; block++) {
		char *data;

		if (read_block(block, &data) != 0)
			return 1;
		crc = crc_of(crc, data);
		drop(data);
	}
	print("%u %08x\n", n_blocks * BLOCK, ~crc);
	return 0;
}

/* Writes the text's place over in one block; whether it was there. */
static bool replace_in(char *data, const char *old, const char *new)
{
	size_t length = strlen(old);

	for (uint32_t i = 0; i + length <= BLOCK; i++) {
		if (memcmp(data + i, old, length) != 0)
			continue;
		memcpy(data + i, new, length);
		return true;
	}
	return false;
}

static int replace(const char *old, const char *new)
{
	for (uint32_t block = 0; block < n_blocks; block++) {
		char *data;

		if (read_block(block, &data) != 0)
			return 1;
		if (replace_in(data, old, new))
			return write_block(block, data);
		drop(data);
	}
	print("disk: %s is nowhere\n", old);
	return 1;
}

static int spoil(void)
{
	static char zeroes[BLOCK];

	return write_block(0, zeroes);
}

int main(int argc, char **argv)
{
	if (argc < 3 || open_disk(strtoul(argv[1], NULL, 10)) != 0)
		return 1;
	if (strcmp(argv[2], "sum") == 0)
		return sum();
	if (strcmp(argv[2], "spoil") == 0)
		return spoil();
	if (argc == 5 && strcmp(argv[2], "replace") == 0 && strlen(argv[3]) == strlen(argv[4]))
		return replace(argv[3], argv[4]);
	print("disk: what is to be done?\n");
	return 1;
}
