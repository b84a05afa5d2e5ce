/* SPDX-License-Identifier: MIT */
/*
 * Integer arithmetic as C has it, on 64 bits, wrapping where C leaves it open.
 *
 * Binary operators are climbed by precedence.  A part whose value is not wanted, such as the right
 * side of 0 && x, is read with `unwanted` above zero: then nothing is assigned or divided.
 */
#include <assert.h>
#include <ctype.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "expand.h"
#include "lexer.h"
#include "sh.h"
#include "variables.h"

struct calculation {
	const char *expression;
	const char *at;
	unsigned unwanted;
	unsigned depth;
};

/* Longer ones first among those that begin alike. */
static const struct binary {
	const char *text;
	int precedence;
} binaries[] = {
	{"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6}, {"<<", 8}, {">>", 8},
	{"<=", 7}, {">=", 7}, {"|", 3},  {"^", 4},  {"&", 5},  {"<", 7},
	{">", 7},  {"+", 9},  {"-", 9},  {"*", 10}, {"/", 10}, {"%", 10},
};

static const char *const assignments[] = {
	"<<=", ">>=", "*=", "/=", "%=", "+=", "-=", "&=", "^=", "|=", "="};

/* A parenthesis is two calls deep. */
#define DEPTH_MAX (2 * NESTING_MAX)

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

static long long read_comma(struct calculation *calculation);
static long long read_assignment(struct calculation *calculation);
static long long read_unary(struct calculation *calculation);

static _Noreturn void complain_about(const struct calculation *calculation, const char *what)
{
	fail(STATUS_SYNTAX, "arithmetic: %s: \"%s\"", what, calculation->expression);
}

static void skip_blanks(struct calculation *calculation)
{
	while (isspace((unsigned char)*calculation->at))
		calculation->at++;
}

static bool take(struct calculation *calculation, const char *text)
{
	size_t length = strlen(text);

	skip_blanks(calculation);
	if (strncmp(calculation->at, text, length) != 0)
		return false;
	calculation->at += length;
	return true;
}

static const char *constant_end(const char *text, long long *value)
{
	char *end;

	errno = 0;
	*value = strtoll(text, &end, 0);
	/* A constant with the highest bit set is negative, as everything else wraps. */
	if (errno == ERANGE)
		*value = (long long)strtoull(text, &end, 0);
	return end;
}

bool read_constant(const char *text, long long *value)
{
	const char *end;

	while (isspace((unsigned char)*text))
		text++;
	end = constant_end(text, value);
	while (end > text && isspace((unsigned char)*end))
		end++;
	return *end == '\0';
}

static char *read_variable_name(struct calculation *calculation)
{
	const char *start;

	skip_blanks(calculation);
	start = calculation->at;
	if (!is_name_start((unsigned char)*start))
		return NULL;
	while (is_name_character((unsigned char)*calculation->at))
		calculation->at++;
	return region_copy(&scratch, start, (size_t)(calculation->at - start));
}

static long long variable_number(const struct calculation *calculation, const char *name)
{
	const char *value = variable_get(name);
	long long number = 0;

	if (value == NULL && option('u') && calculation->unwanted == 0)
		fail(STATUS_SYNTAX, "%s: parameter not set", name);
	if (value != NULL && *value != '\0' && !read_constant(value, &number))
		fail(STATUS_SYNTAX, "%s: not a number: \"%s\"", name, value);
	return number;
}

static void assign(const struct calculation *calculation, const char *name, long long value)
{
	if (calculation->unwanted == 0)
		variable_set_number(name, value);
}

static long long divide(const struct calculation *calculation, char operation, long long left,
			long long right)
{
	if (calculation->unwanted > 0)
		return 0;
	if (right == 0)
		complain_about(calculation, "division by zero");
	/* The one quotient that does not fit. */
	if (right == -1)
		return operation == '/' ? (long long)(0 - (uint64_t)left) : 0;
	return operation == '/' ? left / right : left % right;
}

/* Operators of one character, which are also what assignments such as += do. */
static long long combine(const struct calculation *calculation, char operation, long long left,
			 long long right)
{
	switch (operation) {
	case '|':
		return left | right;
	case '^':
		return left ^ right;
	case '&':
		return left & right;
	case '+':
		return (long long)((uint64_t)left + (uint64_t)right);
	case '-':
		return (long long)((uint64_t)left - (uint64_t)right);
	case '*':
		return (long long)((uint64_t)left * (uint64_t)right);
	default:
		return divide(calculation, operation, left, right);
	}
}

static long long shift(bool to_left, long long left, long long right)
{
	unsigned count = (unsigned)right & 63;

	return to_left ? (long long)((uint64_t)left << count) : left >> count;
}

static bool compare(const char *operation, long long left, long long right)
{
	switch (operation[0]) {
	case '=':
		return left == right;
	case '!':
		return left != right;
	case '<':
		return operation[1] == '=' ? left <= right : left < right;
	default:
		return operation[1] == '=' ? left >= right : left > right;
	}
}

static long long apply(const struct calculation *calculation, const char *operation, long long left,
		       long long right)
{
	if (strcmp(operation, "<<") == 0 || strcmp(operation, ">>") == 0)
		return shift(operation[0] == '<', left, right);
	if (strcmp(operation, "&&") == 0)
		return left && right;
	if (strcmp(operation, "||") == 0)
		return left || right;
	if (strchr("=!<>", operation[0]) != NULL)
		return compare(operation, left, right);
	return combine(calculation, operation[0], left, right);
}

static const char *take_assignment(struct calculation *calculation)
{
	skip_blanks(calculation);
	if (strncmp(calculation->at, "==", 2) == 0)
		return NULL;
	for (size_t i = 0; i < COUNT(assignments); i++)
		if (take(calculation, assignments[i]))
			return assignments[i];
	return NULL;
}

/* A name alone, with ++ or -- behind it, or with an assignment. */
static long long read_name(struct calculation *calculation, const char *name)
{
	const char *operation;
	long long value = 0;
	size_t length;

	if (take(calculation, "++") || take(calculation, "--")) {
		bool up = calculation->at[-1] == '+';

		value = variable_number(calculation, name);
		assign(calculation, name, combine(calculation, up ? '+' : '-', value, 1));
		return value;
	}
	operation = take_assignment(calculation);
	if (operation == NULL)
		return variable_number(calculation, name);
	length = strlen(operation);
	if (length > 1)
		value = variable_number(calculation, name);
	if (length == 1)
		value = read_assignment(calculation);
	else if (length == 2)
		value = combine(calculation, operation[0], value, read_assignment(calculation));
	else
		value = shift(operation[0] == '<', value, read_assignment(calculation));
	assign(calculation, name, value);
	return value;
}

static long long read_primary(struct calculation *calculation)
{
	const char *name = read_variable_name(calculation);
	const char *end;
	long long value;

	if (name != NULL)
		return read_name(calculation, name);
	if (take(calculation, "(")) {
		value = read_comma(calculation);
		if (!take(calculation, ")"))
			complain_about(calculation, "no closing )");
		return value;
	}
	if (!isdigit((unsigned char)*calculation->at))
		complain_about(calculation, "a number is missing");
	end = constant_end(calculation->at, &value);
	if (is_name_character((unsigned char)*end))
		complain_about(calculation, "a bad number");
	calculation->at = end;
	return value;
}

/* ++name and --name; false, and nothing is taken, if these are only signs. */
static bool read_increment(struct calculation *calculation, long long *value)
{
	const char *start = calculation->at;
	char sign = *start;
	const char *name;

	if ((sign != '+' && sign != '-') || start[1] != sign)
		return false;
	calculation->at += 2;
	name = read_variable_name(calculation);
	if (name == NULL) {
		calculation->at = start;
		return false;
	}
	*value = combine(calculation, sign, variable_number(calculation, name), 1);
	assign(calculation, name, *value);
	return true;
}

static long long read_signed(struct calculation *calculation)
{
	long long value;

	skip_blanks(calculation);
	if (read_increment(calculation, &value))
		return value;
	if (take(calculation, "-"))
		return (long long)(0 - (uint64_t)read_unary(calculation));
	if (take(calculation, "+"))
		return read_unary(calculation);
	if (take(calculation, "~"))
		return ~read_unary(calculation);
	if (take(calculation, "!"))
		return !read_unary(calculation);
	return read_primary(calculation);
}

/* Everything that nests comes by here. */
static long long read_unary(struct calculation *calculation)
{
	long long value;

	if (++calculation->depth > DEPTH_MAX)
		complain_about(calculation, "nested too deeply");
	value = read_signed(calculation);
	calculation->depth--;
	return value;
}

static const struct binary *peek_binary(struct calculation *calculation)
{
	skip_blanks(calculation);
	for (size_t i = 0; i < COUNT(binaries); i++)
		if (strncmp(calculation->at, binaries[i].text, strlen(binaries[i].text)) == 0)
			return &binaries[i];
	return NULL;
}

static long long read_binary(struct calculation *calculation, int lowest)
{
	long long left = read_unary(calculation);
	const struct binary *binary;

	while ((binary = peek_binary(calculation)) != NULL && binary->precedence >= lowest) {
		bool decided = (binary->precedence == 1 && left != 0) ||
			       (binary->precedence == 2 && left == 0);
		long long right;

		calculation->at += strlen(binary->text);
		calculation->unwanted += decided;
		right = read_binary(calculation, binary->precedence + 1);
		calculation->unwanted -= decided;
		left = apply(calculation, binary->text, left, right);
	}
	return left;
}

static long long read_wanted(struct calculation *calculation, bool wanted,
			     long long (*read)(struct calculation *))
{
	long long value;

	calculation->unwanted += !wanted;
	value = read(calculation);
	calculation->unwanted -= !wanted;
	return value;
}

static long long read_assignment(struct calculation *calculation)
{
	long long condition, first, second;

	if (++calculation->depth > DEPTH_MAX)
		complain_about(calculation, "nested too deeply");
	condition = read_binary(calculation, 1);
	if (!take(calculation, "?")) {
		calculation->depth--;
		return condition;
	}
	first = read_wanted(calculation, condition != 0, read_comma);
	if (!take(calculation, ":"))
		complain_about(calculation, "no : after ?");
	second = read_wanted(calculation, condition == 0, read_assignment);
	calculation->depth--;
	return condition != 0 ? first : second;
}

static long long read_comma(struct calculation *calculation)
{
	long long value = read_assignment(calculation);

	while (take(calculation, ","))
		value = read_assignment(calculation);
	return value;
}

long long arithmetic(const char *expression)
{
	struct calculation calculation = {.expression = expression, .at = expression};
	long long value;

	skip_blanks(&calculation);
	if (*calculation.at == '\0')
		return 0;
	value = read_comma(&calculation);
	skip_blanks(&calculation);
	if (*calculation.at != '\0')
		complain_about(&calculation, "something is left over");
	assert(calculation.unwanted == 0 && calculation.depth == 0);
	return value;
}
