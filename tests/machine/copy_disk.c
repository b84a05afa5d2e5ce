/* SPDX-License-Identifier: MIT */
/*
 * For test_disk.py: copies a disk to another.
 *
 *     copy_disk FROM TO ${device-port}     ends with what went wrong first, D_... less 2500, or 0
 */
#include <assay.h>
#include <mach.h>

#define D_FIRST_ERROR 2500
#define PIECE_RECORDS 128 /* More than a page, and no divisor of the disks' sizes. */

struct disk {
	mach_port_t port;
	uint32_t records;
	uint32_t record_size;
};

static io_return_t open_disk(mach_port_t master, char *name, dev_mode_t mode, struct disk *disk)
{
	int status[DEV_GET_RECORDS_COUNT];
	mach_msg_type_number_t count = DEV_GET_RECORDS_COUNT;
	io_return_t result = device_open(master, mode, name, &disk->port);

	if (result == D_SUCCESS)
		result = device_get_status(disk->port, DEV_GET_RECORDS, status, &count);
	if (result == D_SUCCESS) {
		disk->records = (uint32_t)status[DEV_GET_RECORDS_DEVICE_RECORDS];
		disk->record_size = (uint32_t)status[DEV_GET_RECORDS_RECORD_SIZE];
	}
	return result;
}

static io_return_t copy_piece(const struct disk *from, const struct disk *to, uint32_t record,
			      uint32_t size)
{
	mach_msg_type_number_t count = 0;
	char *data = NULL;
	int written = 0;
	io_return_t result = device_read(from->port, 0, record, (int)size, &data, &count);

	if (result != D_SUCCESS)
		return result;
	result = device_write(to->port, 0, record, data, count, &written);
	vm_deallocate(mach_task_self(), (vm_address_t)data, count);
	if (result == D_SUCCESS && (uint32_t)written != count)
		return D_IO_ERROR;
	return result;
}

static io_return_t copy_disk(const struct disk *from, const struct disk *to)
{
	io_return_t result = D_SUCCESS;

	for (uint32_t record = 0; record < from->records && result == D_SUCCESS;
	     record += PIECE_RECORDS) {
		uint32_t left = from->records - record;
		uint32_t records = left < PIECE_RECORDS ? left : PIECE_RECORDS;

		result = copy_piece(from, to, record, records * from->record_size);
	}
	return result;
}

int main(int argc, char **argv)
{
	struct disk from, to;
	mach_port_t master;
	io_return_t result;

	if (argc != 4) {
		print("copy_disk: which disks?\n");
		return 1;
	}
	master = strtoul(argv[3], NULL, 10);
	result = open_disk(master, argv[1], D_READ, &from);
	if (result == D_SUCCESS)
		result = open_disk(master, argv[2], D_READ | D_WRITE, &to);
	if (result == D_SUCCESS)
		result = copy_disk(&from, &to);
	return result == D_SUCCESS ? 0 : result - D_FIRST_ERROR;
}
