/* SPDX-License-Identifier: MIT */
/* An image in memory (image.h).  It is in a file only while e2fsprogs work at it. */
#include "image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMMAND_MAX 1024
#define BLOCK       1024u
#define TOOLS       "PATH=\"$PATH:/usr/sbin:/sbin\" LC_ALL=C MKE2FS_CONFIG=/dev/null "

uint8_t *image_bytes;
size_t image_size;
bool image_is_read_only;
unsigned image_reads, image_writes, image_blocks_read, image_blocks_written;

static unsigned blocks_until_bad; /* 0: no block becomes bad. */
static bool is_bad_for_ever, block_has_failed;

static size_t bad_reads, bad_reads_size, bad_writes, bad_writes_size;

/* ---------------- Files ---------------- */

/* The file's name is put in place of FILE in the command; what the command prints is kept. */
static bool run(const char *path, const char *command)
{
	char line[COMMAND_MAX];

	snprintf(line, sizeof line, "FILE='%s'; " TOOLS "%s > \"$FILE.out\" 2>&1", path, command);
	return system(line) == 0;
}

static void show_output(const char *path)
{
	char line[COMMAND_MAX];

	snprintf(line, sizeof line, "head -c 3000 '%s.out' | sed 's/^/# /'", path);
	if (system(line) != 0)
		printf("# (no output)\n");
	fflush(stdout);
}

static bool save(const char *path)
{
	FILE *file = fopen(path, "wb");
	bool is_good;

	if (file == NULL)
		return false;
	is_good = fwrite(image_bytes, 1, image_size, file) == image_size;
	return fclose(file) == 0 && is_good;
}

static bool load(const char *path)
{
	FILE *file = fopen(path, "rb");
	bool is_good;

	if (file == NULL)
		return false;
	is_good = fread(image_bytes, 1, image_size, file) == image_size;
	return fclose(file) == 0 && is_good;
}

/* Does something with the image in a file, and takes the file as the image afterwards. */
static bool work(const char *command)
{
	char path[] = "/tmp/assay-image-XXXXXX";
	char output[sizeof path + 4];
	int descriptor = mkstemp(path);
	bool is_good = descriptor >= 0 && save(path) && run(path, command) && load(path);

	if (!is_good)
		show_output(path);
	snprintf(output, sizeof output, "%s.out", path);
	remove(output);
	remove(path);
	return is_good;
}

bool image_make(const char *options, unsigned kib)
{
	char command[COMMAND_MAX / 2];

	image_free();
	image_size = (size_t)kib << 10;
	image_bytes = calloc(1, image_size);
	snprintf(command, sizeof command, "mke2fs -q -F -t ext2 %s \"$FILE\"", options);
	return image_bytes != NULL && work(command);
}

void image_free(void)
{
	free(image_bytes);
	image_bytes = NULL;
	image_fail_reads(0, 0);
	image_fail_writes(0, 0);
	image_fail_block(0, false);
	image_is_read_only = false;
}

bool image_is_clean(void)
{
	return work("e2fsck -fn \"$FILE\"");
}

bool image_repair(void)
{
	return work("sh -c 'e2fsck -fy \"$0\" || test $? -eq 1' \"$FILE\"");
}

bool image_debugfs(const char *request)
{
	char command[COMMAND_MAX / 2];

	snprintf(command, sizeof command, "debugfs -w -R '%s' \"$FILE\"", request);
	return work(command);
}

/* ---------------- The device ---------------- */

void image_fail_reads(size_t offset, size_t size)
{
	bad_reads = offset;
	bad_reads_size = size;
}

void image_fail_writes(size_t offset, size_t size)
{
	bad_writes = offset;
	bad_writes_size = size;
}

void image_fail_block(unsigned number, bool for_ever)
{
	blocks_until_bad = number;
	is_bad_for_ever = for_ever;
	block_has_failed = false;
}

bool image_block_has_failed(void)
{
	return block_has_failed;
}

/* Makes the block bad when its turn has come. */
static void count_blocks(size_t offset, size_t size)
{
	unsigned count = (unsigned)(size / BLOCK);

	if (blocks_until_bad == 0)
		return;
	if (blocks_until_bad > count) {
		blocks_until_bad -= count;
		return;
	}
	image_fail_writes(offset + (blocks_until_bad - 1) * BLOCK, BLOCK);
	blocks_until_bad = 0;
	block_has_failed = true;
}

static bool touches(size_t offset, size_t size, size_t bad, size_t bad_size)
{
	return offset < bad + bad_size && bad < offset + size;
}

bool image_read(size_t offset, size_t size, void *to)
{
	if (touches(offset, size, bad_reads, bad_reads_size))
		return false;
	memcpy(to, image_bytes + offset, size);
	return true;
}

bool image_write(size_t offset, size_t size, const void *from)
{
	count_blocks(offset, size);
	if (touches(offset, size, bad_writes, bad_writes_size)) {
		if (block_has_failed && !is_bad_for_ever && size == BLOCK)
			image_fail_writes(0, 0);
		return false;
	}
	memcpy(image_bytes + offset, from, size);
	return true;
}
