/* SPDX-License-Identifier: MIT */
/*
 * Pointers that traps take: whatever they point to, the answer is an error code, and nothing is
 * written but what was asked for.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=5
 */
#include "check.h"
#include <assay.h>

#define USER_END    0xc0000000u
#define KERNEL_TEXT 0xc0100000u
#define GUARD       0xa5

/* A page that can be written, one that cannot, and one that is not there. */
static uint8_t *const pages = (uint8_t *)0x08180000;
#define READ_ONLY (pages + PAGE_SIZE)
#define HOLE      (pages + 2 * PAGE_SIZE)

/* The largest of these must fit twice below the end of a page. */
#define SIZE_MOST sizeof(struct machine_count)

/* ---------------- Traps that write through a pointer ---------------- */

struct writer {
	const char *name;
	kern_return_t (*trap)(void *to);
	uint32_t size;
};

/* A thread that ends with its first instructions, for which it needs no stack. */
static kern_return_t thread_id(void *to)
{
	kern_return_t result = assay_thread_create(assay_thread_exit, NULL, PRIORITY_USUAL, to);
	uint32_t id;

	if (result == KERN_SUCCESS) {
		memcpy(&id, to, sizeof id);
		assay_thread_join(id, TIMEOUT_NONE);
	}
	return result;
}

static kern_return_t clock_value(void *to)
{
	return assay_clock_read(ASSAY_CLOCK_TSC_HZ, to);
}

static kern_return_t one_count(void *to)
{
	uint32_t n;

	return assay_counts(to, 1, &n);
}

static kern_return_t number_of_counts(void *to)
{
	struct machine_count count;

	return assay_counts(&count, 1, to);
}

static kern_return_t cpu_info(void *to)
{
	return assay_cpu_info(to);
}

static const struct writer writers[] = {
	{"thread_create", thread_id, sizeof(uint32_t)},
	{"clock_read", clock_value, sizeof(uint64_t)},
	{"counts", one_count, sizeof(struct machine_count)},
	{"counts n", number_of_counts, sizeof(uint32_t)},
	{"cpu_info", cpu_info, sizeof(struct assay_cpu_info)},
};

#define N_WRITERS (sizeof writers / sizeof writers[0])

static void prepare_pages(void)
{
	REQUIRE(assay_memory_map(pages, 2 * PAGE_SIZE, ASSAY_READ | ASSAY_WRITE) == KERN_SUCCESS);
	memset(pages, GUARD, 2 * PAGE_SIZE);
	assay_memory_protect(READ_ONLY, PAGE_SIZE, ASSAY_READ);
}

static void restore_pages(void)
{
	assay_memory_unmap(pages, 2 * PAGE_SIZE);
}

static void expect_refused(const struct writer *writer, uint32_t address)
{
	kern_return_t result = writer->trap((void *)address);

	if (result != KERN_INVALID_ADDRESS)
		check_fail("%s to 0x%x answers %d", writer->name, address, result);
}

static void refuse_everywhere(const struct writer *writer)
{
	const uint32_t places[] = {
		0,
		1,
		0xffc,
		0x1000,
		0x40000000,
		USER_END - writer->size + 1,
		USER_END - 1,
		USER_END,
		KERNEL_TEXT,
		0xf0001000,
		0xffffe000,
		0xfffffffc,
		0xffffffff,
		(uint32_t)HOLE,
		(uint32_t)HOLE + PAGE_SIZE - 1,
		(uint32_t)READ_ONLY,
		(uint32_t)READ_ONLY - writer->size + 1,
		(uint32_t)HOLE - writer->size + 1,
		(uint32_t)writers,
		(uint32_t)writer->trap,
	};

	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
		expect_refused(writer, places[i]);
}

static bool is_guard(const uint8_t *bytes, uint32_t size)
{
	for (uint32_t i = 0; i < size; i++)
		if (bytes[i] != GUARD)
			return false;
	return true;
}

TEST(bad_pointers_are_refused)
{
	prepare_pages();
	for (unsigned i = 0; i < N_WRITERS; i++)
		refuse_everywhere(&writers[i]);
	/* What was written of a result that did not fit lies below the read-only page. */
	EXPECT(is_guard(pages, PAGE_SIZE - SIZE_MOST));
	EXPECT(is_guard(READ_ONLY, PAGE_SIZE));
	restore_pages();
}

/* At every alignment, and with its last byte the last one that may be written. */
TEST(good_pointers_get_what_fits)
{
	prepare_pages();
	for (unsigned i = 0; i < N_WRITERS; i++) {
		const uint32_t size = writers[i].size;

		for (uint32_t offset = 0; offset < 8; offset++) {
			uint8_t *place = READ_ONLY - size - offset;

			memset(pages, GUARD, PAGE_SIZE);
			if (writers[i].trap(place) != KERN_SUCCESS)
				check_fail("%s fails at offset -%u", writers[i].name, offset);
			EXPECT(is_guard(pages, (uint32_t)(place - pages)));
			EXPECT(!is_guard(place, size));
			EXPECT(is_guard(place + size, offset));
		}
	}
	restore_pages();
}

TEST(last_bytes_of_user_memory)
{
	uint8_t old[SIZE_MOST];

	memcpy(old, (void *)(USER_END - SIZE_MOST), SIZE_MOST);
	for (unsigned i = 0; i < N_WRITERS; i++)
		EXPECT_EQ(writers[i].trap((void *)(USER_END - writers[i].size)), KERN_SUCCESS);
	memcpy((void *)(USER_END - SIZE_MOST), old, SIZE_MOST);
}

TEST(counts_keep_to_their_room)
{
	struct machine_count counts[3];
	uint32_t n = 0;

	memset(counts, GUARD, sizeof counts);
	EXPECT_EQ(assay_counts(counts, 0, &n), KERN_SUCCESS);
	EXPECT(is_guard((uint8_t *)counts, sizeof counts));
	EXPECT_LT(3, n);
	EXPECT_EQ(assay_counts(counts, 2, &n), KERN_SUCCESS);
	EXPECT(is_guard((uint8_t *)&counts[2], sizeof counts[2]));
	EXPECT(!is_guard((uint8_t *)&counts[1], sizeof counts[1]));
}

/* More room than there are counts, and so much that its size in bytes is no number of 32 bits. */
TEST(counts_with_too_much_room)
{
	static struct machine_count counts[MACHINE_COUNTS];
	uint32_t n = 0;

	EXPECT_EQ(assay_counts(counts, 0xffffffff, &n), KERN_SUCCESS);
	EXPECT_LE(n, MACHINE_COUNTS);
	EXPECT_EQ(assay_counts(counts, 0x08000001, &n), KERN_SUCCESS);
	EXPECT_EQ(assay_counts((void *)KERNEL_TEXT, 0x08000000, &n), KERN_INVALID_ADDRESS);
}

/* ---------------- mach_print reads ---------------- */

/* The line of `size` bytes that ends at `end`, without a zero in it. */
static kern_return_t print_up_to(uint8_t *end, uint32_t size)
{
	memset(end - size, '+', size);
	return mach_print((const char *)(end - size));
}

TEST(strings_that_do_not_end)
{
	uint8_t old[64];

	prepare_pages();
	assay_memory_protect(READ_ONLY, PAGE_SIZE, ASSAY_READ | ASSAY_WRITE);
	EXPECT_EQ(print_up_to(HOLE, 1), KERN_INVALID_ADDRESS);
	EXPECT_EQ(print_up_to(HOLE, 64), KERN_INVALID_ADDRESS);
	memcpy(old, (void *)(USER_END - sizeof old), sizeof old);
	EXPECT_EQ(print_up_to((uint8_t *)USER_END, 1), KERN_INVALID_ADDRESS);
	EXPECT_EQ(print_up_to((uint8_t *)USER_END, sizeof old), KERN_INVALID_ADDRESS);
	memcpy((void *)(USER_END - sizeof old), old, sizeof old);
	restore_pages();
}

/* The zero is the last byte there is. */
TEST(strings_that_just_end)
{
	prepare_pages();
	assay_memory_protect(READ_ONLY, PAGE_SIZE, ASSAY_READ | ASSAY_WRITE);
	HOLE[-1] = '\0';
	EXPECT_EQ(mach_print((const char *)HOLE - 1), KERN_SUCCESS);
	restore_pages();
}
