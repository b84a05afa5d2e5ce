/* SPDX-License-Identifier: MIT */
/* Names of files: links, renaming and removing, folders and what is in them, the current one. */
#include <dirent.h>
#include <limits.h>

#include "help.h"

#define D "/tmp/names.d"

/* Each test works in a folder of its own, which it leaves empty. */
static bool begin(void)
{
	return mkdir(D, 0755) == 0 && chdir(D) == 0;
}

static void end(void)
{
	CHECK_EQ(chdir("/"), 0);
	CHECK_EQ(rmdir(D), 0);
}

static unsigned links_of(const char *path)
{
	struct stat status = {.st_nlink = 0};

	stat(path, &status);
	return status.st_nlink;
}

TRY(a_file_with_two_names)
{
	NEED(begin() && make_text("a", "text", 0644));
	CHECK_EQ(link("a", "b"), 0);
	CHECK_EQ(links_of("a"), 2);
	CHECK_FAILS(link("a", "b"), EEXIST);
	CHECK_FAILS(link("nothing", "c"), ENOENT);
	CHECK_FAILS(link("/tmp", "c"), EPERM);
	CHECK_FAILS(link("a", "a/c"), ENOTDIR);
	CHECK_FAILS(link("a", "nothing/c"), ENOENT);
	CHECK_EQ(unlink("a"), 0);
	CHECK_EQ(links_of("b"), 1);
	CHECK_EQ(size_of("b"), 4);
	CHECK_EQ(unlink("b"), 0);
	CHECK_FAILS(unlink("b"), ENOENT);
	CHECK_FAILS(unlink(D), EPERM);
	CHECK_FAILS(unlink("."), EPERM);
	end();
}

TRY(a_file_without_a_name)
{
	struct stat status;
	char bytes[8] = "";
	int fd;

	NEED(begin());
	fd = open("a", O_RDWR | O_CREAT, 0600);
	CHECK_EQ(write(fd, "before", 6), 6);
	CHECK_EQ(unlink("a"), 0);
	CHECK_EQ(fstat(fd, &status), 0);
	CHECK_EQ(status.st_nlink, 0);
	CHECK_EQ(write(fd, "!", 1), 1);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(read(fd, bytes, sizeof bytes), 7);
	CHECK(strcmp(bytes, "before!") == 0);
	CHECK_FAILS(open("a", O_RDONLY), ENOENT);
	CHECK_EQ(close(fd), 0);
	end();
}

TRY(files_get_other_names)
{
	NEED(begin() && make_text("a", "aa", 0644) && make_text("b", "bbb", 0644));
	NEED(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
	CHECK_EQ(rename("a", "c"), 0);
	CHECK(size_of("a") == -1 && size_of("c") == 2);
	CHECK_EQ(rename("c", "b"), 0);
	CHECK(size_of("c") == -1 && size_of("b") == 2);
	CHECK_EQ(rename("b", "b"), 0);
	CHECK_EQ(size_of("b"), 2);
	CHECK_EQ(rename("b", "d/b"), 0);
	CHECK_EQ(size_of("d/b"), 2);
	CHECK_FAILS(rename("nothing", "x"), ENOENT);
	CHECK_FAILS(rename("d/b", "nothing/x"), ENOENT);
	CHECK_FAILS(rename("d/b", "e"), EISDIR);
	CHECK_FAILS(rename("e", "d/b"), ENOTDIR);
	CHECK_FAILS(rename("e", "d"), ENOTEMPTY);
	CHECK_FAILS(rename("d", "d/x"), EINVAL);
	CHECK_FAILS(rename(".", "x"), EINVAL);
	CHECK_EQ(rename("d", "e"), 0);
	CHECK_EQ(size_of("e/b"), 2);
	CHECK(size_of("d") == -1);
	CHECK_EQ(unlink("e/b"), 0);
	CHECK_EQ(rmdir("e"), 0);
	end();
}

/* Two names of one file: both stay, as nothing is to be done. */
TRY(a_file_renamed_to_itself)
{
	NEED(begin() && make_text("a", "aa", 0644) && link("a", "b") == 0);
	CHECK_EQ(rename("a", "b"), 0);
	CHECK_EQ(links_of("a"), 2);
	CHECK_EQ(links_of("b"), 2);
	unlink("a");
	unlink("b");
	end();
}

TRY(folders_come_and_go)
{
	char path[PATH_MAX];

	NEED(begin());
	CHECK_EQ(links_of("."), 2);
	CHECK_EQ(mkdir("d", 0755), 0);
	CHECK_EQ(mkdir("d/e/", 0755), 0);
	CHECK_EQ(links_of("."), 3);
	CHECK_EQ(links_of("d"), 3);
	CHECK_FAILS(mkdir("d", 0755), EEXIST);
	CHECK_FAILS(mkdir("/", 0755), EEXIST);
	CHECK_FAILS(mkdir(".", 0755), EEXIST);
	CHECK_FAILS(mkdir("x/y", 0755), ENOENT);
	CHECK_FAILS(rmdir("d"), ENOTEMPTY);
	CHECK_FAILS(rmdir("nothing"), ENOENT);
	CHECK_FAILS(rmdir("/"), EBUSY);
	CHECK_FAILS(rmdir("d/e/."), EINVAL);
	CHECK_FAILS(rmdir("d/e/.."), ENOTEMPTY);
	CHECK_FAILS(rmdir("/etc/passwd"), getuid() == 0 ? ENOTDIR : EACCES);
	CHECK_EQ(rename("d/e", "f"), 0);
	CHECK_EQ(links_of("d"), 2);
	CHECK_EQ(chdir("f"), 0);
	CHECK(getcwd(path, sizeof path) != NULL && strcmp(path, D "/f") == 0);
	CHECK_EQ(chdir("../d"), 0);
	CHECK(getcwd(path, sizeof path) != NULL && strcmp(path, D "/d") == 0);
	CHECK_EQ(chdir(".."), 0);
	CHECK_EQ(rmdir("f"), 0);
	CHECK_EQ(rmdir("d"), 0);
	end();
}

/* A folder in which somebody is can be removed.  It stays, but nothing comes into it any more. */
TRY(a_folder_that_is_gone)
{
	char path[PATH_MAX];

	NEED(begin());
	CHECK_EQ(mkdir("d", 0755), 0);
	CHECK_EQ(chdir("d"), 0);
	CHECK_EQ(rmdir("../d"), 0);
	CHECK_FAILS(open("x", O_RDWR | O_CREAT, 0600), ENOENT);
	CHECK_FAILS(mkdir("x", 0700), ENOENT);
	CHECK(getcwd(path, sizeof path) == NULL && errno == ENOENT);
	end();
}

TRY(where_one_is)
{
	char path[PATH_MAX];

	CHECK_EQ(chdir("/"), 0);
	CHECK(getcwd(path, sizeof path) != NULL && strcmp(path, "/") == 0);
	CHECK(getcwd(path, 2) != NULL);
	CHECK(getcwd(path, 1) == NULL && errno == ERANGE);
	CHECK_EQ(chdir("../../tmp"), 0);
	CHECK(getcwd(path, sizeof path) != NULL && strcmp(path, "/tmp") == 0);
	CHECK_FAILS(chdir("/etc/passwd"), ENOTDIR);
	CHECK_FAILS(chdir("/nothing"), ENOENT);
	CHECK_FAILS(chdir(""), ENOENT);
}

/* Deeper than a path is long, step by step. */
TRY(deeper_than_a_path_is_long)
{
	enum {
		DEPTH = 6
	};
	static char name[NAME_MAX - 4];
	static char path[2 * PATH_MAX];

	NEED(begin());
	memset(name, 'd', sizeof name - 1);
	for (int n = 0; n < DEPTH; n++)
		NEED(mkdir(name, 0755) == 0 && chdir(name) == 0);
	CHECK(getcwd(path, sizeof path) == NULL && (errno == ENAMETOOLONG || errno == ERANGE));
	CHECK(make_text("x", "xx", 0600) && size_of("x") == 2 && unlink("x") == 0);
	for (int n = 0; n < DEPTH; n++)
		NEED(chdir("..") == 0 && rmdir(name) == 0);
	end();
}

enum {
	MANY = 300
};

static void name_of(int n, char *name)
{
	snprintf(name, 60, "%d.%.*s", n, n % 40, "a name that may be of one length or another");
}

/* Each entry once, with its type; also while those that have been seen are removed. */
TRY(folders_of_many_entries)
{
	static bool seen[MANY];
	int n_dots = 0, n_seen = 0;
	struct dirent *entry;
	char name[60];
	DIR *directory;

	NEED(begin());
	for (int n = 0; n < MANY; n++) {
		name_of(n, name);
		NEED(make_text(name, "", 0600));
	}
	directory = opendir(".");
	NEED(directory != NULL);
	while ((entry = readdir(directory)) != NULL) {
		int n = atoi(entry->d_name);

		if (entry->d_name[0] == '.') {
			CHECK_EQ(entry->d_type, DT_DIR);
			n_dots++;
			continue;
		}
		name_of(n, name);
		CHECK(strcmp(name, entry->d_name) == 0 && !seen[n]);
		CHECK_EQ(entry->d_type, DT_REG);
		CHECK_EQ(entry->d_namlen, strlen(name));
		seen[n] = true;
		n_seen++;
		CHECK_EQ(unlink(name), 0);
	}
	CHECK(n_dots == 2 && n_seen == MANY);
	rewinddir(directory);
	CHECK(readdir(directory) != NULL && readdir(directory) != NULL);
	CHECK(readdir(directory) == NULL);
	CHECK_EQ(closedir(directory), 0);
	CHECK(opendir("/etc/passwd") == NULL && errno == ENOTDIR);
	CHECK(opendir("nothing") == NULL && errno == ENOENT);
	end();
}

/* ---------------- Links that are texts, and pipes with names ---------------- */

static bool leads(const char *link, const char *expected)
{
	char text[PATH_MAX];
	ssize_t length = readlink(link, text, sizeof text);

	return length == (ssize_t)strlen(expected) && memcmp(text, expected, length) == 0;
}

TRY(symbolic_links)
{
	struct stat status;
	char text[4];

	NEED(begin() && make_text("a", "text", 0644));
	CHECK_EQ(symlink("a", "b"), 0);
	CHECK(leads("b", "a"));
	CHECK_EQ(size_of("b"), 4);
	CHECK_EQ(lstat("b", &status), 0);
	CHECK(S_ISLNK(status.st_mode) && status.st_size == 1);
	CHECK_FAILS(symlink("a", "b"), EEXIST);
	CHECK_FAILS(symlink("", "c"), ENOENT);
	CHECK_FAILS(symlink("a", "nothing/c"), ENOENT);
	CHECK_FAILS(symlink((char *)8, "c"), EFAULT);
	CHECK_FAILS(readlink("a", text, sizeof text), EINVAL);
	CHECK_FAILS(readlink("nothing", text, sizeof text), ENOENT);
	CHECK_FAILS(readlink("b", (char *)8, sizeof text), EFAULT);
	CHECK_FAILS(open("b", O_RDONLY | O_NOFOLLOW), ELOOP);
	CHECK_EQ(unlink("a"), 0);
	CHECK_EQ(size_of("b"), -1);
	CHECK_EQ(unlink("b"), 0);
	end();
}

/* From 60 bytes on the text has a block of its own. */
TRY(symbolic_links_of_all_lengths)
{
	static const size_t lengths[] = {1, 59, 60, 61, PATH_MAX - 1};
	char text[PATH_MAX + 1], cut[10];

	NEED(begin());
	for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
		memset(text, 'x', lengths[n]);
		text[lengths[n]] = '\0';
		CHECK_EQ(symlink(text, "link"), 0);
		CHECK(leads("link", text));
		CHECK_EQ(readlink("link", cut, sizeof cut),
			 lengths[n] < sizeof cut ? lengths[n] : sizeof cut);
		CHECK_EQ(unlink("link"), 0);
	}
	memset(text, 'x', PATH_MAX);
	text[PATH_MAX] = '\0';
	CHECK_FAILS(symlink(text, "link"), ENAMETOOLONG);
	end();
}

TRY(links_on_the_way)
{
	NEED(begin() && mkdir("folder", 0755) == 0 && make_text("folder/a", "text", 0644));
	CHECK_EQ(symlink("folder", "way"), 0);
	CHECK_EQ(symlink(D "/way/a", "far"), 0);
	CHECK_EQ(symlink("round", "round"), 0);
	CHECK_EQ(size_of("way/a"), 4);
	CHECK_EQ(size_of("far"), 4);
	CHECK_FAILS(open("round", O_RDONLY), ELOOP);
	CHECK_EQ(unlink("round") + unlink("far") + unlink("way"), 0);
	CHECK_EQ(size_of("folder/a"), 4);
	CHECK_EQ(unlink("folder/a") + rmdir("folder"), 0);
	end();
}

TRY(pipes_with_names)
{
	struct stat status;
	char byte = 0;
	pid_t pid;

	NEED(begin());
	CHECK_EQ(mkfifo("pipe", 0644), 0);
	CHECK_EQ(stat("pipe", &status), 0);
	CHECK(S_ISFIFO(status.st_mode) && (status.st_mode & 0777) == 0644);
	CHECK_FAILS(mkfifo("pipe", 0644), EEXIST);
	pid = fork();
	if (pid == 0)
		_exit(write(open("pipe", O_WRONLY), "x", 1) != 1);
	CHECK_EQ(read(open("pipe", O_RDONLY), &byte, 1), 1);
	CHECK_EQ(byte, 'x');
	CHECK_EQ(status_of(pid), 0);
	CHECK_EQ(unlink("pipe"), 0);
	end();
}
