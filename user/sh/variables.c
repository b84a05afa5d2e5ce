/* SPDX-License-Identifier: MIT */
/* The table of variables and the frames above it. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "getopts.h"
#include "parser.h"
#include "sh.h"
#include "variables.h"

#define BUCKETS      64
#define NUMBER_ROOM  24
#define DEFAULT_PATH "/bin:/sbin:/usr/bin"

struct variable {
	struct variable *next;
	char *name;
	char *value; /* NULL if it only has flags. */
	unsigned flags;
};

/* What a variable was before it became local. */
struct hidden {
	struct hidden *next;
	char *name;
	char *value;
	unsigned flags;
};

struct frame {
	struct frame *below;
	struct hidden *hidden;
};

static struct variable *buckets[BUCKETS];
static struct frame *frames;

static struct variable **slot_of(const char *name)
{
	unsigned hash = 0;
	struct variable **slot;

	for (const char *character = name; *character != '\0'; character++)
		hash = hash * 31 + (unsigned char)*character;
	slot = &buckets[hash % BUCKETS];
	while (*slot != NULL && strcmp((*slot)->name, name) != 0)
		slot = &(*slot)->next;
	return slot;
}

static struct variable *find_or_create(const char *name)
{
	struct variable **slot = slot_of(name);

	if (*slot == NULL) {
		*slot = heap_allocate(sizeof(**slot));
		(*slot)->name = heap_copy(name);
	}
	return *slot;
}

static void remove_variable(const char *name)
{
	struct variable **slot = slot_of(name);
	struct variable *variable = *slot;

	if (variable == NULL)
		return;
	*slot = variable->next;
	free(variable->name);
	free(variable->value);
	free(variable);
}

const char *variable_get(const char *name)
{
	static char line[NUMBER_ROOM];
	const struct variable *variable = *slot_of(name);

	if (variable == NULL)
		return NULL;
	if (strcmp(name, "LINENO") == 0) {
		snprintf(line, sizeof(line), "%d", shell.line);
		return line;
	}
	return variable->value;
}

static void check_writable(const char *name)
{
	const struct variable *variable = *slot_of(name);

	if (variable != NULL && (variable->flags & VARIABLE_READ_ONLY))
		fail(STATUS_SYNTAX, "%s: is read only", name);
}

void variable_set(const char *name, const char *value)
{
	struct variable *variable;
	char *copy;

	assert(is_name(name));
	check_writable(name);
	variable = find_or_create(name);
	/* The new value may be a part of the old one. */
	copy = heap_copy(value);
	free(variable->value);
	variable->value = copy;
	if (option('a'))
		variable->flags |= VARIABLE_EXPORTED;
	if (strcmp(name, "OPTIND") == 0)
		getopts_reset();
}

void variable_set_number(const char *name, long long value)
{
	char number[NUMBER_ROOM];

	snprintf(number, sizeof(number), "%lld", value);
	variable_set(name, number);
}

void variable_unset(const char *name)
{
	check_writable(name);
	remove_variable(name);
}

void variable_mark(const char *name, enum variable_flag flag)
{
	find_or_create(name)->flags |= flag;
}

static void import(const char *entry)
{
	const char *equals = strchr(entry, '=');
	char *name;

	if (equals == NULL)
		return;
	name = region_copy(&scratch, entry, (size_t)(equals - entry));
	if (!is_name(name))
		return;
	variable_set(name, equals + 1);
	variable_mark(name, VARIABLE_EXPORTED);
}

static void set_default(const char *name, const char *value)
{
	if (variable_get(name) == NULL)
		variable_set(name, value);
}

static void set_directory(void)
{
	char path[4096];

	if (getcwd(path, sizeof(path)) != NULL)
		variable_set("PWD", path);
}

void variables_start(char **environment)
{
	for (; *environment != NULL; environment++)
		import(*environment);
	set_default("PATH", DEFAULT_PATH);
	set_default("PS1", geteuid() == 0 ? "$PWD # " : "$PWD $ ");
	set_default("PS2", "> ");
	set_default("PS4", "+ ");
	variable_set("IFS", " \t\n");
	variable_set("OPTIND", "1");
	variable_set("LINENO", "0");
	variable_set_number("PPID", getppid());
	set_directory();
}

char **variables_environment(void)
{
	struct list list;

	list_start(&list);
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct variable *variable = buckets[i]; variable != NULL;
		     variable = variable->next) {
			struct string entry;

			if (!(variable->flags & VARIABLE_EXPORTED) || variable->value == NULL)
				continue;
			string_start(&entry, &scratch);
			string_add_text(&entry, variable->name);
			string_add(&entry, '=');
			string_add_text(&entry, variable->value);
			list_add(&list, entry.bytes);
		}
	return list.items;
}

/* Between single quotes; one in the text leaves them for a moment. */
static void print_quoted(const char *text)
{
	putchar('\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			fputs("'\\''", stdout);
		else
			putchar(*text);
	}
	putchar('\'');
}

static int by_name(const void *first, const void *second)
{
	return strcmp(*(char *const *)first, *(char *const *)second);
}

static void print_variable(const char *prefix, const struct variable *variable)
{
	printf("%s%s", prefix, variable->name);
	if (variable->value != NULL) {
		putchar('=');
		print_quoted(variable->value);
	}
	putchar('\n');
}

void variables_print(const char *prefix, unsigned flags)
{
	struct list names;

	list_start(&names);
	for (size_t i = 0; i < BUCKETS; i++)
		for (const struct variable *variable = buckets[i]; variable != NULL;
		     variable = variable->next)
			if ((variable->flags & flags) == flags &&
			    (variable->value != NULL || flags != 0))
				list_add(&names, variable->name);
	qsort(names.items, names.used, sizeof(*names.items), by_name);
	for (size_t i = 0; i < names.used; i++)
		print_variable(prefix, *slot_of(names.items[i]));
}

void frame_enter(void)
{
	struct frame *frame = heap_allocate(sizeof(*frame));

	frame->below = frames;
	frames = frame;
}

void variable_make_local(const char *name)
{
	const struct variable *variable = *slot_of(name);
	struct hidden *hidden;

	assert(frames != NULL);
	for (hidden = frames->hidden; hidden != NULL; hidden = hidden->next)
		if (strcmp(hidden->name, name) == 0)
			return;
	hidden = heap_allocate(sizeof(*hidden));
	hidden->name = heap_copy(name);
	if (variable != NULL && variable->value != NULL)
		hidden->value = heap_copy(variable->value);
	hidden->flags = variable != NULL ? variable->flags : 0;
	hidden->next = frames->hidden;
	frames->hidden = hidden;
}

static void show_again(struct hidden *hidden)
{
	struct variable *variable;

	if (hidden->value == NULL && hidden->flags == 0) {
		remove_variable(hidden->name);
	} else {
		variable = find_or_create(hidden->name);
		free(variable->value);
		variable->value = hidden->value;
		variable->flags = hidden->flags;
	}
	free(hidden->name);
	free(hidden);
}

void frame_leave(void)
{
	struct frame *frame = frames;

	assert(frame != NULL);
	while (frame->hidden != NULL) {
		struct hidden *hidden = frame->hidden;

		frame->hidden = hidden->next;
		show_again(hidden);
	}
	frames = frame->below;
	free(frame);
}

void frame_leave_all(void)
{
	while (frames != NULL)
		frame_leave();
}

const char *variable_separators(void)
{
	const char *separators = variable_get("IFS");

	return separators != NULL ? separators : " \t\n";
}
