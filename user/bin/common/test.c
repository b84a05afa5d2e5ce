/* SPDX-License-Identifier: MIT */
/*
 * test and [: conditions on files, strings and numbers.
 *
 * Up to four arguments mean what POSIX says by their number; more are read as an expression of
 * -o, -a, ! and parentheses.  Both are done by one parser that looks at how many are left.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"

#define DEPTH_MAX 200

struct condition {
	char **at;
	char **end;
	const char *error; /* What is wrong, or NULL. */
	const char *about;
	unsigned depth;
};

static bool read_or(struct condition *condition);

static bool complain_of(struct condition *condition, const char *about, const char *error)
{
	if (condition->error == NULL) {
		condition->about = about;
		condition->error = error;
	}
	return false;
}

static size_t left(const struct condition *condition)
{
	return (size_t)(condition->end - condition->at);
}

static long long number(struct condition *condition, const char *text)
{
	long long value = 0;
	size_t blanks = strspn(text, " \t");

	if (!parse_number(text + blanks, &value))
		complain_of(condition, text, "not a number");
	return value;
}

static bool is_binary(const char *text)
{
	static const char *const operators[] = {"=",   "!=",  "<",   ">",   "-eq", "-ne", "-lt",
						"-le", "-gt", "-ge", "-nt", "-ot", "-ef", "=="};

	for (size_t i = 0; i < sizeof(operators) / sizeof(operators[0]); i++)
		if (strcmp(text, operators[i]) == 0)
			return true;
	return false;
}

static bool is_unary(const char *text)
{
	return text[0] == '-' && text[1] != '\0' && text[2] == '\0' &&
	       strchr("bcdefghknprstuwxzLOGS", text[1]) != NULL;
}

static bool compare_numbers(const char *operation, long long first, long long second)
{
	if (strcmp(operation, "-eq") == 0)
		return first == second;
	if (strcmp(operation, "-ne") == 0)
		return first != second;
	if (strcmp(operation, "-lt") == 0)
		return first < second;
	if (strcmp(operation, "-le") == 0)
		return first <= second;
	if (strcmp(operation, "-gt") == 0)
		return first > second;
	return first >= second;
}

static bool is_newer(const struct stat *first, const struct stat *second)
{
	return first->st_mtime > second->st_mtime;
}

static bool compare_files(const char *operation, const char *first, const char *second)
{
	struct stat one, other;
	bool has_first = stat(first, &one) == 0;
	bool has_second = stat(second, &other) == 0;

	if (strcmp(operation, "-ef") == 0)
		return has_first && has_second && one.st_dev == other.st_dev &&
		       one.st_ino == other.st_ino;
	if (strcmp(operation, "-nt") == 0)
		return has_first && (!has_second || is_newer(&one, &other));
	return has_second && (!has_first || is_newer(&other, &one));
}

static bool compare(struct condition *condition, const char *first, const char *operation,
		    const char *second)
{
	long long one;

	if (strcmp(operation, "=") == 0 || strcmp(operation, "==") == 0)
		return strcmp(first, second) == 0;
	if (strcmp(operation, "!=") == 0)
		return strcmp(first, second) != 0;
	if (operation[0] == '<')
		return strcmp(first, second) < 0;
	if (operation[0] == '>')
		return strcmp(first, second) > 0;
	if (strcmp(operation, "-nt") == 0 || strcmp(operation, "-ot") == 0 ||
	    strcmp(operation, "-ef") == 0)
		return compare_files(operation, first, second);
	one = number(condition, first);
	return compare_numbers(operation, one, number(condition, second));
}

static bool has_type(char letter, mode_t mode)
{
	switch (letter) {
	case 'b':
		return S_ISBLK(mode);
	case 'c':
		return S_ISCHR(mode);
	case 'd':
		return S_ISDIR(mode);
	case 'f':
		return S_ISREG(mode);
	case 'p':
		return S_ISFIFO(mode);
	case 'S':
		return S_ISSOCK(mode);
	case 'u':
		return mode & S_ISUID;
	case 'g':
		return mode & S_ISGID;
	case 'k':
		return mode & 01000;
	default:
		return true;
	}
}

static bool test_file(char letter, const char *name)
{
	struct stat status;

	if (letter == 'h' || letter == 'L')
		return lstat(name, &status) == 0 && S_ISLNK(status.st_mode);
	if (stat(name, &status) != 0)
		return false;
	switch (letter) {
	case 'r':
		return access(name, R_OK) == 0;
	case 'w':
		return access(name, W_OK) == 0;
	case 'x':
		return access(name, X_OK) == 0;
	case 's':
		return status.st_size > 0;
	case 'O':
		return status.st_uid == geteuid();
	case 'G':
		return status.st_gid == getegid();
	default:
		return has_type(letter, status.st_mode);
	}
}

static bool test_unary(struct condition *condition, char letter, const char *operand)
{
	switch (letter) {
	case 'n':
		return *operand != '\0';
	case 'z':
		return *operand == '\0';
	case 't':
		return isatty((int)number(condition, operand));
	default:
		return test_file(letter, operand);
	}
}

static bool read_parentheses(struct condition *condition)
{
	bool result;

	condition->at++;
	result = read_or(condition);
	if (left(condition) == 0 || strcmp(*condition->at, ")") != 0)
		return complain_of(condition, "(", "no closing )");
	condition->at++;
	return result;
}

/* A binary operator in second place wins over everything that the first might be. */
static bool read_primary(struct condition *condition)
{
	char **at = condition->at;

	if (left(condition) >= 3 && is_binary(at[1])) {
		condition->at += 3;
		return compare(condition, at[0], at[1], at[2]);
	}
	if (left(condition) == 0)
		return complain_of(condition, "condition", "an argument is missing");
	if (left(condition) >= 2 && is_unary(at[0])) {
		condition->at += 2;
		return test_unary(condition, at[0][1], at[1]);
	}
	if (left(condition) >= 3 && strcmp(at[0], "(") == 0)
		return read_parentheses(condition);
	condition->at++;
	return at[0][0] != '\0';
}

static bool read_not(struct condition *condition)
{
	bool is_negated = false;
	bool result;

	if (++condition->depth > DEPTH_MAX)
		return complain_of(condition, "(", "nested too deeply");
	while (left(condition) >= 2 && strcmp(*condition->at, "!") == 0 &&
	       !(left(condition) >= 3 && is_binary(condition->at[1]) && left(condition) != 4)) {
		is_negated = !is_negated;
		condition->at++;
	}
	result = read_primary(condition);
	condition->depth--;
	return result != is_negated;
}

static bool take(struct condition *condition, const char *operation)
{
	if (left(condition) < 2 || strcmp(*condition->at, operation) != 0)
		return false;
	condition->at++;
	return true;
}

static bool read_and(struct condition *condition)
{
	bool result = read_not(condition);

	while (take(condition, "-a"))
		result = read_not(condition) && result;
	return result;
}

static bool read_or(struct condition *condition)
{
	bool result = read_and(condition);

	while (take(condition, "-o"))
		result = read_and(condition) || result;
	return result;
}

static int fail_test(const char *name, const char *about, const char *error)
{
	char message[256];
	int length = snprintf(message, sizeof(message), "%.20s: %.150s: %s\n", name, about, error);

	if (write(STDERR_FILENO, message, (size_t)length) < 0)
		return 2;
	return 2;
}

int test_command(int count, char **arguments)
{
	const char *name = strrchr(arguments[0], '/');
	struct condition condition = {.at = arguments + 1, .end = arguments + count};
	bool result;

	name = name != NULL ? name + 1 : arguments[0];
	if (strcmp(name, "[") == 0) {
		if (strcmp(arguments[count - 1], "]") != 0)
			return fail_test(name, "]", "missing");
		condition.end--;
	}
	if (left(&condition) == 0)
		return 1;
	result = read_or(&condition);
	if (condition.error == NULL && left(&condition) > 0)
		complain_of(&condition, *condition.at, "unexpected");
	if (condition.error != NULL)
		return fail_test(name, condition.about, condition.error);
	return result ? 0 : 1;
}
