/* SPDX-License-Identifier: MIT */
/* Field splitting by IFS. */
#include <string.h>

#include "expand.h"
#include "variables.h"

struct splitter {
	struct text field;
	bool has_field;
	bool after_blank; /* A field ended at a blank: a separator here belongs to the same gap. */
	struct list *fields;
};

static void finish(struct splitter *splitter)
{
	glob_field(&splitter->field, splitter->fields);
	text_start(&splitter->field);
	splitter->has_field = false;
}

static void finish_if_any(struct splitter *splitter)
{
	if (splitter->has_field)
		finish(splitter);
}

/* Blanks separate as many as there are; other characters each end a field, even an empty one. */
static void separate(struct splitter *splitter, char separator)
{
	if (strchr(" \t\n", separator) != NULL) {
		splitter->after_blank |= splitter->has_field;
		finish_if_any(splitter);
	} else if (splitter->after_blank) {
		splitter->after_blank = false;
	} else {
		finish(splitter);
	}
}

static void split_one(struct splitter *splitter, char character, enum mark mark,
		      const char *separators)
{
	char text[2] = {character, '\0'};

	if (mark == MARK_BREAK) {
		finish_if_any(splitter);
		splitter->after_blank = false;
	} else if (mark == MARK_EMPTY) {
		splitter->has_field = true;
		splitter->after_blank = false;
	} else if (mark == MARK_SPLIT && strchr(separators, character) != NULL) {
		separate(splitter, character);
	} else {
		text_add(&splitter->field, text, mark);
		splitter->has_field = true;
		splitter->after_blank = false;
	}
}

void split_fields(const struct text *text, struct list *fields)
{
	struct splitter splitter = {.fields = fields};
	const char *separators = variable_separators();

	text_start(&splitter.field);
	for (size_t i = 0; i < text->bytes.used; i++)
		split_one(&splitter, text->bytes.bytes[i], (enum mark)text->marks.bytes[i],
			  separators);
	finish_if_any(&splitter);
}
