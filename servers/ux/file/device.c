/* SPDX-License-Identifier: MIT */
/*
 * Character devices, by their numbers: /dev/null and its relatives, the log, the console.
 * Guarded by the server's lock.
 */
#include "file/descriptors.h"
#include "file/device.h"

#define MEMORY_MAJOR  1
#define CONSOLE_MAJOR 5

/* ---------------- null, zero, full ---------------- */

static int device_read_nothing(struct open_file *file, struct thread *caller, void *buffer,
			       size_t size, size_t *done)
{
	(void)file;
	(void)caller;
	(void)buffer;
	(void)size;
	*done = 0;
	return 0;
}

static int device_read_zeroes(struct open_file *file, struct thread *caller, void *buffer,
			      size_t size, size_t *done)
{
	(void)file;
	(void)caller;
	memset(buffer, 0, size);
	*done = size;
	return 0;
}

static int device_write_away(struct open_file *file, struct thread *caller, const void *buffer,
			     size_t size, size_t *done)
{
	(void)file;
	(void)caller;
	(void)buffer;
	*done = size;
	return 0;
}

static int device_write_full(struct open_file *file, struct thread *caller, const void *buffer,
			     size_t size, size_t *done)
{
	(void)file;
	(void)caller;
	(void)buffer;
	*done = 0;
	return size > 0 ? ENOSPC : 0;
}

/* Positions mean nothing, and programs that set one are not to fail. */
static int device_stay(struct open_file *file, off_t offset, int whence, off_t *position)
{
	(void)file;
	(void)offset;
	(void)whence;
	*position = 0;
	return 0;
}

static void device_stat_device(struct open_file *file, struct stat *result)
{
	vnode_stat(file->vnode, result);
}

static const struct file_operations null_file = {
	.read = device_read_nothing,
	.write = device_write_away,
	.seek = device_stay,
	.stat = device_stat_device,
};

static const struct file_operations zero_file = {
	.read = device_read_zeroes,
	.write = device_write_away,
	.seek = device_stay,
	.stat = device_stat_device,
};

static const struct file_operations full_file = {
	.read = device_read_zeroes,
	.write = device_write_full,
	.seek = device_stay,
	.stat = device_stat_device,
};

/* ---------------- The log ---------------- */

static struct device_stream log = {.name = "log"};

static int device_open_log(struct open_file *file)
{
	(void)file;
	return device_stream_open(&log);
}

static int device_write_log(struct open_file *file, struct thread *caller, const void *buffer,
			    size_t size, size_t *done)
{
	(void)file;
	return device_stream_write(&log, caller, buffer, size, done);
}

static const struct file_operations log_file = {
	.read = device_read_nothing,
	.write = device_write_log,
	.stat = device_stat_device,
};

/* ---------------- The table ---------------- */

static const struct {
	dev_t number;
	const struct file_operations *operations;
	int (*open)(struct open_file *file); /* May be null. */
} devices[] = {
	{makedev(MEMORY_MAJOR, 3), &null_file, NULL},
	{makedev(MEMORY_MAJOR, 5), &zero_file, NULL},
	{makedev(MEMORY_MAJOR, 7), &full_file, NULL},
	{makedev(MEMORY_MAJOR, 11), &log_file, device_open_log},
	{makedev(CONSOLE_MAJOR, 0), &console_file, NULL},
	{makedev(CONSOLE_MAJOR, 1), &console_file, NULL},
};

int character_device_open(struct open_file *file, dev_t number)
{
	assert(ux_lock_held() && S_ISCHR(file->vnode->mode));
	for (size_t n = 0; n < sizeof devices / sizeof devices[0]; n++) {
		if (devices[n].number != number)
			continue;
		file->operations = devices[n].operations;
		return devices[n].open != NULL ? devices[n].open(file) : 0;
	}
	return ENXIO;
}
