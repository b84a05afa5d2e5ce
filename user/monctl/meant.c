/* SPDX-License-Identifier: MIT */
/*
 * What is said to a word that is no option: see meant.h.
 *
 * Guesses are tried in turn, from what is certain to what is only likely.  Each says what to type.
 */
#include <stdio.h>
#include <string.h>

#include "common/common.h"
#include "meant.h"
#include "monctl.h"

#define DIGITS      "0123456789"
#define ADVICE_ROOM 256

static const struct word *all;
static size_t n_all;

/* kgmon's letters, which are the note's and BSD's, and -help's beginning. */
static const struct {
	const char *letter;
	const char *advice;
} letters[] = {
	{"-h", "-help tells how it is used; kgmon halts by -h, and monctl by -off"},
	{"-b", "kgmon begins by -b, and monctl by: -on periodic"},
	{"-p", "a process is: -pid N; kgmon writes by -p, and monctl by: -monfile FILE"},
	{"-r", "a command is: -run COMMAND; kgmon resets by -r, and monctl by: -on"},
	{"-?", "-help tells how it is used"},
};

/* ---------------- Likenesses ---------------- */

static const struct word *find(const char *name, size_t length)
{
	for (size_t i = 0; i < n_all; i++)
		if (strlen(all[i].name) == length && memcmp(all[i].name, name, length) == 0)
			return &all[i];
	return NULL;
}

static size_t same_at_start(const char *one, const char *other)
{
	size_t n = 0;

	while (one[n] != '\0' && one[n] == other[n])
		n++;
	return n;
}

static size_t same_at_end(const char *one, size_t length, const char *other, size_t other_length)
{
	size_t n = 0;

	while (n < length && n < other_length && one[length - n - 1] == other[other_length - n - 1])
		n++;
	return n;
}

/* One letter is wrong, missing or too many, or two have changed places. */
static bool is_near(const char *one, const char *other)
{
	size_t length = strlen(one), other_length = strlen(other);
	size_t longer = length > other_length ? length : other_length;
	size_t start = same_at_start(one, other);
	size_t end = same_at_end(one, length, other, other_length);

	if (start + end + 1 >= longer)
		return longer - length <= 1 && longer - other_length <= 1;
	return length == other_length && start + end + 2 == length &&
	       one[start] == other[start + 1] && one[start + 1] == other[start];
}

/* ---------------- Guesses ---------------- */

/* Each writes an advice, or answers false. */
typedef bool (*guess_t)(const char *word, char advice[ADVICE_ROOM]);

static bool guess_letter(const char *word, char *advice)
{
	for (size_t i = 0; i < sizeof(letters) / sizeof(letters[0]); i++)
		if (strcmp(word, letters[i].letter) == 0) {
			strlcpy(advice, letters[i].advice, ADVICE_ROOM);
			return true;
		}
	return false;
}

/* As other systems' programs have it: --pid, --pid=7, -pid=7. */
static bool guess_form(const char *word, char *advice)
{
	const char *name = strncmp(word, "--", 2) == 0 ? word + 1 : word;
	size_t length = strcspn(name, "=");
	const struct word *option = find(name, length);

	if (option == NULL)
		return false;
	if (name[length] == '\0')
		snprintf(advice, ADVICE_ROOM, "an option has one dash: %s", option->name);
	else if (option->takes_value)
		snprintf(advice, ADVICE_ROOM, "the value is a word of its own: %s %s", option->name,
			 name + length + 1);
	else
		snprintf(advice, ADVICE_ROOM, "it takes no value: %s", option->name);
	return true;
}

/* -pid7 */
static bool guess_value_behind(const char *word, char *advice)
{
	size_t length = strcspn(word, DIGITS);
	const struct word *option = find(word, length);

	if (option == NULL || !option->takes_value)
		return false;
	snprintf(advice, ADVICE_ROOM, "the value is a word of its own: %s %s", option->name,
		 word + length);
	return true;
}

/* Beginnings of options, and what is spelled nearly so. */
static bool guess_spelling(const char *word, char *advice)
{
	size_t used = 0;

	if (word[0] != '-' || word[1] == '\0')
		return false;
	for (size_t i = 0; i < n_all && used < ADVICE_ROOM; i++)
		if (same_at_start(word, all[i].name) == strlen(word) || is_near(word, all[i].name))
			used += (size_t)snprintf(advice + used, ADVICE_ROOM - used, "%s%s",
						 used == 0 ? "is it " : " or ", all[i].name);
	if (used > 0)
		strlcat(advice, "?", ADVICE_ROOM);
	return used > 0;
}

static bool guess_no_dash(const char *word, char *advice)
{
	for (size_t i = 0; i < n_all; i++)
		if (all[i].name[0] == '-' && strcmp(all[i].name + 1, word) == 0) {
			snprintf(advice, ADVICE_ROOM, "an option begins with a dash: %s",
				 all[i].name);
			return true;
		}
	return false;
}

static bool guess_number(const char *word, char *advice)
{
	if (word[0] == '\0' || strspn(word, DIGITS) != strlen(word))
		return false;
	snprintf(advice, ADVICE_ROOM, "is it a process? say -pid %s", word);
	return true;
}

static bool guess_flavor(const char *word, char *advice)
{
	if (flavors_parse(word) == 0)
		return false;
	snprintf(advice, ADVICE_ROOM, "flavors go behind -on, in one word: -on periodic,%s", word);
	return true;
}

static bool guess_command(const char *word, char *advice)
{
	if (word[0] == '-' || word[0] == '\0')
		return false;
	snprintf(advice, ADVICE_ROOM,
		 "is it the command to be sampled? -run goes before it: -run %s", word);
	return true;
}

void meant_report(const char *word, const struct word *words, size_t count)
{
	static const guess_t guesses[] = {guess_letter,   guess_form,   guess_value_behind,
					  guess_spelling, guess_number, guess_no_dash,
					  guess_flavor,   guess_command};
	char advice[ADVICE_ROOM] = "";

	all = words;
	n_all = count;
	for (size_t i = 0; i < sizeof(guesses) / sizeof(guesses[0]); i++)
		if (guesses[i](word, advice)) {
			report("%s: no such option; %s", word, advice);
			return;
		}
	report("%s: no such option", word);
}
