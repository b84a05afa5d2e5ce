/* SPDX-License-Identifier: MIT */
/*
 * The environment: `environ`, an array of NAME=VALUE, and its functions.
 *
 * The array that the program started with lies on the stack; the first call that needs room takes
 * one from malloc, remembered in `owned`, and so does each that finds it full.  Strings are never
 * freed, for getenv() has given them out.  `lock` guards all of it; a program that changes
 * `environ` itself does so while nobody else looks.
 */
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "../internal.h"

char **environ;

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;
static char **owned; /* The last array taken from malloc. */
static size_t room;  /* Its elements. */

static bool is_name(const char *name)
{
	return name != NULL && *name != '\0' && strchr(name, '=') == NULL;
}

/* The place of a name in the array; that of the NULL at its end if it is not there. */
static char **find(const char *name, size_t length)
{
	static char *nothing[1];
	char **place = environ != NULL ? environ : nothing;

	for (; *place != NULL; place++) {
		if (strncmp(*place, name, length) == 0 && (*place)[length] == '=')
			break;
	}
	return place;
}

char *getenv(const char *name)
{
	size_t length = strlen(name);
	char *assignment;

	__lock(&lock);
	assignment = *find(name, length);
	__unlock(&lock);
	return assignment != NULL ? assignment + length + 1 : NULL;
}

static size_t count_assignments(void)
{
	size_t count = 0;

	while (environ != NULL && environ[count] != NULL)
		count++;
	return count;
}

/* Makes room for one more element and the NULL behind it. */
static bool have_room(size_t count)
{
	char **larger;

	if (environ == owned && count + 2 <= room)
		return true;
	larger = malloc((2 * count + 8) * sizeof(*larger));
	if (larger == NULL)
		return false;
	if (count > 0)
		memcpy(larger, environ, count * sizeof(*larger));
	larger[count] = NULL;
	free(owned);
	owned = environ = larger;
	room = 2 * count + 8;
	return true;
}

/* Puts an assignment in the place of the old one, or at the end.  The lock is held. */
static int put(char *assignment, size_t length)
{
	char **place = find(assignment, length);
	size_t count;

	if (*place != NULL) {
		*place = assignment;
		return 0;
	}
	count = count_assignments();
	if (!have_room(count))
		return -1;
	environ[count] = assignment;
	environ[count + 1] = NULL;
	return 0;
}

static char *make_assignment(const char *name, const char *value)
{
	size_t length = strlen(name);
	size_t value_size = strlen(value) + 1;
	char *assignment = malloc(length + 1 + value_size);

	if (assignment == NULL)
		return NULL;
	memcpy(assignment, name, length);
	assignment[length] = '=';
	memcpy(assignment + length + 1, value, value_size);
	return assignment;
}

int setenv(const char *name, const char *value, int replace)
{
	char *assignment;
	int result;

	if (!is_name(name)) {
		errno = EINVAL;
		return -1;
	}
	if (!replace && getenv(name) != NULL)
		return 0;
	assignment = make_assignment(name, value);
	if (assignment == NULL)
		return -1;
	__lock(&lock);
	result = put(assignment, strlen(name));
	__unlock(&lock);
	if (result != 0)
		free(assignment);
	return result;
}

int unsetenv(const char *name)
{
	char **place;

	if (!is_name(name)) {
		errno = EINVAL;
		return -1;
	}
	__lock(&lock);
	while (*(place = find(name, strlen(name))) != NULL) {
		for (; *place != NULL; place++)
			place[0] = place[1];
	}
	__unlock(&lock);
	return 0;
}

/* The string itself becomes part of the environment; one without `=` takes its name out. */
int putenv(char *assignment)
{
	size_t length = strcspn(assignment, "=");
	int result;

	if (assignment[length] == '\0')
		return unsetenv(assignment);
	__lock(&lock);
	result = put(assignment, length);
	__unlock(&lock);
	return result;
}

int clearenv(void)
{
	__lock(&lock);
	free(owned);
	environ = owned = NULL;
	room = 0;
	__unlock(&lock);
	return 0;
}
