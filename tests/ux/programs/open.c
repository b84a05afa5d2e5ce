/* SPDX-License-Identifier: MIT */
/* Opening files: what the flags do, what cannot be opened, how long names may be. */
#include <limits.h>

#include "help.h"

#define F "/tmp/open.f"

TEST(a_file_is_made_if_that_is_wanted)
{
	struct stat status;
	int fd;

	EXPECT_FAILS(open(F, O_RDWR), ENOENT);
	umask(027);
	fd = open(F, O_RDWR | O_CREAT, 0666);
	REQUIRE(fd >= 0 && fstat(fd, &status) == 0);
	EXPECT_EQ(status.st_mode, S_IFREG | 0640);
	EXPECT_EQ(status.st_size, 0);
	EXPECT_FAILS(open(F, O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
	EXPECT_EQ(unlink(F), 0);
	EXPECT(open(F, O_RDWR | O_CREAT | O_EXCL, 0666) > fd);
	EXPECT_EQ(unlink(F), 0);
}

/* Who makes a file may write to it once, whatever its mode. */
TEST(a_new_files_mode_is_for_later)
{
	int fd = open(F, O_WRONLY | O_CREAT, 0);

	REQUIRE(fd >= 0);
	EXPECT_EQ(write(fd, "x", 1), 1);
	if (getuid() != 0)
		EXPECT_FAILS(open(F, O_RDONLY), EACCES);
	EXPECT_EQ(unlink(F), 0);
}

TEST(a_file_is_emptied_if_that_is_wanted)
{
	REQUIRE(make_text(F, "0123456789", 0644));
	close(open(F, O_WRONLY));
	EXPECT_EQ(size_of(F), 10);
	close(open(F, O_WRONLY | O_TRUNC));
	EXPECT_EQ(size_of(F), 0);
	unlink(F);
}

TEST(who_appends_writes_at_the_end)
{
	char text[8] = "";
	int one = open(F, O_RDWR | O_CREAT | O_APPEND, 0600), other = open(F, O_WRONLY | O_APPEND);

	EXPECT_EQ(write(one, "ab", 2), 2);
	EXPECT_EQ(write(other, "cd", 2), 2);
	EXPECT_EQ(lseek(one, 0, SEEK_SET), 0);
	EXPECT_EQ(write(one, "ef", 2), 2);
	EXPECT_EQ(lseek(one, 0, SEEK_CUR), 6);
	EXPECT_EQ(lseek(one, 0, SEEK_SET), 0);
	EXPECT_EQ(read(one, text, sizeof text), 6);
	EXPECT(strcmp(text, "abcdef") == 0);
	EXPECT_EQ(fcntl(one, F_GETFL), O_RDWR | O_APPEND);
	EXPECT_EQ(fcntl(one, F_SETFL, 0), 0);
	EXPECT_EQ(lseek(one, 0, SEEK_SET), 0);
	EXPECT_EQ(write(one, "AB", 2), 2);
	EXPECT_EQ(size_of(F), 6);
	unlink(F);
}

TEST(a_file_is_used_as_it_was_opened)
{
	char byte;
	int reader, writer;

	REQUIRE(make_text(F, "x", 0600));
	reader = open(F, O_RDONLY);
	writer = open(F, O_WRONLY);
	EXPECT_FAILS(write(reader, "y", 1), EBADF);
	EXPECT_FAILS(read(writer, &byte, 1), EBADF);
	EXPECT_FAILS(ftruncate(reader, 0), EINVAL);
	EXPECT_EQ(fcntl(reader, F_SETFL, O_RDWR), 0);
	EXPECT_FAILS(write(reader, "y", 1), EBADF);
	EXPECT_FAILS(open(F, O_ACCMODE), EINVAL);
	unlink(F);
}

TEST(folders_are_not_written)
{
	char bytes[100];
	int fd = open("/tmp", O_RDONLY);

	REQUIRE(fd >= 0);
	EXPECT_FAILS(read(fd, bytes, sizeof bytes), EISDIR);
	EXPECT_FAILS(write(fd, bytes, sizeof bytes), EBADF);
	EXPECT_FAILS(open("/tmp", O_WRONLY), EISDIR);
	EXPECT_FAILS(open("/tmp", O_RDWR), EISDIR);
	EXPECT_FAILS(open("/tmp", O_RDONLY | O_CREAT, 0600), EISDIR);
	EXPECT_FAILS(open("/tmp/", O_RDONLY | O_CREAT, 0600), EISDIR);
	EXPECT_FAILS(open("/tmp/new/", O_RDONLY | O_CREAT, 0600), EISDIR);
	EXPECT_FAILS(open("/tmp", O_RDONLY | O_CREAT | O_EXCL, 0600), EEXIST);
	EXPECT_FAILS(truncate("/tmp", 0), EISDIR);
	EXPECT(open("/tmp/", O_RDONLY | O_DIRECTORY) >= 0);
}

TEST(paths_that_lead_nowhere)
{
	REQUIRE(make_text(F, "x", 0600));
	EXPECT_FAILS(open("", O_RDONLY), ENOENT);
	EXPECT_FAILS(open("", O_RDWR | O_CREAT, 0600), ENOENT);
	EXPECT_FAILS(open("/tmp/nowhere/x", O_RDONLY), ENOENT);
	EXPECT_FAILS(open("/tmp/nowhere/x", O_RDWR | O_CREAT, 0600), ENOENT);
	EXPECT_FAILS(open(F "/x", O_RDONLY), ENOTDIR);
	EXPECT_FAILS(open(F "/x", O_RDWR | O_CREAT, 0600), ENOTDIR);
	EXPECT_FAILS(open(F "/", O_RDONLY), ENOTDIR);
	EXPECT_FAILS(open(F "/..", O_RDONLY), ENOTDIR);
	EXPECT_FAILS(open(F, O_RDONLY | O_DIRECTORY), ENOTDIR);
	unlink(F);
}

TEST(names_have_255_bytes)
{
	char path[5 + NAME_MAX + 2] = "/tmp/";

	memset(path + 5, 'n', NAME_MAX);
	EXPECT(open(path, O_RDWR | O_CREAT, 0600) >= 0);
	EXPECT_EQ(size_of(path), 0);
	EXPECT_EQ(unlink(path), 0);
	path[5 + NAME_MAX] = 'n';
	EXPECT_FAILS(open(path, O_RDWR | O_CREAT, 0600), ENAMETOOLONG);
	EXPECT_FAILS(open(path, O_RDONLY), ENAMETOOLONG);
	EXPECT_FAILS(mkdir(path, 0700), ENAMETOOLONG);
	EXPECT_FAILS(unlink(path), ENAMETOOLONG);
	EXPECT_FAILS(rename("/tmp", path), ENAMETOOLONG);
}

/* A path that is longer leads to the same file, and is refused for its length. */
TEST(paths_have_1023_bytes)
{
	static char path[PATH_MAX + 1];

	for (size_t n = 0; n < PATH_MAX - 5; n += 2)
		memcpy(path + n, "/.", 2);
	memcpy(path + PATH_MAX - 1 - 5, "/etc/", 5);
	EXPECT_EQ(strlen(path), PATH_MAX - 1);
	EXPECT(open(path, O_RDONLY) >= 0);
	path[PATH_MAX - 1] = '/';
	EXPECT_FAILS(open(path, O_RDONLY), ENAMETOOLONG);
	EXPECT_FAILS(chdir(path), ENAMETOOLONG);
}

TEST(there_are_so_many_descriptors_and_no_more)
{
	int ends[2], last = -1, fd;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		EXPECT_EQ(fd, last < 0 ? fd : last + 1);
		last = fd;
	}
	EXPECT_EQ(errno, EMFILE);
	EXPECT_EQ(last, OPEN_MAX - 1);
	EXPECT_FAILS(dup(0), EMFILE);
	EXPECT_FAILS(pipe(ends), EMFILE);
	EXPECT_EQ(close(10), 0);
	EXPECT_FAILS(pipe(ends), EMFILE);
	EXPECT_EQ(close(7), 0);
	EXPECT_EQ(dup(0), 7);
	EXPECT_EQ(dup(0), 10);
}
