/* SPDX-License-Identifier: MIT */
/*
 * Pipes: their ends, waiting, and what is written in one piece.
 *
 * guest: limit=30
 * guest: cpus=2 seed=1 limit=30
 */
#include <limits.h>
#include <signal.h>

#include "help.h"

TEST(bytes_come_in_order_and_then_the_end)
{
	char bytes[8] = "";
	int ends[2];

	REQUIRE(pipe(ends) == 0);
	EXPECT_EQ(write(ends[1], "abc", 3), 3);
	EXPECT_EQ(write(ends[1], "de", 2), 2);
	EXPECT_EQ(read(ends[0], bytes, 4), 4);
	EXPECT(strcmp(bytes, "abcd") == 0);
	EXPECT_EQ(close(ends[1]), 0);
	EXPECT_EQ(read(ends[0], bytes, 4), 1);
	EXPECT_EQ(read(ends[0], bytes, 4), 0);
	EXPECT_EQ(read(ends[0], bytes, 4), 0);
	EXPECT_FAILS(write(ends[0], "x", 1), EBADF);
}

/* The end comes with the last copy of the writer's, which a child has. */
TEST(the_end_comes_with_the_last_writer)
{
	char byte = 0;
	int ends[2], go[2];
	pid_t pid;

	REQUIRE(pipe(ends) == 0 && pipe(go) == 0);
	pid = fork();
	if (pid == 0) {
		close(go[1]);
		read(go[0], &byte, 1);
		_exit(write(ends[1], "z", 1) != 1);
	}
	EXPECT_EQ(close(ends[1]), 0);
	EXPECT_EQ(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
	EXPECT_FAILS(read(ends[0], &byte, 1), EAGAIN);
	EXPECT_EQ(fcntl(ends[0], F_SETFL, 0), 0);
	close(go[1]);
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	EXPECT_EQ(read(ends[0], &byte, 1), 0);
	EXPECT_EQ(status_of(pid), 0);
}

static void write_to_nobody(void)
{
	int ends[2];

	if (pipe(ends) == 0 && close(ends[0]) == 0)
		write(ends[1], "x", 1);
	_exit(0);
}

TEST(nobody_reads)
{
	int ends[2];
	pid_t pid = fork();

	if (pid == 0)
		write_to_nobody();
	EXPECT_EQ(status_of(pid), SIGPIPE);
	signal(SIGPIPE, SIG_IGN);
	REQUIRE(pipe(ends) == 0 && close(ends[0]) == 0);
	EXPECT_FAILS(write(ends[1], "x", 1), EPIPE);
	EXPECT_EQ(write(ends[1], "x", 0), 0);
}

/* Who waits for room is told when the reader goes. */
TEST(the_reader_goes_while_one_waits)
{
	static char bytes[100000];
	int ends[2];
	pid_t pid;

	REQUIRE(pipe(ends) == 0);
	pid = fork();
	if (pid == 0) {
		close(ends[0]);
		write(ends[1], bytes, sizeof bytes);
		write(ends[1], bytes, sizeof bytes);
		_exit(0);
	}
	close(ends[1]);
	EXPECT_EQ(read(ends[0], bytes, 1), 1);
	EXPECT_EQ(close(ends[0]), 0);
	EXPECT_EQ(status_of(pid), SIGPIPE);
}

TEST(some_do_not_want_to_wait)
{
	static char bytes[PIPE_BUF];
	int ends[2], total = 0;

	REQUIRE(pipe2(ends, O_NONBLOCK) == 0);
	EXPECT_EQ(fcntl(ends[0], F_GETFL), O_RDONLY | O_NONBLOCK);
	EXPECT_FAILS(read(ends[0], bytes, 1), EAGAIN);
	while (write(ends[1], bytes, PIPE_BUF) == PIPE_BUF)
		total += PIPE_BUF;
	EXPECT_EQ(errno, EAGAIN);
	EXPECT(total >= PIPE_BUF);
	/* What would have to be torn is not begun; what is longer may be. */
	EXPECT_EQ(read(ends[0], bytes, 10), 10);
	EXPECT_FAILS(write(ends[1], bytes, PIPE_BUF), EAGAIN);
	EXPECT_EQ(write(ends[1], bytes, 10), 10);
	EXPECT_EQ(read(ends[0], bytes, 10), 10);
	EXPECT_FAILS(write(ends[1], bytes, 11), EAGAIN);
}

static void write_records(int fd, char letter, int count)
{
	static char record[PIPE_BUF];

	memset(record, letter, sizeof record);
	while (count-- > 0) {
		if (write(fd, record, sizeof record) != sizeof record)
			_exit(1);
	}
	_exit(0);
}

static bool read_whole(int fd, char *bytes, size_t size)
{
	size_t done = 0;
	ssize_t n;

	while (done < size && (n = read(fd, bytes + done, size - done)) > 0)
		done += (size_t)n;
	return done == size;
}

TEST(records_of_two_writers_are_not_torn)
{
	enum {
		RECORDS = 40
	};
	static char record[PIPE_BUF];
	int ends[2], n_a = 0;
	pid_t pids[2];

	REQUIRE(pipe(ends) == 0);
	for (int n = 0; n < 2; n++) {
		pids[n] = fork();
		if (pids[n] == 0)
			write_records(ends[1], (char)('a' + n), RECORDS);
	}
	close(ends[1]);
	for (int n = 0; n < 2 * RECORDS; n++) {
		REQUIRE(read_whole(ends[0], record, sizeof record));
		for (size_t byte = 1; byte < sizeof record; byte++)
			REQUIRE(record[byte] == record[0]);
		n_a += record[0] == 'a';
	}
	EXPECT_EQ(n_a, RECORDS);
	EXPECT_EQ(read(ends[0], record, 1), 0);
	EXPECT_EQ(status_of(pids[0]), 0);
	EXPECT_EQ(status_of(pids[1]), 0);
}

/* More than fits, through reads and writes of other sizes than those of the other side. */
TEST(a_stream_of_many_bytes)
{
	enum {
		TOTAL = 600000
	};
	char *bytes = malloc(TOTAL);
	int ends[2], done = 0;
	pid_t pid;

	REQUIRE(bytes != NULL && pipe(ends) == 0);
	for (int n = 0; n < TOTAL; n++)
		bytes[n] = (char)(n / 251 + n);
	pid = fork();
	if (pid == 0)
		_exit(write(ends[1], bytes, TOTAL) != TOTAL);
	close(ends[1]);
	memset(bytes, 0, TOTAL);
	for (ssize_t n = 1; n > 0; done += (int)n)
		n = read(ends[0], bytes + done, done % 3 == 0 ? 20000 : 777);
	EXPECT_EQ(done, TOTAL);
	for (int n = 0; n < TOTAL; n++)
		REQUIRE(bytes[n] == (char)(n / 251 + n));
	EXPECT_EQ(status_of(pid), 0);
}

/* The one reads, the other writes; both end with the process. */
TEST(who_waits_can_be_ended)
{
	int ends[2], full[2];
	static char bytes[100000];
	pid_t reader, writer;

	REQUIRE(pipe(ends) == 0 && pipe(full) == 0);
	reader = fork();
	if (reader == 0)
		_exit((int)read(ends[0], bytes, 1));
	writer = fork();
	if (writer == 0)
		_exit((int)write(full[1], bytes, sizeof bytes));
	EXPECT_EQ(read(full[0], bytes, 1), 1);
	EXPECT_EQ(kill(reader, SIGKILL), 0);
	EXPECT_EQ(kill(writer, SIGKILL), 0);
	EXPECT_EQ(status_of(reader), SIGKILL);
	EXPECT_EQ(status_of(writer), SIGKILL);
	EXPECT_EQ(write(ends[1], "x", 1), 1);
	EXPECT_EQ(read(ends[0], bytes, 2), 1);
}

/* Pipes are memory of the server's: those that are closed are given back. */
TEST(pipes_come_and_go)
{
	int ends[2];

	for (int n = 0; n < 2000; n++) {
		REQUIRE(pipe(ends) == 0);
		close(ends[n % 2]);
		close(ends[1 - n % 2]);
	}
}
