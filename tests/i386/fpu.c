/* SPDX-License-Identifier: MIT */
/*
 * FPU and SSE state belongs to a thread: it survives traps, interrupts, switches and moves between
 * CPUs, and a new thread's is clean whatever ran before.
 *
 * machine: cpus=1
 * machine: cpus=2
 * machine: cpus=2 seed=2
 */
#include "check.h"
#include <assay.h>

#define THREADS 4
#define TURNS   40

#define CONTROL_CLEAN 0x037f /* After fninit: all exceptions masked, extended precision. */
#define MXCSR_CLEAN   0x1f80

/* What fxsave stores. */
struct image {
	uint16_t control, status;
	uint8_t tags, reserved;
	uint16_t opcode;
	uint32_t instruction, instruction_segment, data, data_segment, mxcsr, mxcsr_mask;
	uint8_t st[8][16];
	uint8_t xmm[8][16];
	uint8_t rest[224];
} __attribute__((aligned(16)));

_Static_assert(sizeof(struct image) == 512, "fixed by the CPU");

static void save(struct image *image)
{
	memset(image, 0, sizeof *image);
	__asm__ volatile("fxsave %0" : "=m"(*image));
}

static void load(const struct image *image)
{
	__asm__ volatile("fxrstor %0" ::"m"(*image));
}

/* A state in which everything that a thread can see is its own. */
static void make_own(struct image *image, uint32_t number)
{
	save(image);
	image->control = (uint16_t)(0x007f | (number % 4) << 10); /* Its own rounding. */
	image->mxcsr = MXCSR_CLEAN | (number % 4) << 13;
	image->tags = 0xff;
	for (unsigned reg = 0; reg < 8; reg++) {
		memset(image->st[reg], (int)(number * 16 + reg), 10);
		memset(image->xmm[reg], (int)(number * 16 + 8 + reg), 16);
	}
}

/* What can be compared: the last instruction's place is kept by some CPUs only. */
static bool is_same(const struct image *one, const struct image *other)
{
	return one->control == other->control && one->mxcsr == other->mxcsr &&
	       one->tags == other->tags && memcmp(one->st, other->st, sizeof one->st) == 0 &&
	       memcmp(one->xmm, other->xmm, sizeof one->xmm) == 0;
}

static bool is_clean(const struct image *image)
{
	static const uint8_t zeros[16];
	bool clean = image->control == CONTROL_CLEAN && image->status == 0 && image->tags == 0 &&
		     image->mxcsr == MXCSR_CLEAN;

	for (unsigned reg = 0; reg < 8; reg++)
		clean = clean && memcmp(image->xmm[reg], zeros, sizeof zeros) == 0;
	return clean;
}

/* ---------------- Alone ---------------- */

/* Before anything else touches it. */
TEST(first_state_is_clean)
{
	static struct image image;

	save(&image);
	EXPECT(is_clean(&image));
}

TEST(traps_and_interrupts_keep_it)
{
	static struct image own, now;

	make_own(&own, 1);
	load(&own);
	null_trap();
	save(&now);
	EXPECT(is_same(&own, &now));
	thread_switch(0, SWITCH_OPTION_WAIT, 20);
	save(&now);
	EXPECT(is_same(&own, &now));
	for (volatile uint32_t turn = 0; turn < 5000000; turn++)
		continue;
	save(&now);
	EXPECT(is_same(&own, &now));
}

/* ---------------- Among others ---------------- */

static uint8_t stacks[THREADS][2 * PAGE_SIZE] __attribute__((aligned(16)));
static volatile uint32_t wrong, unclean, ended;

static void give_way(uint32_t turn)
{
	if (turn % 3 == 0)
		swtch();
	else if (turn % 3 == 1)
		thread_switch(0, SWITCH_OPTION_WAIT, 1);
	else
		for (volatile uint32_t spin = 0; spin < 200000; spin++)
			continue;
}

/* Moves from CPU to CPU, if there are several, and looks each time whether all is still its own. */
static void keep_own(void *argument)
{
	uint32_t number = (uint32_t)argument;
	struct assay_cpu_info info;
	struct image own, now;

	save(&now);
	if (!is_clean(&now))
		__atomic_fetch_add(&unclean, 1, __ATOMIC_SEQ_CST);
	assay_cpu_info(&info);
	make_own(&own, number);
	load(&own);
	for (uint32_t turn = 0; turn < TURNS; turn++) {
		if (turn % 5 == 0)
			assay_thread_bind((int)((turn / 5 + number) % info.cpus));
		give_way(turn + number);
		save(&now);
		if (!is_same(&own, &now))
			__atomic_fetch_add(&wrong, 1, __ATOMIC_SEQ_CST);
	}
	__atomic_fetch_add(&ended, 1, __ATOMIC_SEQ_CST);
}

static void run_threads(void)
{
	uint32_t ids[THREADS];

	ended = 0;
	for (uint32_t i = 0; i < THREADS; i++)
		REQUIRE(thread_start(keep_own, (void *)(i + 1), stacks[i], sizeof stacks[i],
				     PRIORITY_USUAL, &ids[i]) == KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++)
		EXPECT_EQ(assay_thread_join(ids[i], TIMEOUT_NONE), KERN_SUCCESS);
	EXPECT_EQ(ended, THREADS);
}

/* Twice: the second time threads, and their stacks in the kernel, have been used before. */
TEST(each_thread_has_its_own)
{
	static struct image own, now;

	make_own(&own, 9);
	load(&own);
	run_threads();
	run_threads();
	save(&now);
	EXPECT(is_same(&own, &now));
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(unclean, 0);
}
