/* SPDX-License-Identifier: MIT */
/* Descriptors: copies, what is no descriptor, and which are closed when a program is executed. */
#include <dirent.h>
#include <limits.h>
#include <sys/ux.h>

#include "help.h"

#define SELF  "/tmp/close_on_exec"
#define FIRST 20 /* Those that the program looks at. */
#define END   60

#define OF_TWO "every-other"

/* How many of all descriptors are not as they should be: those of one parity are open. */
static int wrong_of_all(int open_parity)
{
	int n = 0;

	for (int fd = 0; fd < UX_OPEN_MAX; fd++)
		n += (fcntl(fd, F_GETFD) >= 0) != (fd % 2 == open_parity);
	return n;
}

/* Executed by a test: the status tells how many are open of those. */
__attribute__((constructor)) static void play_role(void)
{
	const char *role = getenv(ROLE);
	int n = 0;

	if (role == NULL)
		return;
	if (strncmp(role, OF_TWO, sizeof OF_TWO - 1) == 0)
		_exit(wrong_of_all(role[sizeof OF_TWO - 1] - '0'));
	for (int fd = FIRST; fd < END; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	_exit(n);
}

static int open_after_exec(void)
{
	return WEXITSTATUS(status_of_role(SELF, ""));
}

/* Fills the places up to FIRST, so that new descriptors are among those that are looked at. */
static void fill_the_first(void)
{
	for (int fd = 3; fd < FIRST; fd++)
		dup2(0, fd);
}

TEST(descriptors_stay_without_the_flag)
{
	DIR *directory;
	int ends[2];

	fill_the_first();
	EXPECT_EQ(open_after_exec(), 0);
	EXPECT_EQ(open("/dev/null", O_RDONLY), 20);
	EXPECT_EQ(pipe(ends), 0);
	EXPECT_EQ(dup(20), 23);
	EXPECT_EQ(dup2(20, 30), 30);
	EXPECT_EQ(fcntl(20, F_DUPFD, 40), 40);
	EXPECT_EQ(open_after_exec(), 6);
	directory = opendir("/");
	EXPECT(directory != NULL && fcntl(dirfd(directory), F_GETFD) == FD_CLOEXEC);
	EXPECT_EQ(open_after_exec(), 6);
}

TEST(each_call_can_make_one_that_closes)
{
	int ends[2];

	fill_the_first();
	EXPECT_EQ(open("/dev/null", O_RDONLY | O_CLOEXEC), 20);
	EXPECT_EQ(open("/tmp/close_on_exec.f", O_RDWR | O_CREAT | O_CLOEXEC, 0600), 21);
	EXPECT_EQ(pipe2(ends, O_CLOEXEC), 0);
	EXPECT_EQ(dup3(20, 30, O_CLOEXEC), 30);
	EXPECT_EQ(fcntl(20, F_DUPFD_CLOEXEC, 40), 40);
	EXPECT_EQ(dup2(0, 50), 50);
	EXPECT_EQ(fcntl(50, F_SETFD, FD_CLOEXEC), 0);
	for (int fd = FIRST; fd < END; fd++)
		EXPECT(fcntl(fd, F_GETFD) == FD_CLOEXEC || errno == EBADF);
	EXPECT_EQ(open_after_exec(), 0);
	EXPECT_EQ(fcntl(50, F_SETFD, 0), 0);
	EXPECT_EQ(open_after_exec(), 1);
	unlink("/tmp/close_on_exec.f");
}

TEST(the_flag_is_the_descriptors_and_not_the_files)
{
	fill_the_first();
	EXPECT_EQ(open("/dev/null", O_RDONLY | O_CLOEXEC), 20);
	EXPECT_EQ(dup(20), 21);
	EXPECT_EQ(fcntl(21, F_GETFD), 0);
	EXPECT_EQ(dup2(20, 20), 20);
	EXPECT_EQ(fcntl(20, F_GETFD), FD_CLOEXEC);
	EXPECT_EQ(dup2(21, 20), 20);
	EXPECT_EQ(fcntl(20, F_GETFD), 0);
	EXPECT_EQ(open_after_exec(), 2);
}

/* From the first to the last that there can be, and none of those beside it. */
TEST(each_descriptor_can_close)
{
	for (int fd = 1; fd < UX_OPEN_MAX; fd++)
		dup2(0, fd);
	for (int closed = 0; closed < 2; closed++) {
		for (int fd = 0; fd < UX_OPEN_MAX; fd++)
			fcntl(fd, F_SETFD, fd % 2 == closed ? FD_CLOEXEC : 0);
		EXPECT_EQ(status_of_role(SELF, closed == 0 ? OF_TWO "1" : OF_TWO "0"), 0);
	}
}

TEST(copies_share_the_position)
{
	char bytes[4];
	pid_t pid;
	int fd = open("/etc/passwd", O_RDONLY), copy = dup(fd),
	    other = open("/etc/passwd", O_RDONLY);

	EXPECT_EQ(read(fd, bytes, 4), 4);
	EXPECT_EQ(lseek(copy, 0, SEEK_CUR), 4);
	EXPECT_EQ(lseek(other, 0, SEEK_CUR), 0);
	pid = fork();
	if (pid == 0)
		_exit(read(copy, bytes, 3) != 3);
	EXPECT_EQ(status_of(pid), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_CUR), 7);
	EXPECT_EQ(close(fd), 0);
	EXPECT_EQ(read(copy, bytes, 1), 1);
}

TEST(what_is_no_descriptor)
{
	static const int wrong[] = {-1, 17, OPEN_MAX, 1 << 20, INT_MAX, INT_MIN};
	struct stat status;
	char byte = 0;

	for (size_t n = 0; n < sizeof wrong / sizeof wrong[0]; n++) {
		int fd = wrong[n];

		EXPECT_FAILS(read(fd, &byte, 1), EBADF);
		EXPECT_FAILS(read(fd, &byte, 0), EBADF);
		EXPECT_FAILS(write(fd, &byte, 1), EBADF);
		EXPECT_FAILS(write(fd, &byte, 0), EBADF);
		EXPECT_FAILS(close(fd), EBADF);
		EXPECT_FAILS(lseek(fd, 0, SEEK_SET), EBADF);
		EXPECT_FAILS(fstat(fd, &status), EBADF);
		EXPECT_FAILS(dup(fd), EBADF);
		EXPECT_FAILS(dup2(fd, 5), EBADF);
		EXPECT_FAILS(dup3(fd, 5, O_CLOEXEC), EBADF);
		EXPECT_FAILS(fcntl(fd, F_GETFL), EBADF);
		EXPECT_FAILS(fsync(fd), EBADF);
		EXPECT_FAILS(ftruncate(fd, 0), EBADF);
		EXPECT_FAILS(fchmod(fd, 0), EBADF);
		if (fd != 17)
			EXPECT_FAILS(dup2(0, fd), EBADF);
	}
	EXPECT_FAILS(dup3(0, 0, 0), EINVAL);
	EXPECT_FAILS(dup3(0, 5, O_APPEND), EINVAL);
	EXPECT_FAILS(fcntl(0, F_DUPFD, -1), EINVAL);
	EXPECT_FAILS(fcntl(0, F_DUPFD, OPEN_MAX), EINVAL);
	EXPECT_FAILS(fcntl(0, 4711, 0), EINVAL);
	EXPECT_FAILS(pipe2((int[2]){0}, O_APPEND), EINVAL);
}
