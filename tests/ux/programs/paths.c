/* SPDX-License-Identifier: MIT */
/*
 * Making, finding and removing files, and who may.
 *
 * guest: user=root
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "try.h"

#define USER  100 /* A user, */
#define OTHER 101 /* and another one. */

/* A directory of its own for each test. */
static void begin(void)
{
	if (chdir("/tmp") != 0 || mkdir("here", 0777) != 0 || chdir("here") != 0 ||
	    chmod(".", 0777) != 0)
		printf("no place for tests: errno %d\n", errno);
}

static void end(void)
{
	CHECK_EQ(chdir("/tmp"), 0);
	CHECK_EQ(rmdir("here"), 0);
}

static int make(const char *path, mode_t mode)
{
	return close(open(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
}

static void become(uid_t uid)
{
	CHECK_EQ(setgid(uid), 0);
	CHECK_EQ(setuid(uid), 0);
}

/* Runs the body as another user, in a child. */
#define AS(uid)                                                                     \
	for (pid_t child_ = fork(); child_ >= 0;                                    \
	     child_ = child_ > 0 ? (waited(child_), -1) : (_exit(try_failures), 0)) \
		if (child_ == 0 && (become(uid), true))

static void waited(pid_t child)
{
	int status = 0;

	CHECK_EQ(waitpid(child, &status, 0), child);
	CHECK_EQ(status, 0);
}

TRY(opening_makes_files)
{
	struct stat status;
	int fd;

	begin();
	umask(022);
	CHECK_FAILS(open("f", O_RDWR), ENOENT);
	fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0666);
	CHECK(fd >= 0);
	CHECK_EQ(fstat(fd, &status), 0);
	CHECK_EQ(status.st_mode, S_IFREG | 0644);
	CHECK_EQ(write(fd, "12345", 5), 5);
	CHECK_FAILS(open("f", O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
	CHECK(open("f", O_RDWR | O_CREAT, 0600) >= 0);
	CHECK_EQ(stat("f", &status), 0);
	CHECK_EQ(status.st_size, 5);
	CHECK(open("f", O_WRONLY | O_TRUNC) >= 0);
	CHECK_EQ(fstat(fd, &status), 0);
	CHECK_EQ(status.st_size, 0);
	CHECK_EQ(unlink("f"), 0);
	end();
}

TRY(opening_what_is_not_meant)
{
	begin();
	CHECK_EQ(make("f", 0600), 0);
	CHECK_FAILS(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
	CHECK_FAILS(open("f/", O_RDONLY), ENOTDIR);
	CHECK_FAILS(open("f/g", O_RDONLY), ENOTDIR);
	CHECK_FAILS(open(".", O_WRONLY), EISDIR);
	CHECK_FAILS(open(".", O_RDONLY | O_CREAT, 0600), EISDIR);
	CHECK_FAILS(open("new/", O_WRONLY | O_CREAT, 0600), EISDIR);
	CHECK_FAILS(open("", O_RDONLY), ENOENT);
	CHECK_FAILS(open("no/where", O_WRONLY | O_CREAT, 0600), ENOENT);
	CHECK(open(".", O_RDONLY | O_DIRECTORY) >= 0);
	CHECK_EQ(unlink("f"), 0);
	end();
}

TRY(directories)
{
	struct stat status;
	char path[100];

	begin();
	umask(0);
	CHECK_EQ(mkdir("d", 0750), 0);
	CHECK_EQ(stat("d", &status), 0);
	CHECK_EQ(status.st_mode, S_IFDIR | 0750);
	CHECK_FAILS(mkdir("d", 0700), EEXIST);
	CHECK_FAILS(mkdir(".", 0700), EEXIST);
	CHECK_FAILS(mkdir("/", 0700), EEXIST);
	CHECK_EQ(mkdir("d/e/", 0700), 0);
	CHECK_FAILS(rmdir("d"), ENOTEMPTY);
	CHECK_FAILS(unlink("d"), EPERM);
	CHECK_FAILS(rmdir("d/."), EINVAL);
	CHECK_FAILS(rmdir("d/.."), ENOTEMPTY);
	CHECK_FAILS(rmdir("/"), EBUSY);
	CHECK_EQ(chdir("d/e"), 0);
	CHECK(strcmp(getcwd(path, sizeof path), "/tmp/here/d/e") == 0);
	CHECK_EQ(chdir("../.."), 0);
	CHECK_EQ(rmdir("d/e"), 0);
	CHECK_EQ(make("d/f", 0600), 0);
	CHECK_FAILS(rmdir("d/f"), ENOTDIR);
	CHECK_FAILS(chdir("d/f"), ENOTDIR);
	CHECK_EQ(unlink("d/f"), 0);
	CHECK_EQ(rmdir("d"), 0);
	end();
}

TRY(names_and_links)
{
	struct stat status;

	begin();
	CHECK_EQ(make("a", 0600), 0);
	CHECK_EQ(link("a", "b"), 0);
	CHECK_EQ(stat("b", &status), 0);
	CHECK_EQ(status.st_nlink, 2);
	CHECK_FAILS(link("a", "b"), EEXIST);
	CHECK_FAILS(link(".", "c"), EPERM);
	CHECK_FAILS(link("no", "c"), ENOENT);
	CHECK_EQ(rename("a", "b"), 0); /* The same file: nothing happens. */
	CHECK_EQ(rename("a", "c"), 0);
	CHECK_FAILS(rename("a", "c"), ENOENT);
	CHECK_EQ(mkdir("d", 0700), 0);
	CHECK_FAILS(rename("c", "d"), EISDIR);
	CHECK_FAILS(rename("d", "c"), ENOTDIR);
	CHECK_FAILS(rename("d", "d/e"), EINVAL);
	CHECK_FAILS(rename("d/.", "e"), EINVAL);
	CHECK_EQ(rename("c", "d/c"), 0);
	CHECK_EQ(unlink("d/c"), 0);
	CHECK_EQ(unlink("b"), 0);
	CHECK_FAILS(unlink("b"), ENOENT);
	CHECK_EQ(rmdir("d"), 0);
	end();
}

/* A file that has no name any more lives as long as it is open. */
TRY(files_without_names)
{
	char bytes[4];
	int fd;

	begin();
	fd = open("f", O_RDWR | O_CREAT, 0600);
	CHECK_EQ(unlink("f"), 0);
	CHECK_EQ(write(fd, "abc", 3), 3);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(read(fd, bytes, 4), 3);
	CHECK_EQ(close(fd), 0);
	end();
}

TRY(who_may_open)
{
	begin();
	CHECK_EQ(make("f", 0640), 0);
	CHECK_EQ(chown("f", USER, OTHER), 0);
	CHECK_EQ(chmod("f", 0640), 0);
	AS(USER)
	{
		CHECK(open("f", O_RDWR) >= 0);
		CHECK_EQ(access("f", R_OK | W_OK), 0);
		CHECK_FAILS(access("f", X_OK), EACCES);
		CHECK_FAILS(access("f", 8), EINVAL);
	}
	AS(OTHER)
	{
		CHECK(open("f", O_RDONLY) >= 0);
		CHECK_FAILS(open("f", O_WRONLY), EACCES);
		CHECK_FAILS(open("f", O_RDONLY | O_TRUNC), EACCES);
		CHECK_FAILS(truncate("f", 0), EACCES);
	}
	AS(77)
	CHECK_FAILS(open("f", O_RDONLY), EACCES);
	CHECK_EQ(unlink("f"), 0);
	end();
}

TRY(who_may_change_a_directory)
{
	begin();
	CHECK_EQ(make("f", 0666), 0);
	CHECK_EQ(chmod(".", 0755), 0);
	AS(USER)
	{
		CHECK_FAILS(unlink("f"), EACCES);
		CHECK_FAILS(rename("f", "g"), EACCES);
		CHECK_FAILS(link("f", "g"), EACCES);
		CHECK_FAILS(mkdir("d", 0700), EACCES);
		CHECK_FAILS(open("g", O_WRONLY | O_CREAT, 0600), EACCES);
		CHECK_FAILS(open("f", O_WRONLY | O_CREAT | O_EXCL, 0600), EEXIST);
	}
	CHECK_EQ(chmod(".", 01777), 0);
	AS(USER)
	{
		CHECK_FAILS(unlink("f"), EPERM);
		CHECK_FAILS(rename("f", "g"), EPERM);
		CHECK_EQ(make("mine", 0600), 0);
		CHECK_FAILS(rename("mine", "f"), EPERM);
		CHECK_EQ(rename("mine", "my"), 0);
		CHECK_EQ(unlink("my"), 0);
	}
	CHECK_EQ(chmod(".", 0666), 0);
	AS(USER)
	CHECK_FAILS(open("f", O_RDONLY), EACCES);
	CHECK_EQ(unlink("f"), 0);
	end();
}

TRY(modes_owners_and_times)
{
	const struct timeval times[2] = {{100, 0}, {200, 0}};
	struct stat status;

	begin();
	CHECK_EQ(make("f", 0600), 0);
	AS(USER)
	{
		CHECK_FAILS(chmod("f", 0666), EPERM);
		CHECK_FAILS(chown("f", USER, USER), EPERM);
		CHECK_FAILS(utimes("f", times), EPERM);
		CHECK_FAILS(utimes("f", NULL), EACCES);
	}
	CHECK_EQ(chown("f", USER, (gid_t)-1), 0);
	AS(USER)
	{
		CHECK_FAILS(chown("f", OTHER, (gid_t)-1), EPERM);
		CHECK_FAILS(chown("f", (uid_t)-1, OTHER), EPERM);
		CHECK_EQ(chown("f", (uid_t)-1, USER), 0);
		CHECK_EQ(chmod("f", 06755), 0);
		CHECK_EQ(utimes("f", times), 0);
	}
	CHECK_EQ(stat("f", &status), 0);
	CHECK_EQ(status.st_mode, S_IFREG | 06755);
	CHECK_EQ(status.st_atime, 100);
	CHECK_EQ(status.st_mtime, 200);
	AS(USER)
	CHECK_EQ(write(open("f", O_WRONLY), "x", 1), 1);
	CHECK_EQ(stat("f", &status), 0);
	CHECK_EQ(status.st_mode, S_IFREG | 0755);
	CHECK_EQ(unlink("f"), 0);
	end();
}

TRY(sizes)
{
	struct stat status;
	char bytes[8] = "xxxxxxx";
	int fd;

	begin();
	fd = open("f", O_RDWR | O_CREAT, 0600);
	CHECK_EQ(write(fd, "abcdef", 6), 6);
	CHECK_EQ(truncate("f", 3), 0);
	CHECK_EQ(ftruncate(fd, 5), 0);
	CHECK_EQ(fstat(fd, &status), 0);
	CHECK_EQ(status.st_size, 5);
	CHECK_EQ(lseek(fd, 0, SEEK_SET), 0);
	CHECK_EQ(read(fd, bytes, 8), 5);
	CHECK(memcmp(bytes, "abc\0\0", 5) == 0);
	CHECK_FAILS(truncate("f", -1), EINVAL);
	CHECK_FAILS(truncate(".", 0), EISDIR);
	CHECK_FAILS(truncate("no", 0), ENOENT);
	CHECK_EQ(unlink("f"), 0);
	end();
}
