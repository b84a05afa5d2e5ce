/* SPDX-License-Identifier: MIT */
/*
 * Making, finding and removing files, and who may.
 *
 * guest: user=root
 */
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/time.h>

#include "check_unix.h"

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
	EXPECT_EQ(chdir("/tmp"), 0);
	EXPECT_EQ(rmdir("here"), 0);
}

static int make(const char *path, mode_t mode)
{
	return close(open(path, O_WRONLY | O_CREAT | O_TRUNC, mode));
}

static void become(uid_t uid)
{
	EXPECT_EQ(setgid(uid), 0);
	EXPECT_EQ(setuid(uid), 0);
}

/* Runs the body as another user, in a child. */
#define AS(uid)                                                                       \
	for (pid_t child_ = fork(); child_ >= 0;                                      \
	     child_ = child_ > 0 ? (waited(child_), -1) : (_exit(check_failures), 0)) \
		if (child_ == 0 && (become(uid), true))

static void waited(pid_t child)
{
	int status = 0;

	EXPECT_EQ(waitpid(child, &status, 0), child);
	EXPECT_EQ(status, 0);
}

TEST(opening_makes_files)
{
	struct stat status;
	int fd;

	begin();
	umask(022);
	EXPECT_FAILS(open("f", O_RDWR), ENOENT);
	fd = open("f", O_RDWR | O_CREAT | O_EXCL, 0666);
	EXPECT(fd >= 0);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_mode, S_IFREG | 0644);
	EXPECT_EQ(write(fd, "12345", 5), 5);
	EXPECT_FAILS(open("f", O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
	EXPECT(open("f", O_RDWR | O_CREAT, 0600) >= 0);
	EXPECT_EQ(stat("f", &status), 0);
	EXPECT_EQ(status.st_size, 5);
	EXPECT(open("f", O_WRONLY | O_TRUNC) >= 0);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_size, 0);
	EXPECT_EQ(unlink("f"), 0);
	end();
}

TEST(opening_what_is_not_meant)
{
	begin();
	EXPECT_EQ(make("f", 0600), 0);
	EXPECT_FAILS(open("f", O_RDONLY | O_DIRECTORY), ENOTDIR);
	EXPECT_FAILS(open("f/", O_RDONLY), ENOTDIR);
	EXPECT_FAILS(open("f/g", O_RDONLY), ENOTDIR);
	EXPECT_FAILS(open(".", O_WRONLY), EISDIR);
	EXPECT_FAILS(open(".", O_RDONLY | O_CREAT, 0600), EISDIR);
	EXPECT_FAILS(open("new/", O_WRONLY | O_CREAT, 0600), EISDIR);
	EXPECT_FAILS(open("", O_RDONLY), ENOENT);
	EXPECT_FAILS(open("no/where", O_WRONLY | O_CREAT, 0600), ENOENT);
	EXPECT(open(".", O_RDONLY | O_DIRECTORY) >= 0);
	EXPECT_EQ(unlink("f"), 0);
	end();
}

TEST(directories)
{
	struct stat status;
	char path[100];

	begin();
	umask(0);
	EXPECT_EQ(mkdir("d", 0750), 0);
	EXPECT_EQ(stat("d", &status), 0);
	EXPECT_EQ(status.st_mode, S_IFDIR | 0750);
	EXPECT_FAILS(mkdir("d", 0700), EEXIST);
	EXPECT_FAILS(mkdir(".", 0700), EEXIST);
	EXPECT_FAILS(mkdir("/", 0700), EEXIST);
	EXPECT_EQ(mkdir("d/e/", 0700), 0);
	EXPECT_FAILS(rmdir("d"), ENOTEMPTY);
	EXPECT_FAILS(unlink("d"), EPERM);
	EXPECT_FAILS(rmdir("d/."), EINVAL);
	EXPECT_FAILS(rmdir("d/.."), ENOTEMPTY);
	EXPECT_FAILS(rmdir("/"), EBUSY);
	EXPECT_EQ(chdir("d/e"), 0);
	EXPECT(strcmp(getcwd(path, sizeof path), "/tmp/here/d/e") == 0);
	EXPECT_EQ(chdir("../.."), 0);
	EXPECT_EQ(rmdir("d/e"), 0);
	EXPECT_EQ(make("d/f", 0600), 0);
	EXPECT_FAILS(rmdir("d/f"), ENOTDIR);
	EXPECT_FAILS(chdir("d/f"), ENOTDIR);
	EXPECT_EQ(unlink("d/f"), 0);
	EXPECT_EQ(rmdir("d"), 0);
	end();
}

TEST(names_and_links)
{
	struct stat status;

	begin();
	EXPECT_EQ(make("a", 0600), 0);
	EXPECT_EQ(link("a", "b"), 0);
	EXPECT_EQ(stat("b", &status), 0);
	EXPECT_EQ(status.st_nlink, 2);
	EXPECT_FAILS(link("a", "b"), EEXIST);
	EXPECT_FAILS(link(".", "c"), EPERM);
	EXPECT_FAILS(link("no", "c"), ENOENT);
	EXPECT_EQ(rename("a", "b"), 0); /* The same file: nothing happens. */
	EXPECT_EQ(rename("a", "c"), 0);
	EXPECT_FAILS(rename("a", "c"), ENOENT);
	EXPECT_EQ(mkdir("d", 0700), 0);
	EXPECT_FAILS(rename("c", "d"), EISDIR);
	EXPECT_FAILS(rename("d", "c"), ENOTDIR);
	EXPECT_FAILS(rename("d", "d/e"), EINVAL);
	EXPECT_FAILS(rename("d/.", "e"), EINVAL);
	EXPECT_EQ(rename("c", "d/c"), 0);
	EXPECT_EQ(unlink("d/c"), 0);
	EXPECT_EQ(unlink("b"), 0);
	EXPECT_FAILS(unlink("b"), ENOENT);
	EXPECT_EQ(rmdir("d"), 0);
	end();
}

/* A file that has no name any more lives as long as it is open. */
TEST(files_without_names)
{
	char bytes[4];
	int fd;

	begin();
	fd = open("f", O_RDWR | O_CREAT, 0600);
	EXPECT_EQ(unlink("f"), 0);
	EXPECT_EQ(write(fd, "abc", 3), 3);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, bytes, 4), 3);
	EXPECT_EQ(close(fd), 0);
	end();
}

TEST(who_may_open)
{
	begin();
	EXPECT_EQ(make("f", 0640), 0);
	EXPECT_EQ(chown("f", USER, OTHER), 0);
	EXPECT_EQ(chmod("f", 0640), 0);
	AS(USER)
	{
		EXPECT(open("f", O_RDWR) >= 0);
		EXPECT_EQ(access("f", R_OK | W_OK), 0);
		EXPECT_FAILS(access("f", X_OK), EACCES);
		EXPECT_FAILS(access("f", 8), EINVAL);
	}
	AS(OTHER)
	{
		EXPECT(open("f", O_RDONLY) >= 0);
		EXPECT_FAILS(open("f", O_WRONLY), EACCES);
		EXPECT_FAILS(open("f", O_RDONLY | O_TRUNC), EACCES);
		EXPECT_FAILS(truncate("f", 0), EACCES);
	}
	AS(77)
	EXPECT_FAILS(open("f", O_RDONLY), EACCES);
	EXPECT_EQ(unlink("f"), 0);
	end();
}

TEST(who_may_change_a_directory)
{
	begin();
	EXPECT_EQ(make("f", 0666), 0);
	EXPECT_EQ(chmod(".", 0755), 0);
	AS(USER)
	{
		EXPECT_FAILS(unlink("f"), EACCES);
		EXPECT_FAILS(rename("f", "g"), EACCES);
		EXPECT_FAILS(link("f", "g"), EACCES);
		EXPECT_FAILS(mkdir("d", 0700), EACCES);
		EXPECT_FAILS(open("g", O_WRONLY | O_CREAT, 0600), EACCES);
		EXPECT_FAILS(open("f", O_WRONLY | O_CREAT | O_EXCL, 0600), EEXIST);
	}
	EXPECT_EQ(chmod(".", 01777), 0);
	AS(USER)
	{
		EXPECT_FAILS(unlink("f"), EPERM);
		EXPECT_FAILS(rename("f", "g"), EPERM);
		EXPECT_EQ(make("mine", 0600), 0);
		EXPECT_FAILS(rename("mine", "f"), EPERM);
		EXPECT_EQ(rename("mine", "my"), 0);
		EXPECT_EQ(unlink("my"), 0);
	}
	EXPECT_EQ(chmod(".", 0666), 0);
	AS(USER)
	EXPECT_FAILS(open("f", O_RDONLY), EACCES);
	EXPECT_EQ(unlink("f"), 0);
	end();
}

TEST(modes_owners_and_times)
{
	const struct timeval times[2] = {{100, 0}, {200, 0}};
	struct stat status;

	begin();
	EXPECT_EQ(make("f", 0600), 0);
	AS(USER)
	{
		EXPECT_FAILS(chmod("f", 0666), EPERM);
		EXPECT_FAILS(chown("f", USER, USER), EPERM);
		EXPECT_FAILS(utimes("f", times), EPERM);
		EXPECT_FAILS(utimes("f", NULL), EACCES);
	}
	EXPECT_EQ(chown("f", USER, (gid_t)-1), 0);
	AS(USER)
	{
		EXPECT_FAILS(chown("f", OTHER, (gid_t)-1), EPERM);
		EXPECT_FAILS(chown("f", (uid_t)-1, OTHER), EPERM);
		EXPECT_EQ(chown("f", (uid_t)-1, USER), 0);
		EXPECT_EQ(chmod("f", 06755), 0);
		EXPECT_EQ(utimes("f", times), 0);
	}
	EXPECT_EQ(stat("f", &status), 0);
	EXPECT_EQ(status.st_mode, S_IFREG | 06755);
	EXPECT_EQ(status.st_atime, 100);
	EXPECT_EQ(status.st_mtime, 200);
	AS(USER)
	EXPECT_EQ(write(open("f", O_WRONLY), "x", 1), 1);
	EXPECT_EQ(stat("f", &status), 0);
	EXPECT_EQ(status.st_mode, S_IFREG | 0755);
	EXPECT_EQ(unlink("f"), 0);
	end();
}

TEST(sizes)
{
	struct stat status;
	char bytes[8] = "xxxxxxx";
	int fd;

	begin();
	fd = open("f", O_RDWR | O_CREAT, 0600);
	EXPECT_EQ(write(fd, "abcdef", 6), 6);
	EXPECT_EQ(truncate("f", 3), 0);
	EXPECT_EQ(ftruncate(fd, 5), 0);
	EXPECT_EQ(fstat(fd, &status), 0);
	EXPECT_EQ(status.st_size, 5);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_EQ(read(fd, bytes, 8), 5);
	EXPECT(memcmp(bytes, "abc\0\0", 5) == 0);
	EXPECT_FAILS(truncate("f", -1), EINVAL);
	EXPECT_FAILS(truncate(".", 0), EISDIR);
	EXPECT_FAILS(truncate("no", 0), ENOENT);
	EXPECT_EQ(unlink("f"), 0);
	end();
}
