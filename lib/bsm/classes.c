/* SPDX-License-Identifier: MIT */
/* Classes of events, and masks of them: /etc/security/audit_class. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

#define CLASSES_MAX 32 /* A class is a bit. */
#define NAME_ROOM   16

static struct {
	char name[NAME_ROOM];
	au_class_t bits; /* `all` has all of them. */
} classes[CLASSES_MAX + 2];
static unsigned n_classes;
static bool is_loaded;

/* 0x00000001:fr:file read */
static bool classes_take(char *words[BSM_WORDS], int n, void *context)
{
	char *end;

	(void)context;
	if (n < 2 || strlen(words[1]) >= NAME_ROOM)
		return bsm_fail("a class is MASK:NAME:DESCRIPTION");
	if (n_classes == sizeof classes / sizeof classes[0])
		return bsm_fail("there are more classes than %d", CLASSES_MAX);
	errno = 0;
	classes[n_classes].bits = (au_class_t)strtoul(words[0], &end, 0);
	if (errno != 0 || end == words[0] || *end != '\0')
		return bsm_fail("%s is no mask", words[0]);
	strcpy(classes[n_classes++].name, words[1]);
	return true;
}

bool classes_load(void)
{
	if (is_loaded)
		return true;
	n_classes = 0;
	is_loaded = bsm_read_lines(AUDIT_FOLDER "audit_class", classes_take, NULL);
	return is_loaded;
}

bool classes_find(const char *name, size_t length, au_class_t *bits)
{
	for (unsigned n = 0; n < n_classes; n++) {
		if (strlen(classes[n].name) == length &&
		    memcmp(classes[n].name, name, length) == 0) {
			*bits = classes[n].bits;
			return true;
		}
	}
	return bsm_fail("there is no class %.*s; audit_class has those there are", (int)length,
			name);
}

/* One class, with what stands before it: ^ takes away, + and - mean success or failure alone. */
static bool classes_apply(const char *word, size_t length, au_mask_t *mask)
{
	bool takes_away = length > 0 && *word == '^';
	bool success = true, failure = true;
	au_class_t bits;

	word += takes_away;
	length -= takes_away;
	if (length > 0 && (*word == '+' || *word == '-')) {
		success = *word == '+';
		failure = *word == '-';
		word++;
		length--;
	}
	if (!classes_find(word, length, &bits))
		return false;
	if (success)
		mask->am_success = takes_away ? mask->am_success & ~bits : mask->am_success | bits;
	if (failure)
		mask->am_failure = takes_away ? mask->am_failure & ~bits : mask->am_failure | bits;
	return true;
}

bool bsm_flags(const char *flags, au_mask_t *mask)
{
	if (!classes_load())
		return false;
	while (*flags != '\0') {
		size_t length = strcspn(flags, ",");

		if (length > 0 && !classes_apply(flags, length, mask))
			return false;
		flags += length;
		flags += *flags == ',';
	}
	return true;
}
