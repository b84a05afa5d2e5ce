/* SPDX-License-Identifier: MIT */
/* libc: yes */
/* Sorting, the environment, functions at the end, names of temporary files. */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "libc/our.h"

#define MOST 3000

static unsigned long compared;

static int compare_numbers(const void *one, const void *other)
{
	int left = *(const int *)one;
	int right = *(const int *)other;

	compared++;
	return (left > right) - (left < right);
}

/* Rows that are hard for one sort or another. */
static int element(int kind, int i, int count)
{
	switch (kind) {
	case 0:
		return (int)our_random();
	case 1:
		return i;
	case 2:
		return count - i;
	case 3:
		return 7;
	case 4:
		return (int)(our_random() % 4);
	case 5:
		return i < count / 2 ? i : count - i; /* Up and down. */
	default:
		return i % 2 ? i : count - i;
	}
}

TEST(sort_numbers)
{
	static int ours[MOST];
	static int theirs[MOST];

	for (int count = 0; count < MOST; count += count / 8 + 1) {
		for (int kind = 0; kind < 7; kind++) {
			for (int i = 0; i < count; i++)
				ours[i] = theirs[i] = element(kind, i, count);
			compared = 0;
			our_qsort(ours, (size_t)count, sizeof(int), compare_numbers);
			EXPECT_LE(compared, 40ul * (unsigned)count + 100);
			qsort(theirs, (size_t)count, sizeof(int), compare_numbers);
			if (memcmp(ours, theirs, sizeof(int) * (size_t)count) != 0)
				check_fail("row %d of %d is not sorted", kind, count);
		}
	}
}

struct record {
	char bytes[13];
};

static int compare_records(const void *one, const void *other)
{
	return memcmp(one, other, sizeof(struct record));
}

TEST(sort_records)
{
	static struct record ours[500];
	static struct record theirs[500];

	for (unsigned i = 0; i < sizeof(ours); i++)
		((char *)ours)[i] = (char)our_random();
	memcpy(theirs, ours, sizeof(ours));
	our_qsort(ours, 500, sizeof(struct record), compare_records);
	qsort(theirs, 500, sizeof(struct record), compare_records);
	EXPECT(memcmp(ours, theirs, sizeof(ours)) == 0);
}

TEST(search_in_order)
{
	int numbers[100];
	int key;

	for (int i = 0; i < 100; i++)
		numbers[i] = 2 * i;
	for (key = -1; key < 201; key++) {
		for (size_t count = 0; count <= 100; count++) {
			int *found =
				our_bsearch(&key, numbers, count, sizeof(int), compare_numbers);
			bool there = key >= 0 && key % 2 == 0 && (size_t)key / 2 < count;

			EXPECT(found == (there ? &numbers[key / 2] : NULL));
		}
	}
}

TEST(environment)
{
	static char first[] = "ONE=1";
	static char second[] = "TWO=2";
	static char third[] = "PUT=3";
	static char *given[] = {first, second, NULL};
	char name[16];

	our_environ = given;
	EXPECT_STREQ(our_getenv("ONE"), "1");
	EXPECT(our_getenv("ON") == NULL);
	EXPECT_EQ(our_setenv("ONE", "new", 0), 0);
	EXPECT_STREQ(our_getenv("ONE"), "1");
	EXPECT_EQ(our_setenv("ONE", "new", 1), 0);
	EXPECT_STREQ(our_getenv("ONE"), "new");
	EXPECT_EQ(our_putenv(third), 0);
	third[4] = '4';
	EXPECT_STREQ(our_getenv("PUT"), "4");
	for (int i = 0; i < 100; i++) {
		snprintf(name, sizeof(name), "N%d", i);
		EXPECT_EQ(our_setenv(name, name, 1), 0);
	}
	EXPECT_STREQ(our_getenv("N57"), "N57");
	EXPECT_EQ(our_unsetenv("N57"), 0);
	EXPECT(our_getenv("N57") == NULL);
	EXPECT_STREQ(our_getenv("N99"), "N99");
	EXPECT_EQ(our_setenv("a=b", "c", 1), -1);
	EXPECT_EQ(our_setenv("", "c", 1), -1);
	EXPECT_EQ(our_errno, OUR_EINVAL);
	EXPECT_EQ(our_clearenv(), 0);
	EXPECT(our_getenv("TWO") == NULL);
	EXPECT_EQ(our_setenv("TWO", "2", 1), 0);
	EXPECT_STREQ(our_getenv("TWO"), "2");
}

static int called[100];
static int calls;

static void last(void)
{
	called[calls++] = 1;
}

static void first(void)
{
	called[calls++] = 2;
	our_atexit(last);
}

TEST(functions_at_exit)
{
	for (int i = 0; i < 70; i++)
		EXPECT_EQ(our_atexit(last), 0);
	EXPECT_EQ(our_atexit(first), 0);
	our___run_atexit();
	EXPECT_EQ(calls, 72);
	EXPECT_EQ(called[0], 2);
	EXPECT_EQ(called[1], 1);
	our___run_atexit();
	EXPECT_EQ(calls, 72);
}

TEST(random_numbers)
{
	int first_number;
	int differ = 0;

	our_srand(5);
	first_number = our_rand();
	for (int i = 0; i < 100; i++) {
		int number = our_rand();

		EXPECT_LE(0, number);
		differ += number != first_number;
	}
	EXPECT_LE(99, differ);
	our_srand(5);
	EXPECT_EQ(our_rand(), first_number);
}

TEST(temporary_files)
{
	char one[] = "/tmp/assay-temporary-XXXXXX";
	char other[] = "/tmp/assay-temporary-XXXXXX";
	char bad[] = "/tmp/assay-temporary";
	int descriptor = our_mkstemp(one);

	EXPECT_LE(0, descriptor);
	close(descriptor);
	close(our_mkstemp(other));
	EXPECT(strcmp(one, other) != 0);
	EXPECT_EQ(access(other, W_OK), 0);
	unlink(one);
	unlink(other);
	EXPECT_EQ(our_mkstemp(bad), -1);
}
