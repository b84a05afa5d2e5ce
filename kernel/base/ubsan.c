/* SPDX-License-Identifier: MIT */
/*
 * What a kernel built with -fsanitize=undefined calls where it has just done something undefined.
 *
 * GCC and clang agree on the names and arguments of these functions and on the layouts below; the
 * compiler places one constant description beside each check.  Every report is a panic that says
 * where and with what values.  Linked with SAN=1 only, and itself compiled without the sanitizer.
 */
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/format.h"

struct location {
	const char *file;
	uint32_t line;
	uint32_t column;
};

enum type_kind {
	TYPE_INTEGER = 0
};

struct type {
	uint16_t kind;
	uint16_t info; /* TYPE_INTEGER: bit 0 signed, above it the logarithm of the bits. */
	char name[];   /* In quotes. */
};

/*
 * The descriptions.  Each begins with its location, so that ubsan_report() takes any of them.
 *
 * Overflow, shift, bounds, and whatever else is about values of a type.
 */
struct operation {
	struct location location;
	const struct type *one;
	const struct type *other; /* Absent in overflows. */
};

/* An access through a pointer that is null, misaligned, or has too little room behind it. */
struct mismatch {
	struct location location;
	const struct type *type;
	uint8_t log_alignment;
	uint8_t access; /* A number for ubsan_access_name(). */
};

/* A null pointer for a parameter that is declared not to be one. */
struct nonnull_argument {
	struct location location;
	struct location attribute;
	int argument;
};

/* Counting the zeros of zero. */
struct builtin {
	struct location location;
	uint8_t kind; /* 0: ctz, 1: clz */
};

/*
 * The compilers declare these themselves, with pointers for everything: to a description first,
 * then values.  A value of up to the size of a pointer is in the pointer, a wider one where it
 * points.  GCC adds some of the calls after it has decided what is needed: HANDLER keeps what they
 * call.
 */
#define HANDLER __attribute__((used)) void

HANDLER __ubsan_handle_add_overflow(void *at, void *a, void *b);
HANDLER __ubsan_handle_sub_overflow(void *at, void *a, void *b);
HANDLER __ubsan_handle_mul_overflow(void *at, void *a, void *b);
HANDLER __ubsan_handle_divrem_overflow(void *at, void *a, void *b);
HANDLER __ubsan_handle_shift_out_of_bounds(void *at, void *a, void *b);
HANDLER __ubsan_handle_negate_overflow(void *at, void *a);
HANDLER __ubsan_handle_out_of_bounds(void *at, void *index);
HANDLER __ubsan_handle_vla_bound_not_positive(void *at, void *bound);
HANDLER __ubsan_handle_load_invalid_value(void *at, void *value);
HANDLER __ubsan_handle_type_mismatch_v1(void *at, void *pointer);
HANDLER __ubsan_handle_pointer_overflow(void *at, void *base, void *result);
HANDLER __ubsan_handle_builtin_unreachable(void *at);
HANDLER __ubsan_handle_missing_return(void *at);
HANDLER __ubsan_handle_nonnull_arg(void *at);
HANDLER __ubsan_handle_nonnull_return_v1(void *attribute, void *at);
HANDLER __ubsan_handle_invalid_builtin(void *at);
HANDLER __ubsan_handle_alignment_assumption(void *at, void *pointer, void *alignment, void *offset);

/* On the stack of whoever did it, which is twice as large in a kernel with these checks. */
#define REPORT_SIZE 160
#define VALUE_SIZE  24 /* A sign, 20 digits, a zero. */

/* While a report is written: one that comes then would lead to the next, and so on. */
static bool reporting;

/*
 * The text is made first and handed to panic() as one: panic() is what prints, stops the other CPUs
 * and shows the backtrace.
 */
static noreturn void ubsan_report(const struct location *at, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

static noreturn void ubsan_report(const struct location *at, const char *format, ...)
{
	char text[REPORT_SIZE];
	va_list args;

	if (reporting)
		panic("%s:%u: undefined behaviour during a report", at->file, at->line);
	reporting = true;
	va_start(args, format);
	format_string_va(text, sizeof(text), format, args);
	va_end(args);
	reporting = false;
	panic("%s:%u:%u: undefined behaviour: %s", at->file, at->line, at->column, text);
}

/* The number's bits, whether they are in the pointer or behind it. */
static uint64_t ubsan_value_bits(unsigned bits, const void *value)
{
	if (bits <= 8 * sizeof(value))
		return (uintptr_t)value;
	assert(bits == 64);
	return *(const uint64_t *)value;
}

/* Writes a value of the type as a number, or a question mark, and returns `text`. */
static const char *ubsan_value_text(char *text, const struct type *type, const void *value)
{
	unsigned log_bits = type->info >> 1;
	unsigned unused; /* Bits above the value's, which come along in the pointer. */
	uint64_t number;

	if (type->kind != TYPE_INTEGER || log_bits > 6) {
		format_string(text, VALUE_SIZE, "?");
		return text;
	}
	unused = 64 - (1u << log_bits);
	number = ubsan_value_bits(64 - unused, value) << unused;
	if (type->info & 1)
		format_string(text, VALUE_SIZE, "%lld", (long long)number >> unused);
	else
		format_string(text, VALUE_SIZE, "%llu", (unsigned long long)number >> unused);
	return text;
}

/* Both operands have the type of the result. */
static noreturn void ubsan_report_overflow(const void *at, const void *a, const char *sign,
					   const void *b)
{
	const struct operation *operation = at;
	const struct type *type = operation->one;
	char one[VALUE_SIZE], other[VALUE_SIZE];

	ubsan_report(at, "%s %s %s does not fit %s", ubsan_value_text(one, type, a), sign,
		     ubsan_value_text(other, type, b), type->name);
}

void __ubsan_handle_add_overflow(void *at, void *a, void *b)
{
	ubsan_report_overflow(at, a, "+", b);
}

void __ubsan_handle_sub_overflow(void *at, void *a, void *b)
{
	ubsan_report_overflow(at, a, "-", b);
}

void __ubsan_handle_mul_overflow(void *at, void *a, void *b)
{
	ubsan_report_overflow(at, a, "*", b);
}

/* A division by zero comes here too. */
void __ubsan_handle_divrem_overflow(void *at, void *a, void *b)
{
	ubsan_report_overflow(at, a, "/", b);
}

void __ubsan_handle_negate_overflow(void *at, void *a)
{
	const struct operation *operation = at;
	char one[VALUE_SIZE];

	ubsan_report(at, "-(%s) does not fit %s", ubsan_value_text(one, operation->one, a),
		     operation->one->name);
}

/* A distance that is negative or too large, or a bit shifted out of a signed number. */
void __ubsan_handle_shift_out_of_bounds(void *at, void *a, void *b)
{
	const struct operation *operation = at;
	char one[VALUE_SIZE], other[VALUE_SIZE];

	ubsan_report(at, "%s of type %s shifted by %s", ubsan_value_text(one, operation->one, a),
		     operation->one->name, ubsan_value_text(other, operation->other, b));
}

/* The first type is the array's, the second the index's. */
void __ubsan_handle_out_of_bounds(void *at, void *index)
{
	const struct operation *operation = at;
	char one[VALUE_SIZE];

	ubsan_report(at, "index %s of %s", ubsan_value_text(one, operation->other, index),
		     operation->one->name);
}

void __ubsan_handle_vla_bound_not_positive(void *at, void *bound)
{
	const struct operation *operation = at;
	char one[VALUE_SIZE];

	ubsan_report(at, "an array of %s elements", ubsan_value_text(one, operation->one, bound));
}

/* A bool that is neither 0 nor 1: memory that was never written, or written as something else. */
void __ubsan_handle_load_invalid_value(void *at, void *value)
{
	const struct operation *operation = at;
	char one[VALUE_SIZE];

	ubsan_report(at, "%s is no value of %s", ubsan_value_text(one, operation->one, value),
		     operation->one->name);
}

static const char *ubsan_access_name(const struct mismatch *mismatch)
{
	/* In the compilers' order; C has no more than these. */
	static const char *const names[] = {"load of", "store to", "reference to", "member of"};

	if (mismatch->access < sizeof(names) / sizeof(names[0]))
		return names[mismatch->access];
	return "access to";
}

/* One call for three mistakes; which it was is found out in the order of their likelihood. */
void __ubsan_handle_type_mismatch_v1(void *at, void *pointer)
{
	const struct mismatch *mismatch = at;
	const char *access = ubsan_access_name(mismatch);
	const char *type = mismatch->type->name;
	uintptr_t alignment = (uintptr_t)1 << mismatch->log_alignment;

	if (pointer == NULL)
		ubsan_report(at, "%s null pointer of type %s", access, type);
	if (((uintptr_t)pointer & (alignment - 1)) != 0)
		ubsan_report(at, "%s %p, which is misaligned for %s", access, pointer, type);
	ubsan_report(at, "%s %p, where there is no room for %s", access, pointer, type);
}

/* Arithmetic that wraps around the address space, or that starts or ends at null. */
void __ubsan_handle_pointer_overflow(void *at, void *base, void *result)
{
	ubsan_report(at, "pointer %p moved to %p", base, result);
}

void __ubsan_handle_builtin_unreachable(void *at)
{
	ubsan_report(at, "reached what cannot be reached");
}

void __ubsan_handle_missing_return(void *at)
{
	ubsan_report(at, "the end of a function without its value");
}

void __ubsan_handle_nonnull_arg(void *at)
{
	const struct nonnull_argument *nonnull = at;

	ubsan_report(at, "argument %d is null", nonnull->argument);
}

/* The only one whose place is not in the description: that is where the function was declared. */
void __ubsan_handle_nonnull_return_v1(void *attribute, void *at)
{
	(void)attribute;
	ubsan_report(at, "null returned by a function that never does");
}

void __ubsan_handle_invalid_builtin(void *at)
{
	const struct builtin *builtin = at;

	ubsan_report(at, "%s of zero", builtin->kind == 0 ? "ctz" : "clz");
}

/* Only clang checks what __builtin_assume_aligned() was promised. */
void __ubsan_handle_alignment_assumption(void *at, void *pointer, void *alignment, void *offset)
{
	ubsan_report(at, "%p is not aligned to %zu with offset %zu", pointer, (size_t)alignment,
		     (size_t)offset);
}
