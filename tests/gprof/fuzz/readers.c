/* SPDX-License-Identifier: MIT */
/*
 * What libFuzzer throws at gprof's readers (make fuzz-gprof): the first byte of an input chooses
 * the reader, the rest is the file.
 */
#include <stdlib.h>
#include <string.h>

#include "elfsym/elfsym.h"
#include "gprof/made.h"
#include "read.h"

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

static void read_file(const unsigned char *bytes, size_t size, unsigned address_bytes)
{
	struct profile profile;

	profile_begin(&profile);
	if (read_profile(&profile, bytes, size, address_bytes) == NULL)
		profile_finish(&profile, "program", NULL);
	profile_end(&profile);
}

static void read_program(const unsigned char *bytes, size_t size)
{
	struct elfsym elf;

	if (elfsym_open(&elf, bytes, size) == NULL && elfsym_read_functions(&elf) == NULL)
		for (uint64_t i = 0; i < 64; i++) {
			const struct elfsym_function *function =
				elfsym_find(&elf, elf.text_start + i, NULL);

			if (function != NULL)
				elfsym_bytes(&elf, function->start,
					     function->end - function->start);
		}
	elfsym_close(&elf);
}

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size)
{
	if (size == 0)
		return 0;
	switch (bytes[0]) {
	case 'e':
		read_program(bytes + 1, size - 1);
		break;
	case '8':
		read_file(bytes + 1, size - 1, 8);
		break;
	default:
		read_file(bytes + 1, size - 1, 4);
		break;
	}
	return 0;
}
