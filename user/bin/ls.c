/* SPDX-License-Identifier: MIT */
/* ls: lists files and directories. */
#include <dirent.h>
#include <errno.h>
#include <grp.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE     "ls [-1adilR] [FILE...]"
#define COLUMNS   80
#define TIME_ROOM 32

struct entry {
	char *name; /* As it is shown, */
	char *path; /* and as it is found. */
	struct stat status;
};

struct listing {
	struct entry *entries;
	size_t count;
	size_t room;
};

static bool shows_all, shows_directories, shows_numbers, is_long, is_recursive, in_columns;
static int exit_status;

static void add_entry(struct listing *listing, char *name, char *path, const struct stat *status)
{
	if (listing->count == listing->room) {
		listing->room = 2 * listing->room + 16;
		listing->entries =
			reallocate(listing->entries, listing->room * sizeof(*listing->entries));
	}
	listing->entries[listing->count++] = (struct entry){name, path, *status};
}

static void free_listing(struct listing *listing)
{
	for (size_t i = 0; i < listing->count; i++) {
		free(listing->entries[i].name);
		free(listing->entries[i].path);
	}
	free(listing->entries);
	*listing = (struct listing){0};
}

static int by_name(const void *first, const void *second)
{
	const struct entry *one = first;
	const struct entry *other = second;

	return strcmp(one->name, other->name);
}

static void print_user(uid_t uid)
{
	const struct passwd *user = getpwuid(uid);

	if (user != NULL)
		printf(" %-8s", user->pw_name);
	else
		printf(" %-8lu", (unsigned long)uid);
}

static void print_group(gid_t gid)
{
	const struct group *group = getgrgid(gid);

	if (group != NULL)
		printf(" %-8s", group->gr_name);
	else
		printf(" %-8lu", (unsigned long)gid);
}

static void print_size(const struct stat *status)
{
	if (S_ISCHR(status->st_mode) || S_ISBLK(status->st_mode))
		printf(" %4u,%4u", major(status->st_rdev), minor(status->st_rdev));
	else
		printf(" %9lld", (long long)status->st_size);
}

/* Where a symbolic link leads. */
static void print_link(const struct entry *entry)
{
	char text[PATH_MAX];
	ssize_t length;

	if (!S_ISLNK(entry->status.st_mode))
		return;
	length = readlink(entry->path, text, sizeof(text));
	if (length > 0)
		printf(" -> %.*s", (int)length, text);
}

static void print_long(const struct entry *entry)
{
	char mode[MODE_ROOM];
	char when[TIME_ROOM] = "?";
	time_t modified = entry->status.st_mtime;
	const struct tm *broken = gmtime(&modified);

	mode_format(entry->status.st_mode, mode);
	if (broken != NULL && strftime(when, sizeof(when), "%Y-%m-%d %H:%M", broken) == 0)
		when[0] = '\0';
	printf("%s %3lu", mode, (unsigned long)entry->status.st_nlink);
	print_user(entry->status.st_uid);
	print_group(entry->status.st_gid);
	print_size(&entry->status);
	printf(" %s %s", when, entry->name);
	print_link(entry);
	putchar('\n');
}

static void print_columns(const struct listing *listing)
{
	size_t width = 0;
	size_t columns, rows;

	for (size_t i = 0; i < listing->count; i++)
		if (strlen(listing->entries[i].name) > width)
			width = strlen(listing->entries[i].name);
	width += 2;
	columns = width < COLUMNS ? COLUMNS / width : 1;
	rows = (listing->count + columns - 1) / columns;
	for (size_t row = 0; row < rows; row++) {
		for (size_t i = row; i < listing->count; i += rows)
			printf("%-*s", i + rows < listing->count ? (int)width : 0,
			       listing->entries[i].name);
		putchar('\n');
	}
}

static void print_listing(struct listing *listing)
{
	if (listing->count > 0)
		qsort(listing->entries, listing->count, sizeof(*listing->entries), by_name);
	if (in_columns && !is_long && !shows_numbers) {
		print_columns(listing);
		return;
	}
	for (size_t i = 0; i < listing->count; i++) {
		const struct entry *entry = &listing->entries[i];

		if (shows_numbers)
			printf("%7llu ", (unsigned long long)entry->status.st_ino);
		if (is_long)
			print_long(entry);
		else
			puts(entry->name);
	}
}

static void fail(const char *path)
{
	report_errno(path);
	exit_status = 1;
}

static void read_directory(const char *path, struct listing *listing)
{
	DIR *directory = opendir(path);
	const struct dirent *found;
	struct stat status;

	if (directory == NULL) {
		fail(path);
		return;
	}
	while ((found = readdir(directory)) != NULL) {
		char *whole;

		if (found->d_name[0] == '.' && !shows_all)
			continue;
		whole = path_join(path, found->d_name);
		if (lstat(whole, &status) == 0) {
			add_entry(listing, copy_text(found->d_name), whole, &status);
		} else {
			fail(whole);
			free(whole);
		}
	}
	closedir(directory);
}

static bool is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

static void list_directory(const char *path, bool with_title)
{
	static bool is_later;
	struct listing listing = {0};

	if (with_title)
		printf("%s%s:\n", is_later ? "\n" : "", path);
	is_later = true;
	read_directory(path, &listing);
	print_listing(&listing);
	for (size_t i = 0; is_recursive && i < listing.count; i++)
		if (S_ISDIR(listing.entries[i].status.st_mode) && !is_dots(listing.entries[i].name))
			list_directory(listing.entries[i].path, true);
	free_listing(&listing);
}

/* Files that were named come first, then what is in the directories. */
static void list_all(int count, char **names)
{
	struct listing files = {0}, directories = {0};

	for (int i = 0; i < count; i++) {
		struct stat status;

		if (stat(names[i], &status) != 0 && lstat(names[i], &status) != 0)
			fail(names[i]);
		else
			add_entry(S_ISDIR(status.st_mode) && !shows_directories ? &directories
										: &files,
				  copy_text(names[i]), copy_text(names[i]), &status);
	}
	print_listing(&files);
	if (files.count > 0 && directories.count > 0)
		putchar('\n');
	if (directories.count > 0)
		qsort(directories.entries, directories.count, sizeof(*directories.entries),
		      by_name);
	for (size_t i = 0; i < directories.count; i++)
		list_directory(directories.entries[i].path, count > 1 || is_recursive);
	free_listing(&files);
	free_listing(&directories);
}

static void read_options(int count, char **arguments)
{
	int option;

	in_columns = isatty(STDOUT_FILENO);
	while ((option = getopt(count, arguments, "1adilR")) != -1) {
		if (option == '?')
			usage(USAGE);
		shows_all |= option == 'a';
		shows_directories |= option == 'd';
		shows_numbers |= option == 'i';
		is_long |= option == 'l';
		is_recursive |= option == 'R';
		in_columns &= option != '1';
	}
}

int main(int count, char **arguments)
{
	static char *here[] = {"."};

	program_start(arguments);
	read_options(count, arguments);
	if (optind < count)
		list_all(count - optind, arguments + optind);
	else
		list_all(1, here);
	return program_end(exit_status);
}
