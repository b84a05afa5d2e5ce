/* SPDX-License-Identifier: MIT */
/* Opening files: what the flags do, what cannot be opened, how long names may be. */
#include <limits.h>

#include "help.h"

#define F "/tmp/open.f"

TRY(a_file_is_made_if_that_is_wanted)
{
	struct stat status;
	int fd;

	CHECK_FAILS(open(F, O_RDWR), ENOENT);
	umask(027);
	fd = open(F, O_RDWR | O_CREAT, 0666);
	NEED(fd >= 0 && fstat(fd, &status) == 0);
	CHECK_EQ(status.st_mode, S_IFREG | 0640);
	CHECK_EQ(status.st_size, 0);
	CHECK_FAILS(open(F, O_RDWR | O_CREAT | O_EXCL, 0666), EEXIST);
	CHECK_EQ(unlink(F), 0);
	CHECK(open(F, O_RDWR | O_CREAT | O_EXCL, 0666) > fd);
	CHECK_EQ(unlink(F), 0);
}

/* Who makes a file may write to it once, whatever its mode. */
TRY(a_new_files_mode_is_for_later)
{
	int fd = open(F, O_WRONLY | O_CREAT, 0);

	NEED(fd >= 0);
	CHECK_EQ(write(fd, "x", 1), 1);
	if (getuid() != 0)
		CHECK_FAILS(open(F, O_RDONLY), EACCES);
	CHECK_EQ(unlink(F), 0);
}

TRY(a_file_is_emptied_if_that_is_wanted)
{
	NEED(make_text(F, "0123456789", 0644));
	close(open(F, O_WRONLY));
	CHECK_EQ(size_of(F), 10);
	close(open(F, O_WRONLY | O_TRUNC));
	CHECK_EQ(size_of(F), 0);
	unlink(F);
}

TRY(who_appends_writes_at_the_end)
{
	char text[8] = "";
	int one = open(F, O_RDWR | O_CREAT | O_APPEND, 0600), other = open(F, O_WRONLY | O_APPEND);

	CHECK_EQ(write(one, "ab", 2), 2);
	CHECK_EQ(write(other, "cd", 2), 2);
	CHECK_EQ(lseek(one, 0, SEEK_SET), 0);
	CHECK_EQ(write(one, "ef", 2), 2);
	CHECK_EQ(lseek(one, 0, SEEK_CUR), 6);
	CHECK_EQ(lseek(one, 0, SEEK_SET), 0);
	CHECK_EQ(read(one, text, sizeof text), 6);
	CHECK(strcmp(text, "abcdef") == 0);
	CHECK_EQ(fcntl(one, F_GETFL), O_RDWR | O_APPEND);
	CHECK_EQ(fcntl(one, F_SETFL, 0), 0);
	CHECK_EQ(lseek(one, 0, SEEK_SET), 0);
	CHECK_EQ(write(one, "AB", 2), 2);
	CHECK_EQ(size_of(F), 6);
	unlink(F);
}

TRY(a_file_is_used_as_it_was_opened)
{
	char byte;
	int reader, writer;

	NEED(make_text(F, "x", 0600));
	reader = open(F, O_RDONLY);
	writer = open(F, O_WRONLY);
	CHECK_FAILS(write(reader, "y", 1), EBADF);
	CHECK_FAILS(read(writer, &byte, 1), EBADF);
	CHECK_FAILS(ftruncate(reader, 0), EINVAL);
	CHECK_EQ(fcntl(reader, F_SETFL, O_RDWR), 0);
	CHECK_FAILS(write(reader, "y", 1), EBADF);
	CHECK_FAILS(open(F, O_ACCMODE), EINVAL);
	unlink(F);
}

TRY(folders_are_not_written)
{
	char bytes[100];
	int fd = open("/tmp", O_RDONLY);

	NEED(fd >= 0);
	CHECK_FAILS(read(fd, bytes, sizeof bytes), EISDIR);
	CHECK_FAILS(write(fd, bytes, sizeof bytes), EBADF);
	CHECK_FAILS(open("/tmp", O_WRONLY), EISDIR);
	CHECK_FAILS(open("/tmp", O_RDWR), EISDIR);
	CHECK_FAILS(open("/tmp", O_RDONLY | O_CREAT, 0600), EISDIR);
	CHECK_FAILS(open("/tmp/", O_RDONLY | O_CREAT, 0600), EISDIR);
	CHECK_FAILS(open("/tmp/new/", O_RDONLY | O_CREAT, 0600), EISDIR);
	CHECK_FAILS(open("/tmp", O_RDONLY | O_CREAT | O_EXCL, 0600), EEXIST);
	CHECK_FAILS(truncate("/tmp", 0), EISDIR);
	CHECK(open("/tmp/", O_RDONLY | O_DIRECTORY) >= 0);
}

TRY(paths_that_lead_nowhere)
{
	NEED(make_text(F, "x", 0600));
	CHECK_FAILS(open("", O_RDONLY), ENOENT);
	CHECK_FAILS(open("", O_RDWR | O_CREAT, 0600), ENOENT);
	CHECK_FAILS(open("/tmp/nowhere/x", O_RDONLY), ENOENT);
	CHECK_FAILS(open("/tmp/nowhere/x", O_RDWR | O_CREAT, 0600), ENOENT);
	CHECK_FAILS(open(F "/x", O_RDONLY), ENOTDIR);
	CHECK_FAILS(open(F "/x", O_RDWR | O_CREAT, 0600), ENOTDIR);
	CHECK_FAILS(open(F "/", O_RDONLY), ENOTDIR);
	CHECK_FAILS(open(F "/..", O_RDONLY), ENOTDIR);
	CHECK_FAILS(open(F, O_RDONLY | O_DIRECTORY), ENOTDIR);
	unlink(F);
}

TRY(names_have_255_bytes)
{
	char path[5 + NAME_MAX + 2] = "/tmp/";

	memset(path + 5, 'n', NAME_MAX);
	CHECK(open(path, O_RDWR | O_CREAT, 0600) >= 0);
	CHECK_EQ(size_of(path), 0);
	CHECK_EQ(unlink(path), 0);
	path[5 + NAME_MAX] = 'n';
	CHECK_FAILS(open(path, O_RDWR | O_CREAT, 0600), ENAMETOOLONG);
	CHECK_FAILS(open(path, O_RDONLY), ENAMETOOLONG);
	CHECK_FAILS(mkdir(path, 0700), ENAMETOOLONG);
	CHECK_FAILS(unlink(path), ENAMETOOLONG);
	CHECK_FAILS(rename("/tmp", path), ENAMETOOLONG);
}

/* A path that is longer leads to the same file, and is refused for its length. */
TRY(paths_have_1023_bytes)
{
	static char path[PATH_MAX + 1];

	for (size_t n = 0; n < PATH_MAX - 5; n += 2)
		memcpy(path + n, "/.", 2);
	memcpy(path + PATH_MAX - 1 - 5, "/etc/", 5);
	CHECK_EQ(strlen(path), PATH_MAX - 1);
	CHECK(open(path, O_RDONLY) >= 0);
	path[PATH_MAX - 1] = '/';
	CHECK_FAILS(open(path, O_RDONLY), ENAMETOOLONG);
	CHECK_FAILS(chdir(path), ENAMETOOLONG);
}

TRY(there_are_so_many_descriptors_and_no_more)
{
	int ends[2], last = -1, fd;

	while ((fd = open("/dev/null", O_RDONLY)) >= 0) {
		CHECK_EQ(fd, last < 0 ? fd : last + 1);
		last = fd;
	}
	CHECK_EQ(errno, EMFILE);
	CHECK_EQ(last, OPEN_MAX - 1);
	CHECK_FAILS(dup(0), EMFILE);
	CHECK_FAILS(pipe(ends), EMFILE);
	CHECK_EQ(close(10), 0);
	CHECK_FAILS(pipe(ends), EMFILE);
	CHECK_EQ(close(7), 0);
	CHECK_EQ(dup(0), 7);
	CHECK_EQ(dup(0), 10);
}
