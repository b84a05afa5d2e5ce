/* SPDX-License-Identifier: MIT */
/* What is where in a string. */
#include <stdint.h>
#include <string.h>

char *strchrnul(const char *string, int character)
{
	while (*string != (char)character && *string != '\0')
		string++;
	return (char *)(uintptr_t)string;
}

char *strchr(const char *string, int character)
{
	char *found = strchrnul(string, character);

	return *found == (char)character ? found : NULL;
}

char *strrchr(const char *string, int character)
{
	return memrchr(string, character, strlen(string) + 1);
}

char *index(const char *string, int character)
{
	return strchr(string, character);
}

char *rindex(const char *string, int character)
{
	return strrchr(string, character);
}

/* A bit for each character. */
struct characters {
	uint32_t words[256 / 32];
};

static void characters_fill(struct characters *set, const char *members)
{
	memset(set, 0, sizeof(*set));
	for (; *members != '\0'; members++) {
		unsigned char member = (unsigned char)*members;

		set->words[member / 32] |= 1u << member % 32;
	}
}

static unsigned characters_have(const struct characters *set, unsigned char character)
{
	return set->words[character / 32] >> character % 32 & 1;
}

/* The zero at the end is in no set. */
size_t strspn(const char *string, const char *accepted)
{
	struct characters set;
	const char *next = string;

	characters_fill(&set, accepted);
	while (characters_have(&set, (unsigned char)*next))
		next++;
	return (size_t)(next - string);
}

size_t strcspn(const char *string, const char *rejected)
{
	struct characters set;
	const char *next = string;

	characters_fill(&set, rejected);
	while (*next != '\0' && !characters_have(&set, (unsigned char)*next))
		next++;
	return (size_t)(next - string);
}

char *strpbrk(const char *string, const char *accepted)
{
	const char *found = string + strcspn(string, accepted);

	return *found != '\0' ? (char *)(uintptr_t)found : NULL;
}

char *strtok_r(char *string, const char *separators, char **rest)
{
	char *word = string != NULL ? string : *rest;
	char *end;

	word += strspn(word, separators);
	end = word + strcspn(word, separators);
	*rest = *end != '\0' ? end + 1 : end;
	*end = '\0';
	return end != word ? word : NULL;
}

char *strtok(char *string, const char *separators)
{
	static char *rest;

	return strtok_r(string, separators, &rest);
}

/* Unlike strtok_r, two separators in a row have an empty word between them. */
char *strsep(char **rest, const char *separators)
{
	char *word = *rest;
	char *end;

	if (word == NULL)
		return NULL;
	end = word + strcspn(word, separators);
	*rest = *end != '\0' ? end + 1 : NULL;
	*end = '\0';
	return word;
}

void *memmem(const void *bytes, size_t size, const void *wanted, size_t wanted_size)
{
	const unsigned char *next = bytes;
	const unsigned char *end = next + size;

	if (wanted_size == 0)
		return (void *)(uintptr_t)next;
	while ((size_t)(end - next) >= wanted_size) {
		size_t places = (size_t)(end - next) - wanted_size + 1;

		next = memchr(next, *(const unsigned char *)wanted, places);
		if (next == NULL)
			return NULL;
		if (memcmp(next, wanted, wanted_size) == 0)
			return (void *)(uintptr_t)next;
		next++;
	}
	return NULL;
}

/* Not by memmem: the end of a long string need not be looked for. */
char *strstr(const char *string, const char *wanted)
{
	size_t length = strlen(wanted);

	if (length == 0)
		return (char *)(uintptr_t)string;
	for (string = strchr(string, *wanted); string != NULL;
	     string = strchr(string + 1, *wanted)) {
		if (strncmp(string, wanted, length) == 0)
			return (char *)(uintptr_t)string;
	}
	return NULL;
}

char *strcasestr(const char *string, const char *wanted)
{
	size_t length = strlen(wanted);

	for (;; string++) {
		if (strncasecmp(string, wanted, length) == 0)
			return (char *)(uintptr_t)string;
		if (*string == '\0')
			return NULL;
	}
}
