/* SPDX-License-Identifier: MIT */
/*
 * The files of the trail.
 *
 * One that is being written is called BEGIN.not_terminated, with its time in 14 digits; one that
 * has ended BEGIN.END; one that nobody ended BEGIN.crash_recovery.  So the names in their order are
 * the order of the records, and where one ends another begins.
 *
 * No file begins at a time that another one's name has, or earlier, whatever the clock says: it may
 * have been set back, and the file that ends later would take the other's name, and its place.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "auditd.h"

#define STAMP_DIGITS 14
#define OPEN_END     ".not_terminated"
#define LOST_END     ".crash_recovery"

static char current[PATH_MAX]; /* The file that is written; empty: none. */
static time_t last_stamp;      /* The latest in a name: no other begins then, or earlier. */

/* ---------------- Names ---------------- */

static void trail_stamp(time_t when, char stamp[STAMP_DIGITS + 1])
{
	struct tm date;

	gmtime_r(&when, &date);
	strftime(stamp, STAMP_DIGITS + 1, "%Y%m%d%H%M%S", &date);
}

static time_t trail_time_of(const char *stamp)
{
	struct tm date = {0};

	sscanf(stamp, "%4d%2d%2d%2d%2d%2d", &date.tm_year, &date.tm_mon, &date.tm_mday,
	       &date.tm_hour, &date.tm_min, &date.tm_sec);
	date.tm_year -= 1900;
	date.tm_mon -= 1;
	return timegm(&date);
}

static bool trail_is_stamp(const char *text, char end)
{
	return strspn(text, "0123456789") == STAMP_DIGITS && text[STAMP_DIGITS] == end;
}

static bool trail_is_name(const char *name)
{
	return trail_is_stamp(name, '.');
}

static bool trail_has_no_end(const char *name)
{
	return trail_is_name(name) && strcmp(name + STAMP_DIGITS, OPEN_END) == 0;
}

static void trail_path(char path[PATH_MAX], const char *name)
{
	snprintf(path, PATH_MAX, "%s/%s", control.folder, name);
}

/* Gives a file that had no end one. */
static void trail_close_name(const char *path, const char *end)
{
	char closed[PATH_MAX];
	size_t stem = strlen(path) - strlen(OPEN_END);

	snprintf(closed, sizeof closed, "%.*s%s", (int)stem, path, end);
	if (rename(path, closed) != 0)
		complain("%s: %s", path, strerror(errno));
}

/* ---------------- Going through the folder ---------------- */

static void trail_for_each(void (*visit)(const char *name, void *context), void *context)
{
	DIR *folder = opendir(control.folder);
	const struct dirent *entry;

	if (folder == NULL) {
		complain("%s: %s", control.folder, strerror(errno));
		return;
	}
	while ((entry = readdir(folder)) != NULL) {
		if (trail_is_name(entry->d_name))
			visit(entry->d_name, context);
	}
	closedir(folder);
}

/* At most one in a pass, since names change under who reads them. */
static void trail_find_lost(const char *name, void *context)
{
	char *found = context;

	if (trail_has_no_end(name) && found[0] == '\0') {
		trail_path(found, name);
		if (strcmp(found, current) == 0)
			found[0] = '\0';
	}
}

/* Those that somebody has left without an end: auditd has been killed, or the machine. */
static void trail_close_lost(void)
{
	for (;;) {
		char path[PATH_MAX] = "";

		trail_for_each(trail_find_lost, path);
		if (path[0] == '\0')
			return;
		trail_close_name(path, LOST_END);
	}
}

/* A name has one time, or two, of which the second is the later one. */
static void trail_note_stamp(const char *name, void *context)
{
	const char *end = name + STAMP_DIGITS + 1;
	time_t stamp = trail_time_of(trail_is_stamp(end, '\0') ? end : name);

	(void)context;
	if (stamp > last_stamp)
		last_stamp = stamp;
}

/* Now, or the second behind the latest that a name has. */
static time_t trail_next_time(void)
{
	time_t now = time(NULL);

	return now > last_stamp ? now : last_stamp + 1;
}

/* ---------------- Beginning and end ---------------- */

/* A new file, whose name nobody had; -1 with errno. */
static int trail_make(char path[PATH_MAX], char stamp[STAMP_DIGITS + 1])
{
	char name[STAMP_DIGITS + sizeof OPEN_END];

	trail_for_each(trail_note_stamp, NULL);
	last_stamp = trail_next_time();
	trail_stamp(last_stamp, stamp);
	snprintf(name, sizeof name, "%s%s", stamp, OPEN_END);
	trail_path(path, name);
	return open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IRGRP);
}

/* The name is on the disk before anything is recorded under it. */
static bool trail_change_to(const char *path, int file)
{
	bool is_there = fsync(file) == 0;

	close(file);
	if (is_there && auditctl(path) == 0)
		return true;
	complain("%s: %s", path, strerror(errno));
	unlink(path);
	return false;
}

bool trail_begin(void)
{
	char path[PATH_MAX], end[STAMP_DIGITS + 2] = ".";
	int file = trail_make(path, end + 1);

	if (file < 0) {
		complain("%s: %s", path, strerror(errno));
		return false;
	}
	if (!trail_change_to(path, file))
		return false;
	if (current[0] != '\0')
		trail_close_name(current, end);
	strcpy(current, path);
	trail_close_lost();
	return true;
}

void trail_end(void)
{
	char end[STAMP_DIGITS + 2] = ".";

	if (auditctl("") != 0)
		complain("the trail's end: %s", strerror(errno));
	trail_stamp(trail_next_time(), end + 1);
	if (current[0] != '\0')
		trail_close_name(current, end);
	current[0] = '\0';
}

/* ---------------- Old files ---------------- */

struct survey {
	uint64_t bytes;                    /* Of all that have ended. */
	char oldest[STAMP_DIGITS * 2 + 2]; /* Its name; empty: there is none. */
	time_t modified;
};

static void trail_survey(const char *name, void *context)
{
	struct survey *survey = context;
	char path[PATH_MAX];
	struct stat file;

	trail_path(path, name);
	if (trail_has_no_end(name) || strlen(name) >= sizeof survey->oldest ||
	    stat(path, &file) != 0)
		return;
	survey->bytes += (uint64_t)file.st_size;
	if (survey->oldest[0] == '\0' || strcmp(name, survey->oldest) < 0) {
		strcpy(survey->oldest, name);
		survey->modified = file.st_mtime;
	}
}

static bool trail_is_too_much(const struct survey *survey)
{
	return (control.expire_size != 0 && survey->bytes > control.expire_size) ||
	       (control.expire_age != 0 &&
		survey->modified + (time_t)control.expire_age < time(NULL));
}

void trail_expire(void)
{
	for (;;) {
		struct survey survey = {0};
		char path[PATH_MAX];

		trail_for_each(trail_survey, &survey);
		if (survey.oldest[0] == '\0' || !trail_is_too_much(&survey))
			return;
		trail_path(path, survey.oldest);
		if (unlink(path) != 0) {
			complain("%s: %s", path, strerror(errno));
			return;
		}
	}
}
