/* SPDX-License-Identifier: MIT */
/*
 * A task that makes a thousand children, one after another, and writes to what it has left to them:
 * the thousandth time that costs what it cost at first, and there are no more objects.
 *
 * What is measured is one write to a page of sixteen that the child has inherited, in instructions,
 * the fault with it.  While a child lives the page is copied; when it has ended, the page is the
 * parent's alone again and only its right comes back, which is cheaper.
 *
 * machine: cpus=1
 */
#include "check.h"
#include "ipc.h"

#define SELF   mach_task_self()
#define TURNS  1000u
#define PAGES  16u
#define SAMPLE 16u /* Turns at either end whose cheapest write counts: a tick may cost one more. */
#define FIRST  4u  /* The turn when all that is made but once has been made. */

static vm_address_t memory;

static uint32_t *word(uint32_t page)
{
	return (uint32_t *)(memory + page * PAGE_SIZE);
}

/* How many objects the kernel has; the second look is not the first to write anywhere. */
static uint32_t objects(void)
{
	static struct machine_count counts[MACHINE_COUNTS];
	uint32_t n, value = 0;

	for (unsigned look = 0; look < 2; look++) {
		EXPECT_EQ(assay_counts(counts, MACHINE_COUNTS, &n), KERN_SUCCESS);
		for (uint32_t i = 0; i < n && i < MACHINE_COUNTS; i++)
			if (strcmp(counts[i].name, "objects") == 0)
				value = counts[i].after;
	}
	EXPECT(value > 0);
	return value;
}

static uint32_t cost_of_write(uint32_t page, uint32_t value)
{
	uint64_t start = cycles();

	*(volatile uint32_t *)word(page) = value;
	return (uint32_t)(cycles() - start);
}

static uint32_t word_of(mach_port_t task, uint32_t page)
{
	mach_msg_type_number_t size;
	vm_offset_t data;
	uint32_t value;

	if (!EXPECT_EQ(vm_read(task, (vm_address_t)word(page), 4, &data, &size), KERN_SUCCESS))
		return ~0u;
	value = *(uint32_t *)data;
	EXPECT_EQ(vm_deallocate(SELF, data, size), KERN_SUCCESS);
	return value;
}

static void set_word_of(mach_port_t task, uint32_t page, uint32_t value)
{
	EXPECT_EQ(vm_write(task, (vm_address_t)word(page), (vm_offset_t)&value, 4), KERN_SUCCESS);
}

static void memory_new(void)
{
	memory = 0;
	EXPECT_EQ(vm_allocate(SELF, &memory, PAGES * PAGE_SIZE, TRUE), KERN_SUCCESS);
	/* So that no neighbour becomes one with it. */
	EXPECT_EQ(vm_protect(SELF, memory, PAGES * PAGE_SIZE, FALSE, VM_PROT_ALL), KERN_SUCCESS);
	for (uint32_t n = 0; n < PAGES; n++)
		*word(n) = n;
}

static void memory_free(void)
{
	EXPECT_EQ(vm_deallocate(SELF, memory, PAGES * PAGE_SIZE), KERN_SUCCESS);
}

/* ---------------- One generation after another ---------------- */

/* The cheapest of the first and of the last writes, and the objects at the end of such turns. */
struct course {
	uint32_t first, last;
	uint32_t first_objects, last_objects, most_objects;
};

static void note(struct course *course, uint32_t turn, uint32_t cost)
{
	uint32_t n = objects();

	if (turn >= FIRST && turn < FIRST + SAMPLE && cost < course->first)
		course->first = cost;
	if (turn >= TURNS - SAMPLE && cost < course->last)
		course->last = cost;
	if (turn == FIRST)
		course->first_objects = n;
	if (turn == TURNS - 1)
		course->last_objects = n;
	if (turn >= FIRST && n > course->most_objects)
		course->most_objects = n;
}

/* The same to within a twentieth, and none of the objects of a turn is left in a later one. */
static void expect_steady(const struct course *course)
{
	EXPECT_LE(course->last, course->first + course->first / 20);
	EXPECT_EQ(course->last_objects, course->first_objects);
	EXPECT_LE(course->most_objects, course->first_objects + 1);
}

/* What a child does before it ends: nothing, or something to page 1. */
static void do_nothing(mach_port_t child, uint32_t turn)
{
	(void)child;
	(void)turn;
}

static void write_one(mach_port_t child, uint32_t turn)
{
	set_word_of(child, 1, 7000 + turn);
	EXPECT_EQ(word_of(child, 1), 7000 + turn);
}

static void read_one(mach_port_t child, uint32_t turn)
{
	EXPECT_EQ(word_of(child, 1), turn == 0 ? 1 : turn - 1);
}

/* The parent writes to two pages while the child lives, or when it has ended. */
static void run(void (*act)(mach_port_t child, uint32_t turn), bool alive)
{
	struct course course = {.first = ~0u, .last = ~0u};
	uint32_t before;

	memory_new();
	before = objects();
	for (uint32_t turn = 0; turn < TURNS && !check_failed(); turn++) {
		mach_port_t child = child_new();
		uint32_t cost;

		act(child, turn);
		if (!alive)
			child_end(child);
		cost = cost_of_write(0, 3000 + turn);
		*word(1) = turn;
		if (alive) {
			EXPECT_EQ(word_of(child, 0), turn == 0 ? 0 : 3000 + turn - 1);
			child_end(child);
		}
		note(&course, turn, cost);
	}
	expect_steady(&course);
	/* For each of data, stack and this memory one more at most: a chain of two. */
	EXPECT_LE(course.most_objects, before + 3);
	for (uint32_t n = 2; n < PAGES; n++)
		EXPECT_EQ(*word(n), n);
	memory_free();
}

TEST(children_that_do_nothing)
{
	run(do_nothing, true);
}

TEST(children_that_write)
{
	run(write_one, true);
}

TEST(children_that_read)
{
	run(read_one, true);
}

TEST(children_that_have_ended)
{
	run(do_nothing, false);
}

TEST(children_that_have_written_and_ended)
{
	run(write_one, false);
}

TEST(children_that_have_read_and_ended)
{
	run(read_one, false);
}

/* ---------------- Several at once ---------------- */

#define LIVING 5u

/* Always so many live, and the oldest ends: each has the words of its own time. */
TEST(living_children)
{
	struct course course = {.first = ~0u, .last = ~0u};
	mach_port_t child[LIVING] = {0};

	memory_new();
	for (uint32_t turn = 0; turn < TURNS && !check_failed(); turn++) {
		mach_port_t *place = &child[turn % LIVING];
		uint32_t cost;

		if (*place != 0) {
			EXPECT_EQ(word_of(*place, 0),
				  turn == LIVING ? 0 : 3000 + turn - LIVING - 1);
			child_end(*place);
		}
		*place = child_new();
		if (turn % 3 == 0)
			set_word_of(*place, 1, turn);
		cost = cost_of_write(0, 3000 + turn);
		*word(1 + turn % (PAGES - 1)) = turn;
		note(&course, turn, cost);
	}
	EXPECT_LE(course.last, course.first + course.first / 20);
	/* Each child has one of data, of stack and of this memory at most; so has the parent. */
	EXPECT_LE(course.most_objects, course.first_objects + 3 * LIVING);
	for (uint32_t n = 0; n < LIVING; n++)
		child_end(child[n]);
	memory_free();
}

/* ---------------- Each the child of the one before ---------------- */

/* The parent ends, the child goes on, a thousand times: all that was ever written is there. */
TEST(generations)
{
	struct course course = {.first = ~0u, .last = ~0u};
	mach_port_t task;

	memory_new();
	task = child_new();
	for (uint32_t turn = 0; turn < TURNS && !check_failed(); turn++) {
		mach_port_t child = MACH_PORT_NULL;
		uint64_t start;

		EXPECT_EQ(task_create(task, TRUE, &child), KERN_SUCCESS);
		set_word_of(task, 2, 1);
		start = cycles();
		set_word_of(child, turn % 2, 3000 + turn);
		note(&course, turn, (uint32_t)(cycles() - start));
		child_end(task);
		task = child;
	}
	expect_steady(&course);
	EXPECT_EQ(word_of(task, 0), 3000 + TURNS - 2);
	EXPECT_EQ(word_of(task, 1), 3000 + TURNS - 1);
	EXPECT_EQ(word_of(task, 2), 2);
	child_end(task);
	EXPECT_EQ(*word(0), 0);
	memory_free();
}
