/* SPDX-License-Identifier: MIT */
/*
 * Executing programs.
 *
 * The calls that take an environment need no memory of malloc()'s, and so may be made in a handler
 * and in the child of a process with threads.
 */
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../internal.h"
#include "call.h"

#define DEFAULT_PATH "/bin:/sbin"
#define SHELL        "/bin/sh"

/*
 * Strings of a list that ends with a null, one behind another from `to` on; null: only counted.
 * More than `room` bytes are not written, should the list be another than when it was counted.
 */
static size_t join(char *to, size_t room, char *const strings[], unsigned *count)
{
	size_t size = 0;

	for (*count = 0; strings != NULL && strings[*count] != NULL; ++*count) {
		size_t length = strlen(strings[*count]) + 1;

		if (to != NULL && length <= room - size)
			memcpy(to + size, strings[*count], length);
		else if (to != NULL)
			break;
		size += length;
	}
	return size;
}

static kern_return_t execute(const char *path, char *const arguments[], char *const environment[],
			     size_t size)
{
	size_t room = (size + LIBC_PAGE) & ~(size_t)(LIBC_PAGE - 1);
	char *strings = __pages_allocate(room);
	unsigned n_arguments, n_environment;
	kern_return_t result;

	if (strings == NULL)
		return ENOMEM;
	size = join(strings, room, arguments, &n_arguments);
	size += join(strings + size, room - size, environment, &n_environment);
	if (__profile_exec != NULL && access(path, X_OK) == 0)
		__profile_exec();
	result = CALL(bsd_execve, path, n_arguments, strings, size);
	__pages_free(strings, room);
	return result;
}

int execve(const char *path, char *const arguments[], char *const environment[])
{
	int wrong = __path_error(path);
	unsigned count;
	size_t size;

	if (is_bad_option(arguments, sizeof *arguments) ||
	    is_bad_option(environment, sizeof *environment))
		wrong = EFAULT;
	if (wrong != 0)
		return finish(wrong);
	size = join(NULL, 0, arguments, &count) + join(NULL, 0, environment, &count);
	return finish(size > UX_ARGUMENTS_MAX ? E2BIG
					      : execute(path, arguments, environment, size));
}

int execv(const char *path, char *const arguments[])
{
	return execve(path, arguments, environ);
}

/* ---------------- Looking for the file ---------------- */

/* A file without a header that says what it is: commands for the shell. */
static void execute_script(const char *path, char *const arguments[], char *const environment[])
{
	unsigned count;

	join(NULL, 0, arguments, &count);

	const char *words[count + 3];

	words[0] = "sh";
	words[1] = path;
	words[2] = NULL;
	for (unsigned i = 1; i <= count; i++)
		words[i + 1] = arguments[i]; /* The last one is the null. */
	execve(SHELL, (char *const *)(uintptr_t)words, environment);
}

static void try_file(const char *path, char *const arguments[], char *const environment[])
{
	execve(path, arguments, environment);
	if (errno == ENOEXEC)
		execute_script(path, arguments, environment);
}

/* Tries the file in one folder of the path; errno says why not. */
static void try_folder(const char *folder, size_t length, const char *file, char *const arguments[],
		       char *const environment[])
{
	char path[PATH_MAX];
	size_t rest = strlen(file) + 1;

	if (length + 1 + rest > sizeof path) {
		errno = ENAMETOOLONG;
		return;
	}
	memcpy(path, folder, length);
	if (length != 0)
		path[length++] = '/';
	memcpy(path + length, file, rest);
	try_file(path, arguments, environment);
}

/* Whether another folder may have the file although this one did not. */
static int may_be_elsewhere(int error)
{
	return error == ENOENT || error == ENOTDIR || error == EACCES;
}

/* EACCES of one folder is told only if the file is in none of the others. */
int execvpe(const char *file, char *const arguments[], char *const environment[])
{
	const char *folder = getenv("PATH");
	int wrong = __path_error(file);
	int was_refused = 0;

	if (wrong != 0)
		return finish(wrong);
	if (*file == '\0')
		return finish(ENOENT);
	if (strchr(file, '/') != NULL) {
		try_file(file, arguments, environment);
		return -1;
	}
	if (folder == NULL)
		folder = DEFAULT_PATH;
	for (;; folder++) {
		size_t length = strcspn(folder, ":");

		try_folder(folder, length, file, arguments, environment);
		was_refused |= errno == EACCES;
		folder += length;
		if (!may_be_elsewhere(errno))
			return -1;
		if (*folder == '\0')
			return was_refused ? finish(EACCES) : -1;
	}
}

int execvp(const char *file, char *const arguments[])
{
	return execvpe(file, arguments, environ);
}

/* ---------------- Arguments as arguments ---------------- */

/* How many words there are up to the null, with `first`; the list is behind the null then. */
static unsigned count_words(const char *first, va_list *list)
{
	unsigned count = 0;

	for (const char *word = first; word != NULL; word = va_arg(*list, const char *))
		count++;
	return count;
}

static void collect(char **words, const char *first, va_list *list)
{
	unsigned count = 0;

	for (const char *word = first; word != NULL; word = va_arg(*list, const char *))
		words[count++] = (char *)(uintptr_t)word;
	words[count] = NULL;
}

/* Declares `words`, a list of what follows `argument` in the caller's arguments. */
#define COLLECT(words, argument)                \
	va_list list_;                          \
	unsigned count_;                        \
	va_start(list_, argument);              \
	count_ = count_words(argument, &list_); \
	va_end(list_);                          \
	char *words[count_ + 1];                \
	va_start(list_, argument);              \
	collect(words, argument, &list_)

int execl(const char *path, const char *argument, ...)
{
	COLLECT(words, argument);
	va_end(list_);
	return execve(path, words, environ);
}

int execlp(const char *file, const char *argument, ...)
{
	COLLECT(words, argument);
	va_end(list_);
	return execvpe(file, words, environ);
}

int execle(const char *path, const char *argument, ...)
{
	char **environment;

	COLLECT(words, argument);
	environment = va_arg(list_, char **);
	va_end(list_);
	return execve(path, words, environment);
}
