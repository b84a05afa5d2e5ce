/* SPDX-License-Identifier: MIT */
/* Items of formatted input, and the characters that make numbers. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "file.h"
#include "scan.h"

int __source_get(struct source *source)
{
	int character;

	if (source->file != NULL)
		character = __file_get(source->file);
	else
		character = *source->text != '\0' ? (unsigned char)*source->text++ : EOF;
	source->ended = character == EOF;
	source->read += !source->ended;
	return character;
}

/* There is always room for the character that was taken last. */
void __source_unget(struct source *source, int character)
{
	if (character == EOF)
		return;
	source->read--;
	if (source->file != NULL)
		__file_unget(source->file, character);
	else
		source->text--;
}

void __item_begin(struct item *item, struct source *source, size_t width)
{
	item->source = source;
	item->width = width;
	item->text = item->small;
	item->text[0] = '\0';
	item->length = 0;
	item->room = ITEM_ROOM;
	item->no_memory = false;
}

void __item_end(struct item *item)
{
	if (item->text != item->small)
		free(item->text);
}

int __item_peek(struct item *item)
{
	int character;

	if (item->width == 0)
		return EOF;
	character = __source_get(item->source);
	__source_unget(item->source, character);
	return character;
}

static bool grow(struct item *item)
{
	char *larger = malloc(item->room * 2);

	if (larger == NULL) {
		item->no_memory = true;
		return false;
	}
	memcpy(larger, item->text, item->length);
	__item_end(item);
	item->text = larger;
	item->room *= 2;
	return true;
}

void __item_take(struct item *item)
{
	int character = __source_get(item->source);

	item->width--;
	if (item->length + 1 == item->room && !grow(item))
		return;
	item->text[item->length++] = (char)character;
	item->text[item->length] = '\0';
}

bool __item_accept(struct item *item, const char *characters)
{
	int character = __item_peek(item);

	if (character <= 0 || strchr(characters, character) == NULL)
		return false;
	__item_take(item);
	return true;
}

static bool accept_digit(struct item *item, int base)
{
	int character = __item_peek(item);
	int value = 36;

	if (character != EOF && isdigit(character))
		value = character - '0';
	else if (character != EOF && isalpha(character))
		value = tolower(character) - 'a' + 10;
	if (value >= base)
		return false;
	__item_take(item);
	return true;
}

/* What has been read when the prefix turns out to have no digits behind it is gone. */
bool __item_integer(struct item *item, int base)
{
	bool found = false;

	__item_accept(item, "+-");
	if ((base == 0 || base == 16) && __item_accept(item, "0")) {
		found = true;
		if (__item_accept(item, "xX")) {
			found = false;
			base = 16;
		}
		if (base == 0)
			base = 8;
	}
	if (base == 0)
		base = 10;
	while (accept_digit(item, base))
		found = true;
	return found;
}

/* The rest of a word of which any case will do. */
static bool accept_word(struct item *item, const char *word)
{
	for (; *word != '\0'; word++) {
		const char either[] = {*word, (char)toupper((unsigned char)*word), '\0'};

		if (!__item_accept(item, either))
			return false;
	}
	return true;
}

/* inf or infinity: one character of the longer word makes all of it necessary. */
static bool accept_infinity(struct item *item)
{
	if (!accept_word(item, "nf"))
		return false;
	return !__item_accept(item, "iI") || accept_word(item, "nity");
}

static bool accept_nan(struct item *item)
{
	if (!accept_word(item, "an"))
		return false;
	if (!__item_accept(item, "("))
		return true;
	while (accept_digit(item, 36) || __item_accept(item, "_"))
		continue;
	return __item_accept(item, ")");
}

static bool accept_digits(struct item *item, int base)
{
	bool found = false;

	while (accept_digit(item, base))
		found = true;
	return found;
}

bool __item_float(struct item *item)
{
	int base = 10;
	bool found;

	__item_accept(item, "+-");
	if (__item_accept(item, "iI"))
		return accept_infinity(item);
	if (__item_accept(item, "nN"))
		return accept_nan(item);
	found = __item_accept(item, "0");
	if (found && __item_accept(item, "xX")) {
		base = 16;
		found = false;
	}
	found |= accept_digits(item, base);
	if (__item_accept(item, "."))
		found |= accept_digits(item, base);
	if (!found || !__item_accept(item, base == 16 ? "pP" : "eE"))
		return found;
	__item_accept(item, "+-");
	return accept_digits(item, 10);
}
