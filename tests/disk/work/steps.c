/* SPDX-License-Identifier: MIT */
/*
 * The process that a machine with a disk consists of (tests/disk/cuts.py): does to files what the
 * lines of /steps say, and marks in a file of its own which of them are over and on the disk.
 *
 *   c NAME ID TAG COUNT         a new file of so many sectors, each tagged by ID, TAG and its place
 *   w NAME ID TAG FIRST COUNT   sectors of it written, again or behind its end
 *   t NAME COUNT                so many left
 *   r NAME NAME    l NAME NAME  renamed; one more name
 *   u NAME    d NAME    x NAME  removed; a directory made, and removed
 *   p MILLISECONDS              a pause
 *   f NAME STEP    s STEP       fsync() or sync(), and then the mark of that step
 */
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#define SECTOR      512
#define COUNT_MOST  64
#define NAME_MOST   64
#define MARK        "assay mark"
#define NANOSECONDS 1000000u

struct step {
	char what;
	char name[NAME_MOST];
	char other[NAME_MOST];
	unsigned numbers[3];
};

static char sectors[COUNT_MOST][SECTOR];
static int mark_file;

static int write_sectors(const char *name, int flags, unsigned id, unsigned tag, unsigned first,
			 unsigned count)
{
	int file = open(name, O_WRONLY | flags, 0644);
	size_t size = (size_t)count * SECTOR;
	ssize_t done;

	if (file < 0 || count > COUNT_MOST)
		return -1;
	for (unsigned i = 0; i < count; i++) {
		uint32_t words[] = {id, tag, first + i, ~id};

		for (size_t place = 0; place < SECTOR; place += sizeof words)
			memcpy(sectors[i] + place, words, sizeof words);
	}
	lseek(file, (off_t)first * SECTOR, SEEK_SET);
	done = write(file, sectors, size);
	close(file);
	return done == (ssize_t)size ? 0 : -1;
}

static int mark(unsigned number)
{
	static char sector[SECTOR] = MARK;

	memcpy(sector + sizeof MARK, &number, sizeof number);
	if (lseek(mark_file, 0, SEEK_SET) != 0 || write(mark_file, sector, SECTOR) != SECTOR)
		return -1;
	return fsync(mark_file);
}

static int sync_file(const char *name)
{
	int file = open(name, O_RDONLY);
	int result = file < 0 ? -1 : fsync(file);

	close(file);
	return result;
}

static int pause_for(unsigned milliseconds)
{
	struct timespec time = {.tv_sec = milliseconds / 1000,
				.tv_nsec = (long)(milliseconds % 1000 * NANOSECONDS)};

	return nanosleep(&time, NULL);
}

static int take_step(const struct step *step)
{
	const unsigned *numbers = step->numbers;
	unsigned id = (unsigned)atoi(step->other);

	switch (step->what) {
	case 'c':
		return write_sectors(step->name, O_CREAT | O_EXCL, id, numbers[0], 0, numbers[1]);
	case 'w':
		return write_sectors(step->name, 0, id, numbers[0], numbers[1], numbers[2]);
	case 't':
		return truncate(step->name, (off_t)id * SECTOR);
	case 'r':
		return rename(step->name, step->other);
	case 'l':
		return link(step->name, step->other);
	case 'u':
		return unlink(step->name);
	case 'd':
		return mkdir(step->name, 0755);
	case 'x':
		return rmdir(step->name);
	case 'p':
		return pause_for((unsigned)atoi(step->name));
	case 'f':
		return sync_file(step->name) != 0 ? -1 : mark(id);
	case 's':
		sync();
		return mark((unsigned)atoi(step->name));
	default:
		return -1;
	}
}

/* The status is the number of the line that failed, or 0. */
int main(void)
{
	FILE *steps = fopen("/steps", "r");
	char line[256];
	int number = 1;

	mark_file = open("/mark", O_WRONLY);
	if (steps == NULL || mark_file < 0)
		return number;
	while (fgets(line, sizeof line, steps) != NULL) {
		struct step step = {.what = line[0]};
		unsigned *numbers = step.numbers;

		sscanf(line + 1, "%63s %63s %u %u %u", step.name, step.other, &numbers[0],
		       &numbers[1], &numbers[2]);
		if (take_step(&step) != 0)
			return number;
		number++;
	}
	return 0;
}
