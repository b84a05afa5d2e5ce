/* SPDX-License-Identifier: MIT */
/* links: base/ubsan.c base/format.c base/string.c */
/*
 * The runtime of the undefined behaviour sanitizer (base/ubsan.c).  It takes the place of the
 * compiler's own in this program, so that what this file does wrong, on purpose, is reported by it.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "host/kernel.h"

/* The compiler must not see what is coming. */
static volatile int zero = 0;
static volatile int minus_one = -1;
static volatile int int_max = INT_MAX;
static volatile int int_min = INT_MIN;
static volatile int seventy = 70;
static volatile long long wide = LLONG_MAX;
static volatile int result;

/*
 * The host's programs are compiled to stop at the first mistake, and then the compiler calls other
 * functions of the same arguments.  Those that are here lead to the kernel's.
 */
#define STOP(name, parameters, arguments)              \
	void __ubsan_handle_##name parameters;         \
	void __ubsan_handle_##name##_abort parameters; \
	void __ubsan_handle_##name##_abort parameters  \
	{                                              \
		__ubsan_handle_##name arguments;       \
		abort(); /* It has returned. */        \
	}
#define STOP_1(name) STOP(name, (void *at), (at))
#define STOP_2(name) STOP(name, (void *at, void *a), (at, a))
#define STOP_3(name) STOP(name, (void *at, void *a, void *b), (at, a, b))

STOP_3(add_overflow)
STOP_3(sub_overflow)
STOP_3(mul_overflow)
STOP_3(divrem_overflow)
STOP_3(shift_out_of_bounds)
STOP_3(pointer_overflow)
STOP_2(negate_overflow)
STOP_2(out_of_bounds)
STOP_2(vla_bound_not_positive)
STOP_2(load_invalid_value)
STOP_2(type_mismatch_v1)
STOP_2(nonnull_return_v1)
STOP_1(nonnull_arg)
STOP_1(invalid_builtin)

/* The statement must be reported, with this file's name and the text. */
#define EXPECT_REPORT(statement, text)                                          \
	do {                                                                    \
		EXPECT_PANIC(statement);                                        \
		EXPECT(strstr(host_panic_text(), "host/ubsan.c:") != NULL);     \
		expect_text(host_panic_text(), ": undefined behaviour: " text); \
	} while (0)

static void expect_text(const char *report, const char *text)
{
	if (strstr(report, text) == NULL)
		EXPECT_STREQ(report, text);
}

TEST(ubsan_overflow)
{
	EXPECT_REPORT(result = int_max + 1, "2147483647 + 1 does not fit 'int'");
	EXPECT_REPORT(result = int_min - 1, "-2147483648 - 1 does not fit 'int'");
	EXPECT_REPORT(result = int_max * -2, "2147483647 * -2 does not fit 'int'");
	EXPECT_REPORT(result = -int_min, "-(-2147483648) does not fit 'int'");
	EXPECT_REPORT(wide++, "9223372036854775807 + 1 does not fit 'long long int'");
}

TEST(ubsan_division)
{
	EXPECT_REPORT(result = int_max / zero, "2147483647 / 0 does not fit 'int'");
	EXPECT_REPORT(result = int_min / minus_one, "-2147483648 / -1 does not fit 'int'");
}

TEST(ubsan_shift)
{
	EXPECT_REPORT(result = int_max << seventy, "2147483647 of type 'int' shifted by 70");
	EXPECT_REPORT(result = int_max >> minus_one, "2147483647 of type 'int' shifted by -1");
}

TEST(ubsan_bounds)
{
	static volatile int array[3];

	EXPECT_REPORT(result = array[zero - 1], "index -1 of 'int [3]'");
	EXPECT_REPORT(array[seventy] = 1, "index 70 of 'int [3]'");
}

static int length_of(int n)
{
	char array[n];

	array[0] = 1;
	return array[0];
}

TEST(ubsan_array_length)
{
	EXPECT_REPORT(result = length_of(zero - 2), "an array of -2 elements");
}

TEST(ubsan_invalid_value)
{
	static bool flag;

	memset(&flag, 5, 1);
	EXPECT_REPORT(result = *(volatile bool *)&flag, "5 is no value of '_Bool'");
}

struct pair {
	int one;
	int other;
};

TEST(ubsan_pointers)
{
	static char bytes[16] __attribute__((aligned(8)));
	struct pair *volatile null = NULL;
	int *volatile odd = (int *)(bytes + 1);
	char *volatile end = (char *)UINTPTR_MAX;

	EXPECT_REPORT(result = null->other, "member of null pointer of type 'struct pair'");
	EXPECT_REPORT(result = *odd, "load of 0x");
	EXPECT(strstr(host_panic_text(), ", which is misaligned for 'int'") != NULL);
	EXPECT_REPORT(*odd = 1, "store to 0x");
	EXPECT_REPORT(result = end + seventy != NULL, "pointer 0x");
}

TEST(ubsan_unreachable)
{
	EXPECT_REPORT(if (zero == 0) __builtin_unreachable(), "reached what cannot be reached");
}

static __attribute__((nonnull, noinline)) int takes_pointer(const char *text)
{
	return *(const volatile char *)text;
}

static __attribute__((returns_nonnull, noinline)) char *gives_pointer(char *volatile text)
{
	return text;
}

TEST(ubsan_nonnull)
{
	char *volatile null = NULL;

	EXPECT_REPORT(result = takes_pointer(null), "argument 1 is null");
	EXPECT_REPORT(result = gives_pointer(null) != NULL, "null returned");
}

TEST(ubsan_builtins)
{
	EXPECT_REPORT(result = __builtin_ctz((unsigned)zero), "ctz of zero");
	EXPECT_REPORT(result = __builtin_clz((unsigned)zero), "clz of zero");
}
