/* SPDX-License-Identifier: MIT */
/*
 * A test program: tests with names, checks in them, and one line of output for each test.
 *
 *     TEST(sum_of_two)
 *     {
 *             EXPECT_EQ(1 + 1, 2);
 *     }
 *
 * The program runs its tests in the order of their lines and prints for each `ok NAME`, `skip NAME:
 * why`, or `not ok NAME: FILE:LINE: what was expected`; further failures of the same test follow as
 * lines that start with `#`.  Its last line is `done PASSED FAILED`.  Words on its command line
 * select tests by name.
 *
 * A test in the guest also fails if it leaves the kernel with other counts of pages, threads and so
 * on than it found (guest.c).  The same tests on the host rely on the sanitizers for that (host/).
 */
#ifndef CHECK_H
#define CHECK_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct check {
	const char *name;
	void (*run)(void);
	int line;
};

/* The linker gathers this section into one array, in no order to rely on: check.c sorts by line. */
#define TEST(test)                                                                               \
	static void test_##test(void);                                                           \
	static const struct check check_##test = {#test, test_##test, __LINE__};                 \
	static const struct check *const entry_##test __attribute__((section("checks"), used)) = \
		&check_##test;                                                                   \
	static void test_##test(void)

/* True or false: what the text says.  A failed EXPECT goes on, a failed REQUIRE ends the test. */
#define EXPECT(condition) check_true(__FILE__, __LINE__, #condition, (condition))
#define REQUIRE(condition)              \
	do {                            \
		if (!EXPECT(condition)) \
			return;         \
	} while (0)

/* Two integers, signed or not; both values are shown. */
#define EXPECT_EQ(a, b) EXPECT_RELATION(a, ==, b)
#define EXPECT_NE(a, b) EXPECT_RELATION(a, !=, b)
#define EXPECT_LT(a, b) EXPECT_RELATION(a, <, b)
#define EXPECT_LE(a, b) EXPECT_RELATION(a, <=, b)
#define EXPECT_RELATION(a, relation, b)                                   \
	({                                                                \
		long long check_a = (long long)(a);                       \
		long long check_b = (long long)(b);                       \
		check_values(__FILE__, __LINE__, #a " " #relation " " #b, \
			     check_a relation check_b, check_a, check_b); \
	})

#define EXPECT_STREQ(a, b) check_strings(__FILE__, __LINE__, #a " is " #b, (a), (b))

/* Ends a test that this machine cannot run. */
#define SKIP(why)                \
	do {                     \
		check_skip(why); \
		return;          \
	} while (0)

/*
 * Words on the command line that are no names of tests: `name=number` sets a parameter of the
 * program, and a number alone is a port that the kernel was asked for (`${host-port}`).  The value
 * of the last one, `otherwise` if there is none; the nth number from 0, 0 if there are not so many.
 */
uint32_t check_parameter(const char *name, uint32_t otherwise);
uint32_t check_number(uint32_t n);

/* The functions behind the macros; each returns whether the check passed. */
bool check_true(const char *file, int line, const char *text, bool passed);
bool check_values(const char *file, int line, const char *text, bool passed, long long a,
		  long long b);
bool check_strings(const char *file, int line, const char *text, const char *a, const char *b);
void check_skip(const char *why);

/* Whether the running test has failed already. */
bool check_failed(void);

/* Says that the running test failed, as `not ok` the first time and as a remark after that. */
void check_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* What check.c needs of the library below it, the guest's or the host's. */
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
size_t format_list(char *buffer, size_t room, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t limit);
size_t strlen(const char *string);
char *strchr(const char *string, int character);
unsigned long strtoul(const char *string, char **end, int base);

/*
 * A program that says this once has no balance test by test, because counts of the kernel's change
 * while it runs that are not its own: those of memory that comes and goes by itself.  That of the
 * whole run stays.
 */
#define BALANCE_AT_END const bool balance_at_end = true

/*
 * The balance (guest.c, host/host.c): noted before each test, and settled after it, with check_fail
 * for each count that changed.
 */
void balance_note(void);
void balance_settle(void);

/* Waits until the counts hold still: what a test has ended before is gone then (guest.c). */
void balance_rest(void);

#endif
