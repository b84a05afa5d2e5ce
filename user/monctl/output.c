/* SPDX-License-Identifier: MIT */
/* Files that profiles are written to. */
#include <errno.h>
#include <fcntl.h>
#include <gmon.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"
#include "output.h"

#define KEPT_ROOM  48
#define KEPT_NAMES 100u

int output_open(const char *path, bool *is_new)
{
	int descriptor = open(path, O_WRONLY | O_CLOEXEC);

	*is_new = false;
	if (descriptor >= 0 || errno != ENOENT)
		return descriptor;
	*is_new = true;
	return open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
}

/* Behind the first `old` bytes; they are the file again if that cannot be done. */
static bool write_behind(int descriptor, const char *data, size_t size, size_t old)
{
	int error;

	if (size <= old)
		return true;
	if (lseek(descriptor, (off_t)old, SEEK_SET) >= 0 &&
	    write_all(descriptor, data + old, size - old))
		return true;
	error = errno;
	ftruncate(descriptor, (off_t)old);
	errno = error;
	return false;
}

/* What lies behind the end of the old content is written first, as only that needs more room. */
bool output_replace(int descriptor, const void *data, size_t size)
{
	struct stat status;
	size_t old;

	if (fstat(descriptor, &status) != 0)
		return false;
	if (!S_ISREG(status.st_mode))
		return write_all(descriptor, data, size);
	old = (size_t)status.st_size;
	return write_behind(descriptor, data, size, old) && lseek(descriptor, 0, SEEK_SET) == 0 &&
	       write_all(descriptor, data, size < old ? size : old) &&
	       lseek(descriptor, (off_t)size, SEEK_SET) >= 0 &&
	       ftruncate(descriptor, (off_t)size) == 0;
}

/* A file that could not be written whole, and was not there before, is not there afterwards. */
static bool finish(int descriptor, const char *path, bool is_new, const void *data, size_t size)
{
	bool done = output_replace(descriptor, data, size);
	int error = errno;

	if (close(descriptor) != 0 && done) {
		error = errno;
		done = false;
	}
	if (!done && is_new)
		unlink(path);
	errno = error;
	return done;
}

bool output_write(const char *path, const void *data, size_t size)
{
	bool is_new;
	int descriptor = output_open(path, &is_new);

	return descriptor >= 0 && finish(descriptor, path, is_new, data, size);
}

/* Into a new file, as anybody may have put one, or a link to another, where all may write. */
static bool write_kept(int pid, char path[KEPT_ROOM], const void *data, size_t size)
{
	for (unsigned n = 0; n < KEPT_NAMES; n++) {
		int descriptor;

		if (n == 0)
			snprintf(path, KEPT_ROOM, "/tmp/gmon.out.%d", pid);
		else
			snprintf(path, KEPT_ROOM, "/tmp/gmon.out.%d.%u", pid, n);
		descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
		if (descriptor >= 0)
			return finish(descriptor, path, true, data, size);
		if (errno != EEXIST)
			return false;
	}
	return false;
}

char *output_keep(const char *path, int pid, const void *data, size_t size)
{
	char kept[KEPT_ROOM];

	if (output_write(path, data, size))
		return copy_text(path);
	report_errno(path);
	if (write_kept(pid, kept, data, size)) {
		report("the profile of process %d is kept in %s", pid, kept);
		return copy_text(kept);
	}
	report_errno(kept);
	return NULL;
}

/* ---------------- The clock ---------------- */

void output_warn_of_clock(void)
{
	report("warning: the emulator interrupts only between blocks of instructions, so that "
	       "samples are late; run it with --icount for exact ones");
}

/* The size of a record in a gmon.out, with its tag; 0 if it does not make sense. */
static size_t record_size(const unsigned char *record, size_t left)
{
	struct gmon_histogram histogram;
	uint32_t blocks;

	switch (record[0]) {
	case GMON_TAG_ARC:
		return 1 + sizeof(struct gmon_arc);
	case GMON_TAG_HISTOGRAM:
		if (left < 1 + sizeof(histogram))
			return 0;
		memcpy(&histogram, record + 1, sizeof(histogram));
		return 1 + sizeof(histogram) + (size_t)histogram.bins * sizeof(uint16_t);
	case GMON_TAG_BLOCKS:
		if (left < 1 + sizeof(blocks))
			return 0;
		memcpy(&blocks, record + 1, sizeof(blocks));
		return 1 + sizeof(blocks) + (size_t)blocks * 2 * sizeof(uint32_t);
	default:
		return 0;
	}
}

void output_warn(const void *data, size_t size)
{
	const unsigned char *at = data;
	size_t left = size;
	size_t record = sizeof(struct gmon_header);

	if (size < record || memcmp(data, GMON_MAGIC, sizeof(GMON_MAGIC) - 1) != 0)
		return;
	while (record != 0 && record < left) {
		struct gmon_arc arc;

		at += record;
		left -= record;
		record = record_size(at, left);
		if (at[0] != GMON_TAG_ARC || left < record)
			continue;
		memcpy(&arc, at + 1, sizeof(arc));
		if (arc.from == GMON_EXTRA_VALUE && arc.self == GMON_OPTIONS &&
		    (arc.count & GMON_CLOCK_IS_BLOCK))
			output_warn_of_clock();
	}
}
