/* SPDX-License-Identifier: MIT */
/* Descriptors, open files, and positions in them. */
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <sys/ux.h>

#include "check_unix.h"

static int scratch(void)
{
	int fd = open("/tmp/scratch", O_RDWR | O_CREAT | O_TRUNC, 0600);

	unlink("/tmp/scratch");
	return fd;
}

TEST(the_lowest_free_descriptor_is_given)
{
	int fd = scratch();

	REQUIRE(fd >= 0);
	EXPECT_EQ(dup(fd), fd + 1);
	EXPECT_EQ(dup(fd), fd + 2);
	EXPECT_EQ(close(fd + 1), 0);
	EXPECT_EQ(fcntl(fd, F_DUPFD, 0), fd + 1);
	EXPECT_EQ(fcntl(fd, F_DUPFD, 40), 40);
	EXPECT_EQ(fcntl(fd, F_DUPFD, 40), 41);
	EXPECT_EQ(dup2(fd, 63), 63);
	EXPECT_EQ(dup2(fd, fd), fd);
}

TEST(descriptors_that_are_none)
{
	char byte = 0;
	int fd = scratch();

	EXPECT_FAILS(close(50), EBADF);
	EXPECT_FAILS(close(-1), EBADF);
	EXPECT_FAILS(close(INT_MAX), EBADF);
	EXPECT_FAILS(read(50, &byte, 1), EBADF);
	EXPECT_FAILS(write(-1, &byte, 1), EBADF);
	EXPECT_FAILS(lseek(64, 0, SEEK_SET), EBADF);
	EXPECT_FAILS(dup(50), EBADF);
	EXPECT_FAILS(dup2(50, 51), EBADF);
	EXPECT_FAILS(dup2(fd, UX_OPEN_MAX), EBADF);
	EXPECT_FAILS(dup2(fd, -1), EBADF);
	EXPECT_FAILS(fcntl(50, F_GETFD), EBADF);
	EXPECT_FAILS(fcntl(fd, F_DUPFD, UX_OPEN_MAX), EINVAL);
	EXPECT_FAILS(fcntl(fd, F_DUPFD, -1), EINVAL);
	EXPECT_FAILS(fcntl(fd, 77, 0), EINVAL);
	EXPECT_FAILS(fsync(50), EBADF);
	EXPECT_FAILS(ftruncate(50, 0), EBADF);
}

TEST(there_are_so_many_and_no_more)
{
	int ends[2], n = 0;

	while (dup(1) >= 0)
		n++;
	EXPECT_EQ(errno, EMFILE);
	EXPECT(n >= UX_OPEN_MAX - 8);
	EXPECT_FAILS(open("/etc/passwd", O_RDONLY), EMFILE);
	EXPECT_FAILS(pipe(ends), EMFILE);
	EXPECT_EQ(close(UX_OPEN_MAX - 1), 0);
	EXPECT_FAILS(pipe(ends), EMFILE);
	EXPECT_EQ(open("/etc/passwd", O_RDONLY), UX_OPEN_MAX - 1);
}

TEST(copies_share_their_position_and_flags)
{
	int fd = scratch(), copy = dup(fd);
	char bytes[8];

	EXPECT_EQ(write(fd, "abcdef", 6), 6);
	EXPECT_EQ(lseek(copy, 0, SEEK_CUR), 6);
	EXPECT_EQ(lseek(copy, 1, SEEK_SET), 1);
	EXPECT_EQ(read(fd, bytes, 2), 2);
	EXPECT(memcmp(bytes, "bc", 2) == 0);
	EXPECT_EQ(fcntl(copy, F_SETFL, O_APPEND), 0);
	EXPECT((fcntl(fd, F_GETFL) & O_APPEND) != 0);
	EXPECT_EQ(write(fd, "g", 1), 1);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 7);
	if (fork() == 0)
		_exit(lseek(copy, 3, SEEK_SET) != 3);
	wait(NULL);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 3);
}

TEST(each_opening_has_its_own_position)
{
	int one = open("/etc/passwd", O_RDONLY), other = open("/etc/passwd", O_RDONLY);

	EXPECT_EQ(lseek(one, 5, SEEK_SET), 5);
	EXPECT_EQ(lseek(other, 0, SEEK_CUR), 0);
}

TEST(positions_have_64_bits_and_no_sign)
{
	int fd = scratch();
	char byte = 'x';

	EXPECT_EQ(lseek(fd, 10, SEEK_END), 10);
	EXPECT_FAILS(lseek(fd, -11, SEEK_CUR), EINVAL);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 10);
	EXPECT_EQ(lseek(fd, INT64_MAX, SEEK_SET), INT64_MAX);
	EXPECT_FAILS(lseek(fd, 1, SEEK_CUR), EOVERFLOW);
	EXPECT_FAILS(lseek(fd, 0, 3), EINVAL);
	EXPECT_EQ(read(fd, &byte, 1), 0);
	EXPECT_FAILS(write(fd, &byte, 1), EFBIG);
}

/* What lies between the end and what is written is zeroes. */
TEST(a_hole_is_zeroes)
{
	int fd = scratch();
	char bytes[3] = "xxx";

	EXPECT_EQ(lseek(fd, 5000, SEEK_SET), 5000);
	EXPECT_EQ(write(fd, "y", 1), 1);
	EXPECT_EQ(lseek(fd, 4998, SEEK_SET), 4998);
	EXPECT_EQ(read(fd, bytes, 3), 3);
	EXPECT(memcmp(bytes, "\0\0y", 3) == 0);
	EXPECT_EQ(read(fd, bytes, 3), 0);
}

/* More than a message carries, and of an odd size. */
TEST(long_reads_and_writes)
{
	static char out[100001], in[200000];
	int fd = scratch();

	for (unsigned n = 0; n < sizeof out; n++)
		out[n] = (char)(n * 7 + n / 251);
	EXPECT_EQ(write(fd, out, sizeof out), sizeof out);
	EXPECT_EQ(lseek(fd, 1, SEEK_SET), 1);
	EXPECT_EQ(read(fd, in, sizeof in), sizeof out - 1);
	EXPECT(memcmp(in, out + 1, sizeof out - 1) == 0);
	EXPECT_EQ(read(fd, in, sizeof in), 0);
}

/* Two processes append; no line is lost or broken. */
TEST(appending_is_atomic)
{
	int fd = open("/tmp/appended", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	static char all[2 * 50 * 100 + 1];
	unsigned lines[2] = {0, 0};
	char line[100];

	REQUIRE(fd >= 0);
	for (int child = 0; child < 2; child++) {
		if (fork() != 0)
			continue;
		fd = open("/tmp/appended", O_WRONLY | O_APPEND);
		memset(line, 'a' + child, sizeof line);
		for (int n = 0; n < 50; n++)
			if (write(fd, line, sizeof line) != sizeof line)
				_exit(1);
		_exit(0);
	}
	while (wait(NULL) >= 0)
		continue;
	EXPECT_EQ(read(fd, all, sizeof all), sizeof all - 1);
	for (unsigned n = 0; n < sizeof all - 1; n += sizeof line) {
		memset(line, all[n], sizeof line);
		EXPECT(memcmp(all + n, line, sizeof line) == 0);
		lines[all[n] != 'a']++;
	}
	EXPECT_EQ(lines[0], 50);
	EXPECT_EQ(lines[1], 50);
	unlink("/tmp/appended");
}

TEST(rights_are_those_of_the_opening)
{
	int reader = open("/etc/passwd", O_RDONLY);
	int writer = open("/tmp/w", O_WRONLY | O_CREAT | O_TRUNC, 0600);
	char byte;

	EXPECT_FAILS(write(reader, "x", 1), EBADF);
	EXPECT_FAILS(read(writer, &byte, 1), EBADF);
	EXPECT_FAILS(ftruncate(reader, 0), EINVAL);
	EXPECT_FAILS(open("/tmp/w", O_RDONLY | O_WRONLY | O_RDWR), EINVAL);
	unlink("/tmp/w");
}

TEST(close_on_exec_in_every_way)
{
	int ends[2];
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);

	EXPECT_EQ(fcntl(fd, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(fcntl(dup(fd), F_GETFD), 0);
	EXPECT_EQ(fcntl(dup3(fd, 30, O_CLOEXEC), F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(fcntl(fcntl(fd, F_DUPFD_CLOEXEC, 31), F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
	EXPECT_EQ(fcntl(ends[0], F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(fcntl(ends[1], F_GETFD), FD_CLOEXEC);
	EXPECT_FAILS(pipe2(ends, O_APPEND), EINVAL);
	EXPECT_EQ(fcntl(fd, F_SETFD, 0), 0);
	EXPECT_EQ(fcntl(fd, F_GETFD), 0);
}

TEST(devices)
{
	char bytes[3] = "xyz";
	int null = open("/dev/null", O_RDWR), zero = open("/dev/zero", O_RDWR);
	int full = open("/dev/full", O_RDWR);

	EXPECT_EQ(read(null, bytes, 3), 0);
	EXPECT_EQ(write(null, bytes, 3), 3);
	EXPECT_EQ(read(zero, bytes, 2), 2);
	EXPECT(memcmp(bytes, "\0\0z", 3) == 0);
	EXPECT_FAILS(write(full, bytes, 1), ENOSPC);
	EXPECT_EQ(lseek(zero, 100, SEEK_SET), 0);
	EXPECT_EQ(ftruncate(null, 0), -1);
}
