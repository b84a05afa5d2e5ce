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
	EXPECT_EQ(chdir("/"), 0);
	EXPECT_EQ(rmdir(D), 0);
}

static unsigned links_of(const char *path)
{
	struct stat status = {.st_nlink = 0};

	stat(path, &status);
	return status.st_nlink;
}

TEST(a_file_with_two_names)
{
	REQUIRE(begin() && make_text("a", "text", 0644));
	EXPECT_EQ(link("a", "b"), 0);
	EXPECT_EQ(links_of("a"), 2);
	EXPECT_FAILS(link("a", "b"), EEXIST);
	EXPECT_FAILS(link("nothing", "c"), ENOENT);
	EXPECT_FAILS(link("/tmp", "c"), EPERM);
	EXPECT_FAILS(link("a", "a/c"), ENOTDIR);
	EXPECT_FAILS(link("a", "nothing/c"), ENOENT);
	EXPECT_EQ(unlink("a"), 0);
	EXPECT_EQ(links_of("b"), 1);
	EXPECT_EQ(size_of("b"), 4);
	EXPECT_EQ(unlink("b"), 0);
	EXPECT_FAILS(unlink("b"), ENOENT);
	EXPECT_FAILS(unlink(D), EPERM);
	EXPECT_FAILS(unlink("."), EPERM);
	end();
}

TEST(a_file_without_a_name)
{
	struct stat status;
	char bytes[8] = "";
	int fd;

	REQUIRE(begin());
	fd = open("a", O_RDWR | O_CREAT, 0600);
	EXPECT_EQ(write(fd, "before", 6), 6);
	EXPECT_EQ(unlink("a"), 0);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_nlink, 0);
	EXPECT_EQ(write(fd, "!", 1), 1);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, bytes, sizeof bytes), 7);
	EXPECT(strcmp(bytes, "before!") == 0);
	EXPECT_FAILS(open("a", O_RDONLY), ENOENT);
	EXPECT_EQ(close(fd), 0);
	end();
}

TEST(files_get_other_names)
{
	REQUIRE(begin() && make_text("a", "aa", 0644) && make_text("b", "bbb", 0644));
	REQUIRE(mkdir("d", 0755) == 0 && mkdir("e", 0755) == 0);
	EXPECT_EQ(rename("a", "c"), 0);
	EXPECT(size_of("a") == -1 && size_of("c") == 2);
	EXPECT_EQ(rename("c", "b"), 0);
	EXPECT(size_of("c") == -1 && size_of("b") == 2);
	EXPECT_EQ(rename("b", "b"), 0);
	EXPECT_EQ(size_of("b"), 2);
	EXPECT_EQ(rename("b", "d/b"), 0);
	EXPECT_EQ(size_of("d/b"), 2);
	EXPECT_FAILS(rename("nothing", "x"), ENOENT);
	EXPECT_FAILS(rename("d/b", "nothing/x"), ENOENT);
	EXPECT_FAILS(rename("d/b", "e"), EISDIR);
	EXPECT_FAILS(rename("e", "d/b"), ENOTDIR);
	EXPECT_FAILS(rename("e", "d"), ENOTEMPTY);
	EXPECT_FAILS(rename("d", "d/x"), EINVAL);
	EXPECT_FAILS(rename(".", "x"), EINVAL);
	EXPECT_EQ(rename("d", "e"), 0);
	EXPECT_EQ(size_of("e/b"), 2);
	EXPECT(size_of("d") == -1);
	EXPECT_EQ(unlink("e/b"), 0);
	EXPECT_EQ(rmdir("e"), 0);
	end();
}

/* Two names of one file: both stay, as nothing is to be done. */
TEST(a_file_renamed_to_itself)
{
	REQUIRE(begin() && make_text("a", "aa", 0644) && link("a", "b") == 0);
	EXPECT_EQ(rename("a", "b"), 0);
	EXPECT_EQ(links_of("a"), 2);
	EXPECT_EQ(links_of("b"), 2);
	unlink("a");
	unlink("b");
	end();
}

TEST(folders_come_and_go)
{
	char path[PATH_MAX];

	REQUIRE(begin());
	EXPECT_EQ(links_of("."), 2);
	EXPECT_EQ(mkdir("d", 0755), 0);
	EXPECT_EQ(mkdir("d/e/", 0755), 0);
	EXPECT_EQ(links_of("."), 3);
	EXPECT_EQ(links_of("d"), 3);
	EXPECT_FAILS(mkdir("d", 0755), EEXIST);
	EXPECT_FAILS(mkdir("/", 0755), EEXIST);
	EXPECT_FAILS(mkdir(".", 0755), EEXIST);
	EXPECT_FAILS(mkdir("x/y", 0755), ENOENT);
	EXPECT_FAILS(rmdir("d"), ENOTEMPTY);
	EXPECT_FAILS(rmdir("nothing"), ENOENT);
	EXPECT_FAILS(rmdir("/"), EBUSY);
	EXPECT_FAILS(rmdir("d/e/."), EINVAL);
	EXPECT_FAILS(rmdir("d/e/.."), ENOTEMPTY);
	EXPECT_FAILS(rmdir("/etc/passwd"), getuid() == 0 ? ENOTDIR : EACCES);
	EXPECT_EQ(rename("d/e", "f"), 0);
	EXPECT_EQ(links_of("d"), 2);
	EXPECT_EQ(chdir("f"), 0);
	EXPECT(getcwd(path, sizeof path) != NULL && strcmp(path, D "/f") == 0);
	EXPECT_EQ(chdir("../d"), 0);
	EXPECT(getcwd(path, sizeof path) != NULL && strcmp(path, D "/d") == 0);
	EXPECT_EQ(chdir(".."), 0);
	EXPECT_EQ(rmdir("f"), 0);
	EXPECT_EQ(rmdir("d"), 0);
	end();
}

/* A folder in which somebody is can be removed.  It stays, but nothing comes into it any more. */
TEST(a_folder_that_is_gone)
{
	char path[PATH_MAX];

	REQUIRE(begin());
	EXPECT_EQ(mkdir("d", 0755), 0);
	EXPECT_EQ(chdir("d"), 0);
	EXPECT_EQ(rmdir("../d"), 0);
	EXPECT_FAILS(open("x", O_RDWR | O_CREAT, 0600), ENOENT);
	EXPECT_FAILS(mkdir("x", 0700), ENOENT);
	EXPECT(getcwd(path, sizeof path) == NULL && errno == ENOENT);
	end();
}

TEST(where_one_is)
{
	char path[PATH_MAX];

	EXPECT_EQ(chdir("/"), 0);
	EXPECT(getcwd(path, sizeof path) != NULL && strcmp(path, "/") == 0);
	EXPECT(getcwd(path, 2) != NULL);
	EXPECT(getcwd(path, 1) == NULL && errno == ERANGE);
	EXPECT_EQ(chdir("../../tmp"), 0);
	EXPECT(getcwd(path, sizeof path) != NULL && strcmp(path, "/tmp") == 0);
	EXPECT_FAILS(chdir("/etc/passwd"), ENOTDIR);
	EXPECT_FAILS(chdir("/nothing"), ENOENT);
	EXPECT_FAILS(chdir(""), ENOENT);
}

/* Deeper than a path is long, step by step. */
TEST(deeper_than_a_path_is_long)
{
	enum {
		DEPTH = 6
	};
	static char name[NAME_MAX - 4];
	static char path[2 * PATH_MAX];

	REQUIRE(begin());
	memset(name, 'd', sizeof name - 1);
	for (int n = 0; n < DEPTH; n++)
		REQUIRE(mkdir(name, 0755) == 0 && chdir(name) == 0);
	EXPECT(getcwd(path, sizeof path) == NULL && (errno == ENAMETOOLONG || errno == ERANGE));
	EXPECT(make_text("x", "xx", 0600) && size_of("x") == 2 && unlink("x") == 0);
	for (int n = 0; n < DEPTH; n++)
		REQUIRE(chdir("..") == 0 && rmdir(name) == 0);
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
TEST(folders_of_many_entries)
{
	static bool seen[MANY];
	int n_dots = 0, n_seen = 0;
	struct dirent *entry;
	char name[60];
	DIR *directory;

	REQUIRE(begin());
	for (int n = 0; n < MANY; n++) {
		name_of(n, name);
		REQUIRE(make_text(name, "", 0600));
	}
	directory = opendir(".");
	REQUIRE(directory != NULL);
	while ((entry = readdir(directory)) != NULL) {
		int n = atoi(entry->d_name);

		if (entry->d_name[0] == '.') {
			EXPECT_EQ(entry->d_type, DT_DIR);
			n_dots++;
			continue;
		}
		name_of(n, name);
		EXPECT(strcmp(name, entry->d_name) == 0 && !seen[n]);
		EXPECT_EQ(entry->d_type, DT_REG);
		seen[n] = true;
		n_seen++;
		EXPECT_EQ(unlink(name), 0);
	}
	EXPECT(n_dots == 2 && n_seen == MANY);
	rewinddir(directory);
	EXPECT(readdir(directory) != NULL && readdir(directory) != NULL);
	EXPECT(readdir(directory) == NULL);
	EXPECT_EQ(closedir(directory), 0);
	EXPECT(opendir("/etc/passwd") == NULL && errno == ENOTDIR);
	EXPECT(opendir("nothing") == NULL && errno == ENOENT);
	end();
}

/* ---------------- Links that are texts, and pipes with names ---------------- */

static bool leads(const char *link, const char *expected)
{
	char text[PATH_MAX];
	ssize_t length = readlink(link, text, sizeof text);

	return length == (ssize_t)strlen(expected) && memcmp(text, expected, length) == 0;
}

TEST(symbolic_links)
{
	struct stat status;
	char text[4];

	REQUIRE(begin() && make_text("a", "text", 0644));
	EXPECT_EQ(symlink("a", "b"), 0);
	EXPECT(leads("b", "a"));
	EXPECT_EQ(size_of("b"), 4);
	EXPECT_EQ(lstat("b", &status), 0);
	EXPECT(S_ISLNK(status.st_mode) && status.st_size == 1);
	EXPECT_FAILS(symlink("a", "b"), EEXIST);
	EXPECT_FAILS(symlink("", "c"), ENOENT);
	EXPECT_FAILS(symlink("a", "nothing/c"), ENOENT);
	EXPECT_FAILS(symlink((char *)8, "c"), EFAULT);
	EXPECT_FAILS(readlink("a", text, sizeof text), EINVAL);
	EXPECT_FAILS(readlink("nothing", text, sizeof text), ENOENT);
	EXPECT_FAILS(readlink("b", (char *)8, sizeof text), EFAULT);
	EXPECT_FAILS(open("b", O_RDONLY | O_NOFOLLOW), ELOOP);
	EXPECT_EQ(unlink("a"), 0);
	EXPECT_EQ(size_of("b"), -1);
	EXPECT_EQ(unlink("b"), 0);
	end();
}

/* From 60 bytes on the text has a block of its own. */
TEST(symbolic_links_of_all_lengths)
{
	static const size_t lengths[] = {1, 59, 60, 61, PATH_MAX - 1};
	char text[PATH_MAX + 1], cut[10];

	REQUIRE(begin());
	for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++) {
		memset(text, 'x', lengths[n]);
		text[lengths[n]] = '\0';
		EXPECT_EQ(symlink(text, "link"), 0);
		EXPECT(leads("link", text));
		EXPECT_EQ(readlink("link", cut, sizeof cut),
			  lengths[n] < sizeof cut ? lengths[n] : sizeof cut);
		EXPECT_EQ(unlink("link"), 0);
	}
	memset(text, 'x', PATH_MAX);
	text[PATH_MAX] = '\0';
	EXPECT_FAILS(symlink(text, "link"), ENAMETOOLONG);
	end();
}

TEST(links_on_the_way)
{
	REQUIRE(begin() && mkdir("folder", 0755) == 0 && make_text("folder/a", "text", 0644));
	EXPECT_EQ(symlink("folder", "way"), 0);
	EXPECT_EQ(symlink(D "/way/a", "far"), 0);
	EXPECT_EQ(symlink("round", "round"), 0);
	EXPECT_EQ(size_of("way/a"), 4);
	EXPECT_EQ(size_of("far"), 4);
	EXPECT_FAILS(open("round", O_RDONLY), ELOOP);
	EXPECT_EQ(unlink("round") + unlink("far") + unlink("way"), 0);
	EXPECT_EQ(size_of("folder/a"), 4);
	EXPECT_EQ(unlink("folder/a") + rmdir("folder"), 0);
	end();
}

TEST(pipes_with_names)
{
	struct stat status;
	char byte = 0;
	pid_t pid;

	REQUIRE(begin());
	EXPECT_EQ(mkfifo("pipe", 0644), 0);
	EXPECT_EQ(stat("pipe", &status), 0);
	EXPECT(S_ISFIFO(status.st_mode) && (status.st_mode & 0777) == 0644);
	EXPECT_FAILS(mkfifo("pipe", 0644), EEXIST);
	pid = fork();
	if (pid == 0)
		_exit(write(open("pipe", O_WRONLY), "x", 1) != 1);
	EXPECT_EQ(read(open("pipe", O_RDONLY), &byte, 1), 1);
	EXPECT_EQ(byte, 'x');
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(unlink("pipe"), 0);
	end();
}
