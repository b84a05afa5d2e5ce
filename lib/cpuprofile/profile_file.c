/* SPDX-License-Identifier: MIT */
/* Writes the file of a profile: see profile_file.h.  Guarded by the lock of cpuprofile.c. */
#include "profile_file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define WORDS 4096u
#define PAGE  4096u
#define LINE  256

/* The linker's: from the ELF header to behind the last instruction. */
extern const char __executable_start[], etext[];

static uint32_t words[WORDS];
static uint32_t used;
static int file = -1, error;

static void write_all(const void *data, size_t size)
{
	const char *bytes = data;

	while (size > 0 && error == 0) {
		ssize_t written = write(file, bytes, size);

		if (written > 0) {
			bytes += written;
			size -= (size_t)written;
		} else if (written == 0 || errno != EINTR) {
			error = written == 0 ? EIO : errno;
		}
	}
}

static void flush(void)
{
	write_all(words, used * sizeof words[0]);
	used = 0;
}

static void put(uint32_t word)
{
	if (used == WORDS)
		flush();
	words[used++] = word;
}

int profile_file_begin(int fd, uint32_t period_us)
{
	const uint32_t header[] = {0, 3, 0, period_us, 0};

	file = fd;
	error = 0;
	used = 0;
	write_all(header, sizeof header);
	return error;
}

void profile_file_record(uint32_t count, const uint32_t *addresses, uint32_t n)
{
	put(count);
	put(n);
	for (uint32_t i = 0; i < n; i++)
		put(addresses[i]);
}

static void put_map(void)
{
	uint32_t start = (uint32_t)(uintptr_t)__executable_start & ~(PAGE - 1);
	uint32_t end = ((uint32_t)(uintptr_t)etext + PAGE - 1) & ~(PAGE - 1);
	char line[LINE];
	int length = snprintf(line, sizeof line, "%08x-%08x r-xp 00000000 00:00 0          %s\n",
			      (unsigned)start, (unsigned)end, getprogname());

	write_all(line, length < LINE ? (size_t)length : sizeof line - 1);
}

int profile_file_end(void)
{
	put(0);
	put(1);
	put(0);
	flush();
	put_map();
	if (close(file) != 0 && error == 0)
		error = errno;
	file = -1;
	return error;
}
