/* SPDX-License-Identifier: MIT */
/* Events by number and name: /etc/security/audit_event. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

static struct bsm_event *events;
static size_t n_events, room;
static bool is_loaded;

/* `fr,cl`: of several classes. */
static bool events_read_classes(const char *text, au_class_t *all)
{
	*all = 0;
	while (*text != '\0') {
		size_t length = strcspn(text, ",");
		au_class_t bits;

		if (!classes_find(text, length, &bits))
			return false;
		*all |= bits;
		text += length;
		text += *text == ',';
	}
	return true;
}

static bool events_have_room(void)
{
	struct bsm_event *larger;

	if (n_events < room)
		return true;
	larger = reallocarray(events, room + 128, sizeof *events);
	if (larger == NULL)
		return bsm_fail("no memory");
	events = larger;
	room += 128;
	return true;
}

/* 72:AUE_OPEN_R:open(2) - read:fr */
static bool events_take(char *words[BSM_WORDS], int n, void *context)
{
	struct bsm_event event = {0};
	char *end;

	(void)context;
	if (n < 4)
		return bsm_fail("an event is NUMBER:NAME:DESCRIPTION:CLASSES");
	event.number = (uint32_t)strtoul(words[0], &end, 10);
	if (end == words[0] || *end != '\0')
		return bsm_fail("%s is no number", words[0]);
	if (!events_read_classes(words[3], &event.classes) || !events_have_room())
		return false;
	event.name = strdup(words[1]);
	event.description = strdup(words[2]);
	if (event.name == NULL || event.description == NULL)
		return bsm_fail("no memory");
	events[n_events++] = event;
	return true;
}

bool bsm_load(void)
{
	if (!is_loaded)
		is_loaded = classes_load() &&
			    bsm_read_lines(AUDIT_FOLDER "audit_event", events_take, NULL);
	return is_loaded;
}

const struct bsm_event *bsm_events(size_t *count)
{
	*count = n_events;
	return events;
}

const struct bsm_event *bsm_event_by_number(uint32_t number)
{
	for (size_t n = 0; n < n_events; n++) {
		if (events[n].number == number)
			return &events[n];
	}
	return NULL;
}

const struct bsm_event *bsm_event_by_name(const char *name)
{
	for (size_t n = 0; n < n_events; n++) {
		if (strcmp(events[n].name, name) == 0)
			return &events[n];
	}
	return NULL;
}
