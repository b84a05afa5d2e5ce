/* SPDX-License-Identifier: MIT */
/*
 * Whoever wants to write the profile waits for a thread that does: another thread, and a handler of
 * a signal that comes to the thread that writes.  That one is held up by a pipe which nobody reads.
 */
#include <fcntl.h>
#include <gprof.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check_unix.h"
#include "work.h"

int gprof_no_auto_initialization_from_crt0 = 1;

static char slow[] = "slow.pipe", by_other[] = "other.out", by_handler[] = "handler.out";

static int begun; /* Threads that are about to write. */

static void *write_to(void *path)
{
	__atomic_add_fetch(&begun, 1, __ATOMIC_RELAXED);
	EXPECT_EQ(gprof_stop(path), 0);
	return NULL;
}

static void handle(int signal)
{
	(void)signal;
	write_to(by_handler);
}

static void await_begun(int threads)
{
	while (__atomic_load_n(&begun, __ATOMIC_RELAXED) < threads)
		usleep(1000);
}

/* When its beginning is in the pipe, the thread writes. */
static int hold_up(pthread_t *writer)
{
	char byte;
	int fd;

	EXPECT_EQ(mkfifo(slow, 0600), 0);
	fd = open(slow, O_RDONLY | O_NONBLOCK);
	EXPECT_EQ(pthread_create(writer, NULL, write_to, slow), 0);
	while (read(fd, &byte, 1) != 1)
		usleep(1000);
	return fd;
}

static void let_go(int fd)
{
	char room[4096];

	fcntl(fd, F_SETFL, 0);
	while (read(fd, room, sizeof room) > 0)
		continue;
	close(fd);
}

static void expect_profile(const char *path)
{
	struct stat status = {.st_size = 0};

	EXPECT_EQ(stat(path, &status), 0);
	EXPECT(status.st_size > 0);
}

int main(void)
{
	const struct sigaction action = {.sa_handler = handle};
	pthread_t writer, other;
	int fd;

	EXPECT_EQ(gprof_start(SAMPLED_PC_PERIODIC), 0);
	spin(5);
	fd = hold_up(&writer);
	EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	EXPECT_EQ(pthread_kill(writer, SIGUSR1), 0);
	EXPECT_EQ(pthread_create(&other, NULL, write_to, by_other), 0);
	await_begun(2);
	usleep(50000);
	EXPECT_EQ(begun, 2); /* The handler has not: it waits until the thread is done. */
	EXPECT(access(by_other, F_OK) != 0);
	let_go(fd);
	EXPECT_EQ(pthread_join(writer, NULL), 0);
	EXPECT_EQ(pthread_join(other, NULL), 0);
	EXPECT_EQ(begun, 3);
	expect_profile(by_other);
	expect_profile(by_handler);
	return check_failures != 0;
}
