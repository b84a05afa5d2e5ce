/* SPDX-License-Identifier: MIT */
/* read() and write(): little data travels within the message, much beside it. */
#include <mach.h>
#include <string.h>
#include <unistd.h>

#include "call.h"

static size_t least(size_t one, size_t other)
{
	return one < other ? one : other;
}

static ssize_t read_short(int fd, void *buffer, size_t size)
{
	mach_msg_type_number_t done = (mach_msg_type_number_t)size;

	return finish(CALL(bsd_read, fd, size, buffer, &done)) == 0 ? (ssize_t)done : -1;
}

static ssize_t read_long(int fd, void *buffer, size_t size)
{
	mach_msg_type_number_t done = 0;
	char *data = NULL;

	if (finish(CALL(bsd_read_long, fd, least(size, UX_TRANSFER_MAX), &data, &done)) != 0)
		return -1;
	memcpy(buffer, data, done);
	if (done != 0)
		syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)data, done);
	return (ssize_t)done;
}

ssize_t read(int fd, void *buffer, size_t size)
{
	if (is_bad(buffer, size))
		return finish(EFAULT);
	return size <= UX_INLINE_MAX ? read_short(fd, buffer, size) : read_long(fd, buffer, size);
}

static ssize_t write_piece(int fd, const char *data, size_t size)
{
	unsigned done = 0;
	mach_msg_type_number_t count = (mach_msg_type_number_t)size;
	kern_return_t result =
		size <= UX_INLINE_MAX
			? CALL(bsd_write, fd, (char *)(uintptr_t)data, count, &done)
			: CALL(bsd_write_long, fd, (char *)(uintptr_t)data, count, &done);

	return finish(result) == 0 ? (ssize_t)done : -1;
}

/* In pieces; an error after the first counts when the next write meets it again. */
ssize_t write(int fd, const void *buffer, size_t size)
{
	size_t total = 0;

	if (is_bad(buffer, size))
		return finish(EFAULT);
	do {
		size_t piece = least(size - total, UX_TRANSFER_MAX);
		ssize_t done = write_piece(fd, (const char *)buffer + total, piece);

		if (done < 0)
			return total != 0 ? (ssize_t)total : -1;
		total += (size_t)done;
		if ((size_t)done < piece)
			break;
	} while (total < size);
	return (ssize_t)total;
}
