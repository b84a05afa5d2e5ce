/* SPDX-License-Identifier: MIT */
/* links: servers/ux/file/pipe_ring.c */
/* flags: -DUX_SERVER -isystem include -D_POSIX_C_SOURCE=200809L -Iservers/ux */
/* The bytes of a pipe, against a counter: what goes in comes out, in order. */
#include "check.h"
#include "file/pipe_ring.h"
#include "host/kernel.h"

#define SIZE  61u /* Not a power of two: nothing may rely on one. */
#define STEPS 20000

static char memory[SIZE];

static struct pipe_ring ring_new(void)
{
	return (struct pipe_ring){.bytes = memory, .size = SIZE};
}

/* The nth byte that is ever written. */
static char byte(uint32_t n)
{
	return (char)(n * 7 + n / 256);
}

TEST(ring_takes_what_there_is_room_for)
{
	struct pipe_ring ring = ring_new();
	char bytes[SIZE + 1] = {0};

	EXPECT_EQ(pipe_ring_room(&ring), SIZE);
	EXPECT_EQ(pipe_ring_put(&ring, bytes, sizeof bytes), SIZE);
	EXPECT_EQ(pipe_ring_room(&ring), 0);
	EXPECT_EQ(pipe_ring_put(&ring, bytes, 1), 0);
	EXPECT_EQ(pipe_ring_take(&ring, bytes, sizeof bytes), SIZE);
	EXPECT_EQ(pipe_ring_take(&ring, bytes, 1), 0);
}

TEST(ring_goes_round_at_its_end)
{
	struct pipe_ring ring = ring_new();
	char bytes[SIZE];

	EXPECT_EQ(pipe_ring_put(&ring, "0123456789", 10), 10);
	ring.first = SIZE - 4;
	ring.used = 0;
	EXPECT_EQ(pipe_ring_put(&ring, "abcdefgh", 8), 8);
	EXPECT_EQ(pipe_ring_take(&ring, bytes, 4), 4);
	EXPECT_EQ(ring.first, 0);
	EXPECT_EQ(pipe_ring_take(&ring, bytes + 4, SIZE - 4), 4);
	bytes[8] = '\0';
	EXPECT_STREQ(bytes, "abcdefgh");
}

TEST(ring_keeps_the_order)
{
	struct pipe_ring ring = ring_new();
	uint32_t written = 0, read = 0, random = 1;
	char bytes[SIZE + 8];

	for (unsigned step = 0; step < STEPS && !check_failed(); step++) {
		uint32_t n = host_random_below(&random, sizeof bytes);

		if (host_random_below(&random, 2) == 0) {
			for (uint32_t i = 0; i < n; i++)
				bytes[i] = byte(written + i);
			written += pipe_ring_put(&ring, bytes, n);
		} else {
			n = pipe_ring_take(&ring, bytes, n);
			for (uint32_t i = 0; i < n; i++)
				EXPECT_EQ(bytes[i], byte(read + i));
			read += n;
		}
		EXPECT_EQ(ring.used, written - read);
	}
	EXPECT(written > STEPS);
}
