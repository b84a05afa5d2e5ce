/* SPDX-License-Identifier: MIT */
/* Arguments of programs: see arguments.h. */
#include "process/arguments.h"

#include <sys/errno.h>
#include <sys/ux.h>

#include "core/heap.h"

#define STACK_ALIGN 16u
#define WORD        sizeof(uint32_t)
#define N_ENDS      3 /* Words beside the strings' addresses: argc, and two nulls. */

void *memcpy(void *to, const void *from, size_t size);
size_t strlen(const char *string);

static unsigned arguments_count(const char *strings, size_t size)
{
	unsigned n = 0;

	for (size_t at = 0; at < size; at++)
		n += strings[at] == '\0';
	return n;
}

/* The strings and the table of their addresses. */
static bool arguments_is_too_big(const struct arguments *arguments)
{
	return arguments->size + arguments->n_strings * WORD > UX_ARGUMENTS_MAX;
}

int arguments_take(struct arguments *arguments, const char *strings, size_t size, unsigned argc)
{
	*arguments = (struct arguments){.strings = strings, .size = size, .argc = argc};
	if (size > UX_ARGUMENTS_MAX)
		return E2BIG;
	if (size > 0 && strings[size - 1] != '\0')
		return EINVAL;
	arguments->n_strings = arguments_count(strings, size);
	if (arguments->n_strings < argc)
		return EINVAL;
	return arguments_is_too_big(arguments) ? E2BIG : 0;
}

void arguments_free(struct arguments *arguments)
{
	if (arguments->own != NULL)
		heap_free(arguments->own);
	arguments->own = NULL;
}

/* Appends a string with its zero; returns where the next one goes. */
static char *arguments_append(char *at, const char *string)
{
	size_t size = strlen(string) + 1;

	memcpy(at, string, size);
	return at + size;
}

int arguments_put_interpreter(struct arguments *arguments, const char *interpreter,
			      const char *option, const char *script)
{
	size_t first = arguments->argc == 0 ? 0 : strlen(arguments->strings) + 1;
	struct arguments result = *arguments;
	char *at;

	result.size += strlen(interpreter) + 1 + strlen(script) + 1 - first;
	result.size += option == NULL ? 0 : strlen(option) + 1;
	result.argc += (arguments->argc == 0) + 1 + (option != NULL);
	result.n_strings += result.argc - arguments->argc;
	if (arguments_is_too_big(&result))
		return E2BIG;
	result.own = heap_allocate(result.size);
	if (result.own == NULL)
		return ENOMEM;
	at = arguments_append(result.own, interpreter);
	if (option != NULL)
		at = arguments_append(at, option);
	at = arguments_append(at, script);
	memcpy(at, arguments->strings + first, arguments->size - first);
	result.strings = result.own;
	arguments_free(arguments);
	*arguments = result;
	return 0;
}

/* ---------------- On the stack ---------------- */

static size_t arguments_size_of_words(const struct arguments *arguments)
{
	return (arguments->n_strings + N_ENDS) * WORD;
}

/* From the stack pointer to the top, aligned so that the stack pointer is. */
static size_t arguments_used(const struct arguments *arguments)
{
	size_t strings = (arguments->size + WORD - 1) & ~(WORD - 1);

	return (arguments_size_of_words(arguments) + strings + STACK_ALIGN - 1) &
	       ~(size_t)(STACK_ALIGN - 1);
}

size_t arguments_room(const struct arguments *arguments)
{
	return (arguments_used(arguments) + HEAP_PAGE - 1) & ~(size_t)(HEAP_PAGE - 1);
}

uint32_t arguments_lay_out(const struct arguments *arguments, void *room, uint32_t top)
{
	size_t size = arguments_room(arguments);
	uint32_t *word = (uint32_t *)((char *)room + size - arguments_used(arguments));
	uint32_t string = top - (uint32_t)arguments->size;
	const char *text = arguments->strings;

	memcpy((char *)room + size - arguments->size, text, arguments->size);
	*word++ = arguments->argc;
	for (unsigned n = 0; n < arguments->n_strings; n++) {
		uint32_t length = (uint32_t)strlen(text) + 1;

		if (n == arguments->argc)
			*word++ = 0;
		*word++ = string;
		string += length;
		text += length;
	}
	if (arguments->argc == arguments->n_strings)
		*word++ = 0;
	*word = 0;
	return top - (uint32_t)arguments_used(arguments);
}
