/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* malloc: many blocks at random, each with its own pattern; and what it says of mistakes. */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "libc/our.h"

#define BLOCKS    500
#define STEPS     200000
#define ALIGNMENT 16

struct held {
	unsigned char *bytes;
	size_t size;
	unsigned char pattern;
};

static struct held held[BLOCKS];

static void fill(struct held *block)
{
	block->pattern = (unsigned char)our_random();
	memset(block->bytes, block->pattern, block->size);
}

static void look(const struct held *block, size_t size)
{
	for (size_t i = 0; i < size; i++) {
		if (block->bytes[i] != block->pattern) {
			check_fail("byte %zu of %zu is %d, not %d", i, block->size, block->bytes[i],
				   block->pattern);
			return;
		}
	}
}

/* Mostly small, sometimes as large as has pages of its own. */
static size_t random_size(void)
{
	uint64_t bits = our_random();

	return (size_t)(our_random() % ((bits & 15) == 0    ? 5000
					: (bits & 255) == 1 ? 300000
							    : 200));
}

static void take(struct held *block)
{
	size_t alignment = ALIGNMENT;
	uint64_t kind = our_random() % 8;

	block->size = random_size();
	if (kind == 0) {
		alignment = (size_t)1 << our_random() % 14;
		block->bytes = our_aligned_alloc(alignment, block->size);
	} else if (kind == 1) {
		block->bytes = our_calloc(1, block->size);
		block->pattern = 0;
		look(block, block->size);
	} else {
		block->bytes = our_malloc(block->size);
	}
	EXPECT(block->bytes != NULL);
	EXPECT_EQ((uintptr_t)block->bytes % alignment, 0);
	EXPECT_LE(block->size, our_malloc_usable_size(block->bytes));
	fill(block);
}

static void resize(struct held *block)
{
	size_t size = random_size();

	block->bytes = our_realloc(block->bytes, size);
	look(block, size < block->size ? size : block->size);
	block->size = size;
	fill(block);
}

static void drop(struct held *block)
{
	look(block, block->size);
	our_free(block->bytes);
	block->bytes = NULL;
}

TEST(malloc_torture)
{
	for (int step = 0; step < STEPS && !check_failed(); step++) {
		struct held *block = &held[our_random() % BLOCKS];

		if (block->bytes == NULL)
			take(block);
		else if (our_random() % 4 == 0)
			resize(block);
		else
			drop(block);
		if (step % 100 == 0)
			our___malloc_check();
	}
	for (int i = 0; i < BLOCKS; i++) {
		if (held[i].bytes != NULL)
			drop(&held[i]);
	}
	EXPECT_EQ(our___malloc_check(), 0);
	EXPECT_LE(our_host.pages, 64 << 10);
	EXPECT_EQ(our_host.locks, 0);
}

TEST(malloc_gives_memory_back)
{
	size_t before = our_host.pages;
	void *large = our_malloc(10 << 20);

	EXPECT_LE(before + (10 << 20), our_host.pages);
	our_free(large);
	EXPECT_EQ(our_host.pages, before);
}

TEST(malloc_joins_neighbours)
{
	char *blocks[8];
	char *whole;

	for (int i = 0; i < 8; i++)
		blocks[i] = our_malloc(1000);
	for (int i = 0; i < 8; i += 2)
		our_free(blocks[i]);
	for (int i = 1; i < 8; i += 2)
		our_free(blocks[i]);
	whole = our_malloc(8000);
	EXPECT(whole == blocks[0]);
	our_free(whole);
}

TEST(malloc_without_memory)
{
	void *block = our_malloc(100);

	our_errno = 0;
	EXPECT(our_malloc(SIZE_MAX) == NULL);
	EXPECT_EQ(our_errno, OUR_ENOMEM);
	EXPECT(our_malloc(SIZE_MAX - 64) == NULL);
	EXPECT(our_calloc(SIZE_MAX / 2, 4) == NULL);
	EXPECT(our_realloc(block, SIZE_MAX / 2) == NULL);
	our_host.pages_most = our_host.pages;
	EXPECT(our_malloc(70000) == NULL);
	EXPECT(our_malloc(700000) == NULL);
	EXPECT(our_aligned_alloc(4096, 70000) == NULL);
	EXPECT(our_realloc(block, 100000) == NULL);
	our_host.pages_most = 0;
	our_free(block);
	EXPECT_EQ(our_host.locks, 0);
}

TEST(malloc_alignment)
{
	void *block = NULL;

	EXPECT_EQ(our_posix_memalign(&block, 3, 8), OUR_EINVAL);
	EXPECT_EQ(our_posix_memalign(&block, 0, 8), OUR_EINVAL);
	EXPECT_EQ(our_posix_memalign(&block, 65536, 8), 0);
	EXPECT_EQ((uintptr_t)block % 65536, 0);
	our_free(block);
	EXPECT(our_aligned_alloc(24, 8) == NULL);
	our_free(NULL);
}

/* ---------------- Mistakes ---------------- */

static void free_twice(void)
{
	char *block = our_malloc(100);

	our_free(block);
	our_free(block);
}

static void free_twice_with_neighbours(void)
{
	char *blocks[3] = {our_malloc(100), our_malloc(100), our_malloc(100)};

	our_free(blocks[0]);
	our_free(blocks[1]);
	our_free(blocks[1]);
	our_free(blocks[2]);
}

static void free_inside(void)
{
	char *block = our_malloc(100);

	memset(block, 0, 100);
	our_free(block + 32);
}

static void free_unaligned(void)
{
	char *block = our_malloc(100);

	our_free(block + 1);
}

static void write_beyond(void)
{
	char *block = our_malloc(100);
	char *other = our_malloc(100);

	memset(block, 1, our_malloc_usable_size(block) + 4);
	our_free(other);
}

static void write_after_free(void)
{
	char *block = our_malloc(100);
	char *other = our_malloc(100);

	our_free(block);
	memset(block, 1, 16);
	block = our_malloc(100);
	our_free(other);
}

/* In a child, whose last words are read; it must end by SIGABRT. */
static void dies(void (*mistake)(void), const char *words)
{
	char said[200] = "";
	int ends[2];
	int status = 0;
	int child;

	EXPECT_EQ(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		dup2(ends[1], STDERR_FILENO);
		mistake();
		_exit(0);
	}
	close(ends[1]);
	if (read(ends[0], said, sizeof(said) - 1) < 0)
		check_fail("nothing can be read");
	close(ends[0]);
	waitpid(child, &status, 0);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
	if (strstr(said, words) == NULL)
		check_fail("said \"%s\", not \"%s\"", said, words);
}

TEST(malloc_finds_mistakes)
{
	dies(free_twice, "free already");
	dies(free_twice_with_neighbours, "free(");
	dies(free_inside, "no block");
	dies(free_unaligned, "no block of malloc begins there");
	dies(write_beyond, "overwritten");
	dies(write_after_free, "written to");
}

/* ---------------- Threads and forks ---------------- */

static volatile int stop;

static void *work(void *argument)
{
	(void)argument;
	while (!stop)
		our_free(our_malloc(64));
	return NULL;
}

/* In the child the heap is whole, whatever the other thread was about. */
TEST(malloc_over_fork)
{
	pthread_t thread;
	int bad = 0;

	our_free(our_malloc(1));
	pthread_create(&thread, NULL, work, NULL);
	for (int i = 0; i < 100; i++) {
		int status;
		int child;

		our___malloc_before_fork();
		child = fork();
		our___malloc_after_fork(child == 0);
		if (child == 0) {
			our___malloc_check();
			_exit(our_malloc(50) == NULL);
		}
		waitpid(child, &status, 0);
		bad += status != 0;
	}
	stop = 1;
	pthread_join(thread, NULL);
	EXPECT_EQ(bad, 0);
}
