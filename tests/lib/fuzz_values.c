/* SPDX-License-Identifier: MIT */
/* Random values for the fuzzer, and the search for kernel addresses: see fuzz.h. */
#include "fuzz.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Where the kernel is, with everything that it allocates while it has no more than 48 MiB
 * (pool=48), and where its stacks and buffers are mapped.  No more than that, for words of our own
 * do come back shifted by a byte, and then they may look like anything.  For the same reason only
 * code is looked for at odd addresses.
 */
static const struct {
	uint32_t first, last, step;
} kernel[] = {
	{0xc0100000, 0xc01fffff, 1},
	{0xc0200000, 0xc47fffff, 4},
	{0xf0000000, 0xf1ffffff, 4},
	{0xfd000000, 0xfd3fffff, 4},
};

/*
 * What the fuzzer says when it means an address of the kernel.  The second is in the kernel's map
 * of memory, but of memory that no machine of these tests has.
 */
#define EDGE_OF_KERNEL 0xc0000000u
#define OURS           0xe7777000u

static const uint32_t limits[] = {
	0,          1,          0xfff,      0x1000,         0x7fffffff,
	0x80000000, 0xbffff000, 0xbfffffff, EDGE_OF_KERNEL, OURS,
	0xfffff000, 0xfffffffe, 0xffffffff,
};

mach_port_t fuzz_known[FUZZ_N_KNOWN];

bool fuzz_suspects(uint32_t word)
{
	for (uint32_t i = 0; i < COUNT_OF(kernel); i++) {
		if (word >= kernel[i].first && word <= kernel[i].last && word % kernel[i].step == 0)
			return true;
	}
	return false;
}

/*
 * Lehmer's generator.  Its state and its results, which lie in memory that the kernel is asked to
 * copy, are below 2^31 and so never look like addresses of the kernel.
 */
static uint32_t next(struct fuzz *fuzz)
{
	uint32_t high = fuzz->random / 44488, low = fuzz->random % 44488;
	int32_t x = (int32_t)(48271 * low) - (int32_t)(3399 * high);

	fuzz->random = (uint32_t)(x > 0 ? x : x + 0x7fffffff);
	return fuzz->random;
}

uint32_t fuzz_random(struct fuzz *fuzz)
{
	return (next(fuzz) << 16 ^ next(fuzz) >> 8) & 0x7fffffff;
}

uint32_t fuzz_below(struct fuzz *fuzz, uint32_t n)
{
	return (uint32_t)((uint64_t)fuzz_random(fuzz) * n >> 31);
}

bool fuzz_one_in(struct fuzz *fuzz, uint32_t n)
{
	return fuzz_below(fuzz, n) == 0;
}

/* Any number, but none that could be an address in the kernel. */
static uint32_t any_word(struct fuzz *fuzz)
{
	uint32_t word = fuzz_random(fuzz) << 1 | fuzz_below(fuzz, 2);

	return fuzz_suspects(word) ? OURS | (word & 0xff) : word;
}

static uint32_t limit(struct fuzz *fuzz)
{
	return limits[fuzz_below(fuzz, COUNT_OF(limits))];
}

/* What the task was given, what it has made itself (low numbers), and rarely anything. */
uint32_t fuzz_name(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 16)) {
	case 0:
		return limit(fuzz);
	case 1:
		return fuzz->reply_port;
	case 2:
		return fuzz_one_in(fuzz, 8) ? any_word(fuzz) : 1 + fuzz_below(fuzz, 2000);
	case 3:
		return fuzz_known[fuzz_below(fuzz, FUZZ_N_KNOWN)];
	case 4:
	case 5:
		return 1 + fuzz_below(fuzz, 48);
	default:
		return FUZZ_TASK + fuzz_below(fuzz, FUZZ_NAMES_END - FUZZ_TASK);
	}
}

/* The task has send rights of both. */
uint32_t fuzz_memory(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 8)) {
	case 0:
		return MACH_PORT_NULL;
	case 1:
		return fuzz_name(fuzz);
	case 2:
	case 3:
		return fuzz_known[FUZZ_KNOWN_MEMORY];
	case 4:
		return FUZZ_SEND;
	default:
		return FUZZ_RECEIVE;
	}
}

uint32_t fuzz_address(struct fuzz *fuzz)
{
	uint32_t scratch = (uint32_t)fuzz->scratch;
	uint32_t page = fuzz_below(fuzz, 5) * PAGE_SIZE;

	switch (fuzz_below(fuzz, 16)) {
	case 0:
		return limit(fuzz);
	case 1:
		return fuzz_one_in(fuzz, 16) ? any_word(fuzz) : page;
	case 2:
	case 3:
	case 4:
		return 0x20000000 + fuzz_below(fuzz, 32) * PAGE_SIZE;
	case 5:
		return scratch + page - fuzz_below(fuzz, 4) * 4;
	case 6:
		return (uint32_t)fuzz->buffer + fuzz_below(fuzz, 4) * 4;
	default:
		return scratch + page / 5 * 4 + fuzz_below(fuzz, PAGE_SIZE / 4) * 4;
	}
}

/* Mostly of a few pages: a large piece of memory costs the kernel much and teaches little. */
uint32_t fuzz_size(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 16)) {
	case 0:
		return limit(fuzz);
	case 1:
		return fuzz_one_in(fuzz, 32) ? any_word(fuzz) : fuzz_below(fuzz, 64 * PAGE_SIZE);
	case 2:
	case 3:
	case 4:
		return fuzz_below(fuzz, 3 * PAGE_SIZE);
	case 5:
		return 0;
	default:
		return (1 + fuzz_below(fuzz, 3)) * PAGE_SIZE;
	}
}

uint32_t fuzz_large_size(struct fuzz *fuzz)
{
	if (fuzz_one_in(fuzz, 2))
		return fuzz_size(fuzz);
	return (8 + fuzz_below(fuzz, 20)) * PAGE_SIZE - fuzz_below(fuzz, 2) * 100;
}

uint32_t fuzz_offset(struct fuzz *fuzz)
{
	if (fuzz_one_in(fuzz, 16))
		return fuzz_one_in(fuzz, 2) ? limit(fuzz) : fuzz_below(fuzz, PAGE_SIZE);
	return fuzz_below(fuzz, 8) * PAGE_SIZE;
}

uint32_t fuzz_disposition(struct fuzz *fuzz)
{
	if (fuzz_one_in(fuzz, 12))
		return fuzz_below(fuzz, 256);
	return MACH_MSG_TYPE_MOVE_RECEIVE +
	       fuzz_below(fuzz, MACH_MSG_TYPE_MAKE_SEND_ONCE - MACH_MSG_TYPE_MOVE_RECEIVE + 1);
}

uint32_t fuzz_word(struct fuzz *fuzz)
{
	switch (fuzz_below(fuzz, 8)) {
	case 0:
		return any_word(fuzz);
	case 1:
		return limit(fuzz);
	case 2:
		return fuzz_name(fuzz);
	case 3:
		return fuzz_address(fuzz);
	case 4:
		return fuzz_size(fuzz);
	default:
		return fuzz_below(fuzz, 24);
	}
}

void fuzz_clean(uint32_t *words, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		if (fuzz_suspects(words[i]))
			words[i] = OURS | (words[i] & 0xff);
	}
}

/* The program's own code and constants, which its calls may read too. */
static bool is_in_image(uint32_t word)
{
	extern const char __executable_start[], edata[];

	for (const char *p = __executable_start; p + sizeof word <= edata; p++) {
		if (memcmp(p, &word, sizeof word) == 0)
			return true;
	}
	return false;
}

void fuzz_search(struct fuzz *fuzz, const void *memory, uint32_t size)
{
	const uint32_t *words = memory;

	for (uint32_t i = 0; i < size / sizeof *words; i++) {
		if (!fuzz_suspects(words[i]) || fuzz->found != 0 || is_in_image(words[i]))
			continue;
		fuzz->found = words[i];
		fuzz->where = i;
	}
}
