/* SPDX-License-Identifier: MIT */
/* od: shows the bytes of files. */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "od [-c | -x | -b] [FILE...]"
#define ROW   16

struct dump {
	unsigned char row[ROW];
	unsigned char last[ROW];
	unsigned used;
	unsigned long offset;
	bool has_last;
	bool is_skipping; /* Rows like the last are shown by a star. */
	char format;
};

static void print_character(unsigned char byte)
{
	static const char letters[] = "0abtnvfr";
	static const char meanings[] = "\0\a\b\t\n\v\f\r";
	const char *found = memchr(meanings, byte, sizeof(meanings) - 1);

	if (found != NULL)
		printf("  \\%c", letters[found - meanings]);
	else if (byte >= ' ' && byte <= '~')
		printf("   %c", byte);
	else
		printf(" %03o", byte);
}

static void print_bytes(const struct dump *dump)
{
	for (unsigned i = 0; i < dump->used; i++) {
		if (dump->format == 'c')
			print_character(dump->row[i]);
		else
			printf(" %03o", dump->row[i]);
	}
}

/* Two bytes, the first the lower one, as the machine has them. */
static void print_words(const struct dump *dump)
{
	for (unsigned i = 0; i < dump->used; i += 2) {
		unsigned word = dump->row[i];

		if (i + 1 < dump->used)
			word |= (unsigned)dump->row[i + 1] << 8;
		printf(dump->format == 'x' ? " %04x" : " %06o", word);
	}
}

static void print_row(struct dump *dump)
{
	bool is_same =
		dump->has_last && dump->used == ROW && memcmp(dump->row, dump->last, ROW) == 0;

	if (is_same && !dump->is_skipping)
		puts("*");
	if (!is_same) {
		printf("%07lo", dump->offset);
		if (dump->format == 'c' || dump->format == 'b')
			print_bytes(dump);
		else
			print_words(dump);
		putchar('\n');
	}
	dump->is_skipping = is_same;
	memcpy(dump->last, dump->row, ROW);
	dump->has_last = true;
	dump->offset += dump->used;
	dump->used = 0;
}

static bool dump_file(struct dump *dump, const char *name)
{
	unsigned char block[COPY_BYTES];
	int descriptor = open_input(name);
	ssize_t got;

	if (descriptor < 0)
		return false;
	while ((got = read(descriptor, block, sizeof(block))) > 0)
		for (ssize_t i = 0; i < got; i++) {
			dump->row[dump->used++] = block[i];
			if (dump->used == ROW)
				print_row(dump);
		}
	if (got < 0)
		report_errno(name);
	close_input(descriptor);
	return got == 0;
}

int main(int count, char **arguments)
{
	struct dump dump = {.format = 'o'};
	int status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "cxb")) != -1) {
		if (option == '?')
			usage(USAGE);
		dump.format = (char)option;
	}
	if (optind == count)
		status = dump_file(&dump, "-") ? 0 : 1;
	for (int i = optind; i < count; i++)
		if (!dump_file(&dump, arguments[i]))
			status = 1;
	if (dump.used > 0)
		print_row(&dump);
	printf("%07lo\n", dump.offset);
	return program_end(status);
}
