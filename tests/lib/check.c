/* SPDX-License-Identifier: MIT */
/*
 * Runs the tests of one program, one after the other, and prints what became of them.
 *
 * Owns the state of the running test.  Tests may check from several threads: whoever fails first is
 * the one that prints `not ok`.
 */
#include "check.h"

/* The bounds of the section that TEST fills; the linker defines them. */
extern const struct check *const __start_checks[];
extern const struct check *const __stop_checks[];

#define REMARK_SIZE 384 /* The longest text of one failure; what is longer is cut. */

static int words; /* The command line. */
static char **word;

static const struct check *running;
static bool failed;
static const char *skipped; /* Why, or null. */

static struct {
	unsigned passed;
	unsigned failed;
} totals;

void check_fail(const char *format, ...)
{
	char remark[REMARK_SIZE];
	va_list arguments;

	va_start(arguments, format);
	format_list(remark, sizeof(remark), format, arguments);
	va_end(arguments);
	if (__atomic_exchange_n(&failed, true, __ATOMIC_SEQ_CST))
		print("# %s: %s\n", running->name, remark);
	else
		print("not ok %s: %s\n", running->name, remark);
}

bool check_failed(void)
{
	return __atomic_load_n(&failed, __ATOMIC_SEQ_CST);
}

bool check_true(const char *file, int line, const char *text, bool passed)
{
	if (!passed)
		check_fail("%s:%d: expected %s", file, line, text);
	return passed;
}

bool check_values(const char *file, int line, const char *text, bool passed, long long a,
		  long long b)
{
	if (!passed)
		check_fail("%s:%d: expected %s, got %lld (0x%llx) and %lld (0x%llx)", file, line,
			   text, a, (unsigned long long)a, b, (unsigned long long)b);
	return passed;
}

bool check_strings(const char *file, int line, const char *text, const char *a, const char *b)
{
	bool passed = strcmp(a, b) == 0;

	if (!passed)
		check_fail("%s:%d: expected %s, got \"%s\" and \"%s\"", file, line, text, a, b);
	return passed;
}

void check_skip(const char *why)
{
	skipped = why;
}

static bool is_number(const char *text)
{
	return text[0] >= '0' && text[0] <= '9';
}

/* A word that chooses no test. */
static bool is_parameter(const char *text)
{
	return is_number(text) || strchr(text, '=') != NULL;
}

uint32_t check_parameter(const char *name, uint32_t otherwise)
{
	size_t length = strlen(name);

	for (int i = words - 1; i > 0; i--) {
		if (strncmp(word[i], name, length) == 0 && word[i][length] == '=')
			return (uint32_t)strtoul(word[i] + length + 1, NULL, 0);
	}
	return otherwise;
}

uint32_t check_number(uint32_t n)
{
	for (int i = 1; i < words; i++) {
		if (is_number(word[i]) && n-- == 0)
			return (uint32_t)strtoul(word[i], NULL, 0);
	}
	return 0;
}

/* The test with the lowest line above this one, or null. */
static const struct check *next_after(int line)
{
	const struct check *next = NULL;

	for (const struct check *const *entry = __start_checks; entry < __stop_checks; entry++) {
		if ((*entry)->line > line && (next == NULL || (*entry)->line < next->line))
			next = *entry;
	}
	return next;
}

static void run_one(const struct check *check)
{
	running = check;
	failed = false;
	skipped = NULL;
	balance_note();
	check->run();
	balance_settle();
	if (failed)
		totals.failed++;
	else if (skipped != NULL)
		print("skip %s: %s\n", check->name, skipped);
	else
		print("ok %s\n", check->name);
	totals.passed += !failed && skipped == NULL;
}

/* By its name, or because no test is. */
static bool is_selected(const struct check *check)
{
	bool none = true;

	for (int i = 1; i < words; i++) {
		if (strcmp(word[i], check->name) == 0)
			return true;
		none = none && is_parameter(word[i]);
	}
	return none;
}

/* A name on the command line that is no test would otherwise run nothing and look well. */
static void refuse_unknown(const char *name)
{
	if (is_parameter(name))
		return;
	for (const struct check *const *entry = __start_checks; entry < __stop_checks; entry++) {
		if (strcmp((*entry)->name, name) == 0)
			return;
	}
	print("not ok %s: there is no such test\n", name);
	totals.failed++;
}

int main(int argc, char **argv)
{
	words = argc;
	word = argv;
	for (int i = 1; i < argc; i++)
		refuse_unknown(argv[i]);
	for (const struct check *check = next_after(0); check != NULL;
	     check = next_after(check->line)) {
		if (is_selected(check))
			run_one(check);
	}
	print("done %u %u\n", totals.passed, totals.failed);
	return totals.failed > 0;
}
