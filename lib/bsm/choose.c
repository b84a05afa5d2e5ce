/* SPDX-License-Identifier: MIT */
/* Choosing records: what auditreduce asks of each. */
#include <string.h>

#include "bsm.h"

/* What is looked at of a record. */
struct seen {
	uint32_t seconds;
	uint16_t event;
	bool has_subject, has_failed, has_path;
	struct bsm_process subject;
};

/* ---------------- Paths ---------------- */

/* What is between two slashes of a path, or behind the last one. */
struct part {
	const char *text;
	size_t length;
};

/* The part before `end`, which moves to where that begins; false: there is none. */
static bool path_part_before(const char *path, const char **end, struct part *part)
{
	while (*end > path && (*end)[-1] == '/')
		--*end;
	part->text = *end;
	while (part->text > path && part->text[-1] != '/')
		part->text--;
	part->length = (size_t)(*end - part->text);
	*end = part->text;
	return part->length > 0;
}

static bool part_is(const struct part *part, const char *text)
{
	return part->length == strlen(text) && memcmp(part->text, text, part->length) == 0;
}

/*
 * The same, of those parts that say something: no dot, and neither two dots nor the part that they
 * take back.
 */
static bool path_name_before(const char *path, const char **end, struct part *part)
{
	size_t taken_back = 0;

	while (path_part_before(path, end, part)) {
		if (part_is(part, ".."))
			taken_back++;
		else if (part_is(part, "."))
			continue;
		else if (taken_back == 0)
			return true;
		else
			taken_back--;
	}
	return false;
}

static size_t path_names(const char *path)
{
	const char *end = path + strlen(path);
	struct part part;
	size_t n = 0;

	while (path_name_before(path, &end, &part))
		n++;
	return n;
}

/*
 * Whether it is that path, or one below it.  A program can write a path in many ways: /a//b,
 * /a/./b, /a/c/../b.
 */
static bool path_is_within(const char *path, const char *above)
{
	const char *end = path + strlen(path), *end_above = above + strlen(above);
	size_t n = path_names(path), n_above = path_names(above);
	struct part one, other;

	if (path[0] != '/' || n < n_above)
		return false;
	for (; n > n_above; n--)
		path_name_before(path, &end, &one);
	while (path_name_before(above, &end_above, &other)) {
		if (!path_name_before(path, &end, &one) || one.length != other.length ||
		    memcmp(one.text, other.text, one.length) != 0)
			return false;
	}
	return true;
}

/* ---------------- Records ---------------- */

static void look_at_token(const struct bsm_choice *wanted, const struct bsm_token *token,
			  struct seen *seen)
{
	switch (token->type) {
	case AUT_HEADER32:
		seen->seconds = token->header.seconds;
		seen->event = token->header.event;
		break;
	case AUT_SUBJECT32:
		seen->has_subject = true;
		seen->subject = token->process;
		break;
	case AUT_RETURN32:
		seen->has_failed = token->result.error != 0;
		break;
	case AUT_PATH:
		seen->has_path |= wanted->path != NULL && path_is_within(token->text, wanted->path);
		break;
	default:
		break;
	}
}

static bool is_wanted_event(const struct bsm_choice *wanted, uint16_t event)
{
	for (unsigned n = 0; n < wanted->n_events; n++) {
		if (wanted->events[n] == event)
			return true;
	}
	return wanted->n_events == 0;
}

static bool is_wanted_class(const struct bsm_choice *wanted, const struct seen *seen)
{
	const struct bsm_event *event = bsm_event_by_number(seen->event);
	au_class_t classes = event != NULL ? event->classes : 0;

	return (classes &
		(seen->has_failed ? wanted->flags.am_failure : wanted->flags.am_success)) != 0;
}

static bool is_wanted_subject(const struct bsm_choice *wanted, const struct seen *seen)
{
	const struct bsm_process *who = &seen->subject;

	if (wanted->has_auid || wanted->has_euid || wanted->has_ruid || wanted->has_egid ||
	    wanted->has_rgid || wanted->has_pid) {
		if (!seen->has_subject)
			return false;
	}
	return (!wanted->has_auid || who->auid == wanted->auid) &&
	       (!wanted->has_euid || who->euid == wanted->euid) &&
	       (!wanted->has_ruid || who->ruid == wanted->ruid) &&
	       (!wanted->has_egid || who->egid == wanted->egid) &&
	       (!wanted->has_rgid || who->rgid == wanted->rgid) &&
	       (!wanted->has_pid || who->pid == wanted->pid);
}

bool bsm_is_chosen(const struct bsm_choice *wanted, const struct bsm_record *record)
{
	struct bsm_cursor cursor = record->tokens;
	struct bsm_token token;
	struct seen seen = {0};
	bool is_wanted;

	while (bsm_next_token(&cursor, &token))
		look_at_token(wanted, &token, &seen);
	is_wanted = (!wanted->has_after || (time_t)seen.seconds >= wanted->after) &&
		    (!wanted->has_before || (time_t)seen.seconds < wanted->before) &&
		    is_wanted_event(wanted, seen.event) &&
		    (!wanted->has_flags || is_wanted_class(wanted, &seen)) &&
		    is_wanted_subject(wanted, &seen) && (wanted->path == NULL || seen.has_path);
	return is_wanted != wanted->is_inverted;
}
