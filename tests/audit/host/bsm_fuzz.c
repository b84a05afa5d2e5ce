/* SPDX-License-Identifier: MIT */
/*
 * Trails with every byte flipped, and cut at every length: the library reads what is whole, says
 * what is wrong with the rest, and the sanitizers find nothing.
 *
 * links: lib/bsm/read.c lib/bsm/print.c lib/bsm/choose.c lib/bsm/lines.c
 * links: tests/lib/host/bsm/made.c tests/lib/host/bsm/made_read.c
 * flags: -D_GNU_SOURCE -Ilib/bsm -Itests/lib/host/bsm
 */
#include <stdlib.h>
#include <string.h>

#include "check.h"
#include "made.h"

TEST(a_whole_trail_is_read)
{
	EXPECT_EQ(made_read_all(made_trail, made_trail_size), MADE_RECORDS);
	EXPECT_EQ(made_read_all(made_trail, 0), 0);
}

TEST(a_trail_that_is_cut_is_read_to_its_last_record)
{
	for (size_t size = 1; size < made_trail_size; size++) {
		uint8_t *copy = malloc(size);
		int found;

		memcpy(copy, made_trail, size);
		found = made_read_all(copy, size);
		EXPECT(found == -1 || found < MADE_RECORDS);
		free(copy);
	}
}

TEST(each_byte_may_be_wrong)
{
	uint8_t *copy = malloc(made_trail_size);

	for (size_t n = 0; n < made_trail_size; n++) {
		for (int bit = 0; bit < 8; bit++) {
			memcpy(copy, made_trail, made_trail_size);
			copy[n] ^= (uint8_t)(1u << bit);
			made_read_all(copy, made_trail_size);
		}
	}
	free(copy);
}

TEST(lengths_that_cannot_be_are_errors)
{
	static const uint32_t lengths[] = {0, 1, 24, 0x7fffffff, 0x80000000, 0xffffffff};
	uint8_t *copy = malloc(made_trail_size);

	for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
		memcpy(copy, made_trail, made_trail_size);
		for (int byte = 0; byte < 4; byte++)
			copy[MADE_HEADER + 1 + byte] = (uint8_t)(lengths[n] >> (24 - 8 * byte));
		EXPECT_EQ(made_read_all(copy, made_trail_size), -1);
	}
	free(copy);
}
