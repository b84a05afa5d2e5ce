/* SPDX-License-Identifier: MIT */
/*
 * The kernel's command line (base/arguments.h).
 *
 * Owns a copy, cut into words in place.  Written once at boot, then only read.
 */
#include "base/arguments.h"

#include "base/assert.h"
#include "base/log.h"
#include "base/string.h"

/* Far more than anyone types; what a boot loader passes beyond is reported, never overrun. */
#define LINE_SIZE 1024
#define MAX_WORDS 64

/* The copy as it came; and with a zero behind each word, and where its words begin. */
static char whole[LINE_SIZE];
static char line[LINE_SIZE];
static const char *words[MAX_WORDS];
static unsigned n_words;

/*
 * Every argument that some part of the kernel asks for, wherever that is: whoever adds one there
 * adds it here, or the log calls it unknown.  Some are for programs (${kernel-command-line}).
 */
static const char *const known[] = {
	"clock",   "console", "count-calls", "cpus",   "crash",   "fastpath",
	"inject",  "jitter",  "limit",       "limits", "log",     "pool",
	"profile", "ramdisk", "raw",         "root",   "sigprof", "ux",
};

/* Boot loaders' configuration files leave ends of lines behind. */
static bool argument_is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Ends the word at `p` with a zero and returns what follows. */
static char *argument_cut_word(char *p)
{
	while (*p != '\0' && !argument_is_blank(*p))
		p++;
	if (*p != '\0')
		*p++ = '\0';
	return p;
}

/* The boot loader's copy lies in memory that the page allocator is about to get. */
void arguments_init(const char *command_line)
{
	char *p = line;

	assert(command_line != NULL);
	if (strlcpy(line, command_line, sizeof(line)) >= sizeof(line))
		klog("arguments: only the first %u characters are heeded\n", LINE_SIZE - 1);
	strlcpy(whole, line, sizeof(whole));
	n_words = 0;
	for (;;) {
		while (argument_is_blank(*p))
			p++;
		if (*p == '\0')
			return;
		if (n_words == MAX_WORDS) {
			klog("arguments: \"%s\" and what follows is ignored\n", p);
			return;
		}
		words[n_words++] = p;
		p = argument_cut_word(p);
	}
}

/* Where `word` goes on behind `name` (at `=` or its end), or NULL if it is another argument. */
static const char *argument_behind_name(const char *word, const char *name)
{
	size_t length = strlen(name);

	assert(length > 0);
	if (strncmp(word, name, length) != 0)
		return NULL;
	word += length;
	return *word == '=' || *word == '\0' ? word : NULL;
}

/* With or without a value: `raw=1` is meant as `raw`. */
bool argument_present(const char *name)
{
	for (unsigned i = 0; i < n_words; i++) {
		if (argument_behind_name(words[i], name) != NULL)
			return true;
	}
	return false;
}

/*
 * The text after the last `name=`, or NULL: who adds a word at the end of a line wants it heeded.
 */
static const char *argument_value_of(const char *name)
{
	const char *rest;

	for (unsigned i = n_words; i > 0; i--) {
		rest = argument_behind_name(words[i - 1], name);
		if (rest != NULL && *rest == '=')
			return rest + 1;
	}
	return NULL;
}

bool argument_string(const char *name, char *value, size_t size)
{
	const char *text = argument_value_of(name);

	assert(value != NULL && size > 0);
	strlcpy(value, text != NULL ? text : "", size);
	return text != NULL;
}

/* The value of a digit, or a number that is no digit in any base. */
static uint32_t argument_digit_of(char c)
{
	if (c >= '0' && c <= '9')
		return (uint32_t)(c - '0');
	if (c >= 'a' && c <= 'f')
		return (uint32_t)(c - 'a' + 10);
	if (c >= 'A' && c <= 'F')
		return (uint32_t)(c - 'A' + 10);
	return UINT32_MAX;
}

/* Reads all of `text`; false if it is empty, has a character too many or does not fit 32 bits. */
static bool argument_read_number(const char *text, uint32_t *number)
{
	bool hex = text[0] == '0' && (text[1] == 'x' || text[1] == 'X');
	uint32_t base = hex ? 16 : 10;
	uint64_t value = 0;

	text += hex ? 2 : 0;
	if (*text == '\0')
		return false;
	for (; *text != '\0'; text++) {
		uint32_t digit = argument_digit_of(*text);

		if (digit >= base)
			return false;
		value = value * base + digit;
		if (value > UINT32_MAX)
			return false;
	}
	*number = (uint32_t)value;
	return true;
}

/* A bad number is no reason not to boot: without a console nobody could see why. */
uint32_t argument_number(const char *name, uint32_t otherwise)
{
	const char *text = argument_value_of(name);
	uint32_t number;

	if (text == NULL)
		return otherwise;
	if (argument_read_number(text, &number))
		return number;
	klog("arguments: %s=%s: not a number; taken as %u\n", name, text, otherwise);
	return otherwise;
}

/* By its name: whether the value makes sense is for those to say who use it. */
static bool argument_is_known(const char *word)
{
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (argument_behind_name(word, known[i]) != NULL)
			return true;
	return false;
}

/* QEMU puts the image's path in front, GRUB does not. */
static bool argument_is_image_name(unsigned i)
{
	assert(i < n_words);
	return i == 0 && strchr(words[i], '=') == NULL;
}

const char *arguments_line(void)
{
	const char *text = whole;

	if (n_words > 0 && argument_is_image_name(0))
		text += (size_t)(words[0] - line) + strlen(words[0]);
	while (argument_is_blank(*text))
		text++;
	return text;
}

void arguments_check(void)
{
	for (unsigned i = 0; i < n_words; i++) {
		if (!argument_is_known(words[i]) && !argument_is_image_name(i))
			klog("arguments: \"%s\" is unknown and ignored\n", words[i]);
	}
}
