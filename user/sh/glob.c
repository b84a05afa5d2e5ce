/* SPDX-License-Identifier: MIT */
/* Names of files for a pattern, one directory of the path after the other. */
#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "expand.h"
#include "sh.h"

static struct text piece_of(const struct text *text, size_t start, size_t end)
{
	struct text piece;

	text_start(&piece);
	string_add_bytes(&piece.bytes, text->bytes.bytes + start, end - start);
	string_add_bytes(&piece.marks, text->marks.bytes + start, end - start);
	return piece;
}

static char *join(const char *path, const char *name, size_t length)
{
	struct string joined;

	string_start(&joined, &scratch);
	string_add_text(&joined, path);
	string_add_bytes(&joined, name, length);
	return joined.bytes;
}

static size_t find_slash(const struct text *text, size_t from)
{
	while (from < text->bytes.used && text->bytes.bytes[from] != '/')
		from++;
	return from;
}

static void walk(const struct text *text, size_t from, const char *path, struct list *found);

/* Goes on behind the component that ended here, with the path so far. */
static void walk_behind(const struct text *text, size_t end, char *path, struct list *found)
{
	struct stat status;
	size_t next = end;

	if (end == text->bytes.used) {
		if (lstat(path, &status) == 0)
			list_add(found, path);
		return;
	}
	while (next < text->bytes.used && text->bytes.bytes[next] == '/')
		next++;
	walk(text, next, join(path, text->bytes.bytes + end, next - end), found);
}

static void walk_directory(const struct text *text, const struct text *piece, size_t end,
			   const char *path, struct list *found)
{
	DIR *directory = opendir(*path != '\0' ? path : ".");
	const struct dirent *entry;

	if (directory == NULL)
		return;
	while ((entry = readdir(directory)) != NULL) {
		const char *name = entry->d_name;

		if (*name == '.' && piece->bytes.bytes[0] != '.')
			continue;
		if (pattern_matches(piece, name, strlen(name)))
			walk_behind(text, end, join(path, name, strlen(name)), found);
	}
	closedir(directory);
}

static void walk(const struct text *text, size_t from, const char *path, struct list *found)
{
	size_t end = find_slash(text, from);
	struct text piece = piece_of(text, from, end);

	if (piece.bytes.used == 0 && end == text->bytes.used) {
		walk_behind(text, end, join(path, "", 0), found);
		return;
	}
	if (pattern_is_active(&piece))
		walk_directory(text, &piece, end, path, found);
	else
		walk_behind(text, end, join(path, piece.bytes.bytes, piece.bytes.used), found);
}

static int by_name(const void *first, const void *second)
{
	return strcmp(*(char *const *)first, *(char *const *)second);
}

void glob_field(const struct text *text, struct list *fields)
{
	struct list found;

	if (option('f') || !pattern_is_active(text)) {
		list_add(fields, text_flatten(text));
		return;
	}
	list_start(&found);
	walk(text, 0, "", &found);
	qsort(found.items, found.used, sizeof(*found.items), by_name);
	for (size_t i = 0; i < found.used; i++)
		list_add(fields, found.items[i]);
	if (found.used == 0)
		list_add(fields, text_flatten(text));
}
