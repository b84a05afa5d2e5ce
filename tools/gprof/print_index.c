/* SPDX-License-Identifier: MIT */
/* The index: the entries' numbers by the functions' names, in three columns. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "print.h"
#include "util.h"

#define COLUMNS 3u
#define WIDTH   26u
#define NUMBER  8u /* Of an entry, in brackets. */

struct item {
	const char *name; /* NULL: a cycle. */
	uint32_t cycle;
	uint32_t index;
	bool is_hidden;
};

static int index_compare(const void *first, const void *second)
{
	const struct item *one = first;
	const struct item *other = second;

	if (one->name == NULL || other->name == NULL)
		return one->name == other->name
			       ? (one->cycle > other->cycle) - (one->cycle < other->cycle)
			       : (one->name == NULL) - (other->name == NULL);
	if (strcmp(one->name, other->name) != 0)
		return strcmp(one->name, other->name);
	return (one->index > other->index) - (one->index < other->index);
}

static struct item index_item_of(const struct graph *graph, const struct entry *entry)
{
	if (entry->is_cycle)
		return (struct item){
			.cycle = graph->components[entry->id].cycle,
			.index = graph->components[entry->id].index,
			.is_hidden = entry->is_hidden,
		};
	return (struct item){
		.name = graph->nodes[entry->id].name,
		.index = graph->nodes[entry->id].index,
		.is_hidden = entry->is_hidden,
	};
}

static const char *index_name_of(const struct item *item, char *text, size_t size)
{
	if (item->name != NULL)
		return item->name;
	snprintf(text, size, "<cycle %" PRIu32 ">", item->cycle);
	return text;
}

static void print_item(struct text *text, const struct item *item, size_t width, bool is_last)
{
	char number[16];
	char cycle[24];

	snprintf(number, sizeof(number), item->is_hidden ? "(%" PRIu32 ")" : "[%" PRIu32 "]",
		 item->index);
	text_right(text, number, NUMBER);
	text_blank(text, 1);
	text_left(text, index_name_of(item, cycle, sizeof(cycle)), is_last ? 0 : width);
	if (is_last)
		text_end_line(text);
}

/* The longest name with a blank behind it. */
static size_t index_longest(const struct item *items, size_t n)
{
	char cycle[24];
	size_t most = 0;

	for (size_t i = 0; i < n; i++) {
		size_t length = strlen(index_name_of(&items[i], cycle, sizeof(cycle)));

		most = length > most ? length : most;
	}
	return most + 1;
}

void print_index(const struct report *report, const struct entries *entries)
{
	struct item *items = allocate(entries->n, sizeof(*items));
	size_t columns = COLUMNS, width = WIDTH, rows;

	for (size_t i = 0; i < entries->n; i++)
		items[i] = index_item_of(report->graph, &entries->items[i]);
	sort(items, entries->n, sizeof(*items), index_compare);
	if (report->options->width > 0) {
		width = index_longest(items, entries->n);
		columns = (report->options->width + 1) / (NUMBER + 1 + width);
		columns = columns > 0 ? columns : 1;
	}
	rows = (entries->n + columns - 1) / columns;
	printf("Index by function name\n\n");
	for (size_t row = 0; row < rows; row++)
		for (size_t at = row; at < entries->n; at += rows)
			print_item(report->text, &items[at], width, at + rows >= entries->n);
	text_write(report->text);
	free(items);
}
