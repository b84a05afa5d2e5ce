/* SPDX-License-Identifier: MIT */
/*
 * Whose profile a file is: see <prof/whose.h>.
 *
 * Programs are told apart by their names, not by their code: whoever changes a program and runs it
 * again wants the new profile in the place of the old one.  Of two that ran at once neither is old.
 */
#include <prof/whose.h>

#include <errno.h>
#include <fcntl.h>
#include <gmon.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/ux.h>
#include <unistd.h>

#define OF_A_PROCESS   100u /* Profiles that one may have beside each other. */
#define HISTOGRAMS_MAX 256u /* That are passed over; a profile with more is anybody's. */

/* ---------------- Reading ---------------- */

static bool get(int fd, void *to, size_t size)
{
	return read(fd, to, size) == (ssize_t)size;
}

/* What is shown of a name is on a terminal. */
static void make_printable(char *name)
{
	for (; *name != '\0'; name++)
		if (*name < ' ' || *name > '~')
			*name = '?';
}

static bool is_profile(int fd)
{
	struct gmon_header header;

	return get(fd, &header, sizeof header) &&
	       memcmp(header.magic, GMON_MAGIC, sizeof header.magic) == 0 &&
	       header.version == GMON_VERSION;
}

/* To behind the tag of the first record that is no histogram; answers that tag, or -1. */
static int pass_histograms(int fd)
{
	struct gmon_histogram histogram;
	unsigned char tag;

	for (unsigned n = 0; n < HISTOGRAMS_MAX && get(fd, &tag, sizeof tag); n++) {
		if (tag != GMON_TAG_HISTOGRAM)
			return tag;
		if (!get(fd, &histogram, sizeof histogram) || histogram.bins > INT_MAX / 2 ||
		    lseek(fd, (off_t)histogram.bins * 2, SEEK_CUR) < 0)
			return -1;
	}
	return -1;
}

/* The records that say it are the first ones of all that are ours: gmon_file.c. */
static bool read_owner(int fd, struct whose *whose)
{
	struct gmon_arc arc;
	unsigned char tag;

	if (!is_profile(fd) || pass_histograms(fd) != GMON_TAG_ARC || !get(fd, &arc, sizeof arc) ||
	    arc.from != GMON_EXTRA_LABEL_PID)
		return false;
	*whose = (struct whose){.task = arc.self, .pid = arc.count - 1};
	while (get(fd, &tag, sizeof tag) && tag == GMON_TAG_ARC && get(fd, &arc, sizeof arc) &&
	       arc.from >= GMON_EXTRA_LABEL_NAME &&
	       arc.from < GMON_EXTRA_LABEL_NAME + GMON_NAME_ROOM / sizeof arc.count)
		memcpy(whose->name + (arc.from - GMON_EXTRA_LABEL_NAME) * sizeof arc.count,
		       &arc.count, sizeof arc.count);
	whose->name[sizeof whose->name - 1] = '\0';
	make_printable(whose->name);
	return whose->name[0] != '\0';
}

/* False: there is no such profile, or it does not say. */
static bool find_owner(const char *path, struct whose *whose)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	struct stat status;
	bool is_known = fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode) &&
			read_owner(fd, whose);

	if (fd >= 0)
		close(fd);
	return is_known;
}

/* ---------------- Choosing ---------------- */

static uint64_t time_of(const uint32_t words[2])
{
	return (uint64_t)words[1] << 32 | words[0];
}

/*
 * Whether the other was still there when this one began, or was the same process, which has
 * executed itself.  What was long ago is not known, and was before.
 */
static bool ran_at_once(const struct whose *other, const struct whose *own)
{
	struct ux_task_life one, two;

	if (ux_task_life(other->task, &one) != 0 || (uint32_t)one.pid != other->pid ||
	    ux_task_life(own->task, &two) != 0)
		return false;
	return one.state == UX_LIFE_LIVES || one.pid == two.pid ||
	       time_of(one.ended) > time_of(two.begun);
}

static bool is_same_name(const struct whose *one, const struct whose *other)
{
	return strncmp(one->name, other->name, sizeof one->name) == 0;
}

static bool may_replace(const char *path, const struct whose *own, struct whose *other)
{
	if (!find_owner(path, other))
		return true;
	if (other->task == own->task && other->pid == own->pid)
		return true;
	return is_same_name(own, other) && !ran_at_once(other, own);
}

bool prof_whose_choose(const char *usual, const struct whose *own, char *path, struct whose *other)
{
	struct whose next;

	snprintf(path, PATH_MAX, "%s", usual);
	if (may_replace(path, own, other))
		return true;
	snprintf(path, PATH_MAX, "%s.%s", usual, own->name);
	if (!is_same_name(own, other) && may_replace(path, own, &next))
		return false;
	snprintf(path, PATH_MAX, "%s.%u", usual, own->pid);
	/* A process that executes programs of one name again and again is others of its number. */
	for (unsigned n = 2; n < OF_A_PROCESS && !may_replace(path, own, &next); n++)
		snprintf(path, PATH_MAX, "%s.%u.%u", usual, own->pid, n);
	return false;
}

/* ---------------- Placing ---------------- */

#define TRIES 100u /* If others are quicker that often there is something wrong. */

/* Gives the file its only name; EEXIST if there is something already. */
static int name(const char *file, const char *path)
{
	if (link(file, path) != 0)
		return errno;
	unlink(file);
	return 0;
}

/* What has come there meanwhile is put back, and so must be chosen around: EEXIST. */
static int replace(const char *file, const char *path, const struct whose *own)
{
	char aside[PATH_MAX];
	struct stat status;
	struct whose other;
	int error;

	if (lstat(path, &status) == 0 && S_ISDIR(status.st_mode))
		return EISDIR;
	snprintf(aside, sizeof aside, "%s.%u.old~", path, own->pid);
	if (rename(path, aside) != 0)
		return errno == ENOENT ? EEXIST : errno;
	if (!may_replace(aside, own, &other)) {
		name(aside, path);
		return EEXIST;
	}
	error = name(file, path);
	unlink(aside);
	return error;
}

int prof_whose_place(const char *file, const char *usual, const struct whose *own, char *path,
		     struct whose *other, bool *is_beside)
{
	int error = EEXIST;

	for (unsigned n = 0; n < TRIES && error == EEXIST; n++) {
		*is_beside = !prof_whose_choose(usual, own, path, other);
		error = name(file, path);
		if (error == EEXIST)
			error = replace(file, path, own);
	}
	return error;
}
