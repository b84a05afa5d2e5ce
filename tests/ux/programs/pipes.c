/* SPDX-License-Identifier: MIT */
/* Pipes: bytes in order, ends that close, and waits that a signal breaks off. */
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include "check_unix.h"

#define PIPE_BUF 4096

static volatile int signals;

static void note(int signal)
{
	(void)signal;
	signals++;
}

static void handle(int signal, int flags)
{
	struct sigaction action = {.sa_handler = note, .sa_flags = flags};

	signals = 0;
	EXPECT_EQ(sigaction(signal, &action, NULL), 0);
}

TEST(bytes_come_in_order)
{
	static char bytes[30000];
	unsigned total = 0;
	int ends[2];
	ssize_t n;

	REQUIRE(pipe(ends) == 0);
	if (fork() == 0) {
		for (unsigned sent = 0; sent < 300000; sent += sizeof bytes) {
			for (unsigned i = 0; i < sizeof bytes; i++)
				bytes[i] = (char)((sent + i) % 251);
			if (write(ends[1], bytes, sizeof bytes) != sizeof bytes)
				_exit(1);
		}
		_exit(0);
	}
	close(ends[1]);
	while ((n = read(ends[0], bytes, 777)) > 0) {
		for (ssize_t i = 0; i < n; i++)
			if (bytes[i] != (char)((total + (unsigned)i) % 251))
				check_fail("byte %u is wrong", total + (unsigned)i);
		total += (unsigned)n;
	}
	EXPECT_EQ(n, 0);
	EXPECT_EQ(total, 300000);
}

/* Each of several writers' pieces comes whole. */
TEST(small_pieces_are_whole)
{
	static char piece[PIPE_BUF], expected[PIPE_BUF];
	unsigned pieces = 0;
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	for (int child = 0; child < 3; child++) {
		if (fork() != 0)
			continue;
		memset(piece, 'a' + child, sizeof piece);
		for (int n = 0; n < 20; n++)
			if (write(ends[1], piece, sizeof piece) != sizeof piece)
				_exit(1);
		_exit(0);
	}
	close(ends[1]);
	for (;;) {
		size_t got = 0;
		ssize_t n;

		while (got < sizeof piece &&
		       (n = read(ends[0], piece + got, sizeof piece - got)) > 0)
			got += (size_t)n;
		if (got == 0)
			break;
		EXPECT_EQ(got, sizeof piece);
		memset(expected, piece[0], sizeof expected);
		EXPECT(memcmp(piece, expected, sizeof piece) == 0);
		pieces++;
	}
	EXPECT_EQ(pieces, 60);
}

TEST(without_waiting)
{
	static char bytes[2 * PIPE_BUF];
	int ends[2];
	ssize_t n, room = 0;

	REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
	EXPECT_FAILS(read(ends[0], bytes, 1), EAGAIN);
	while ((n = write(ends[1], bytes, PIPE_BUF)) > 0) {
		EXPECT_EQ(n, PIPE_BUF);
		room += n;
	}
	EXPECT_EQ(errno, EAGAIN);
	EXPECT_EQ(read(ends[0], bytes, 1), 1);
	EXPECT_FAILS(write(ends[1], bytes, PIPE_BUF), EAGAIN);
	EXPECT_EQ(write(ends[1], bytes, 2 * PIPE_BUF), 1);
	close(ends[1]);
	for (; (n = read(ends[0], bytes, sizeof bytes)) > 0; room -= n)
		continue;
	EXPECT_EQ(n, 0);
	EXPECT_EQ(room, 0);
}

TEST(without_a_reader)
{
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	close(ends[0]);
	handle(SIGPIPE, 0);
	EXPECT_FAILS(write(ends[1], "x", 1), EPIPE);
	EXPECT_EQ(signals, 1);
	if (fork() == 0) {
		signal(SIGPIPE, SIG_DFL);
		write(ends[1], "x", 1);
		_exit(0);
	}
	int status = 0;
	wait(&status);
	EXPECT(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE);
}

TEST(a_signal_ends_a_wait)
{
	pid_t parent = getpid(), child;
	int ends[2];
	char byte;

	REQUIRE(pipe(ends) == 0);
	handle(SIGUSR1, 0);
	child = fork();
	while (child == 0) { /* The first one may come before the wait. */
		kill(parent, SIGUSR1);
		usleep(10000);
	}
	EXPECT_FAILS(read(ends[0], &byte, 1), EINTR);
	EXPECT(signals > 0);
	kill(child, SIGKILL);
	wait(NULL);
}

TEST(a_wait_goes_on_after_a_handler)
{
	pid_t parent = getpid();
	int ends[2];
	char byte = 0;

	REQUIRE(pipe(ends) == 0);
	handle(SIGUSR1, SA_RESTART);
	if (fork() == 0) {
		kill(parent, SIGUSR1);
		write(ends[1], "x", 1);
		_exit(0);
	}
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	EXPECT_EQ(byte, 'x');
	wait(NULL);
	EXPECT_EQ(signals, 1);
}

TEST(what_a_pipe_is_not)
{
	struct stat status;
	int ends[2];
	char byte;

	REQUIRE(pipe(ends) == 0);
	EXPECT_FAILS(lseek(ends[0], 0, SEEK_SET), ESPIPE);
	EXPECT_FAILS(write(ends[0], "x", 1), EBADF);
	EXPECT_FAILS(read(ends[1], &byte, 1), EBADF);
	EXPECT_FAILS(ftruncate(ends[1], 0), EINVAL);
	EXPECT_FAILS(fsync(ends[1]), EINVAL);
	EXPECT_EQ(write(ends[1], "abc", 3), 3);
	EXPECT_EQ(fstat(ends[0], &status), 0);
	EXPECT(S_ISFIFO(status.st_mode));
	EXPECT_EQ(status.st_size, 3);
}
