/* SPDX-License-Identifier: MIT */
/* What several of the programs here need: files to try things with, children, other programs. */
#ifndef HELP_H
#define HELP_H

#include <fcntl.h>
#include <sys/stat.h>

#include "check_unix.h"

#define PAGE 4096
#define ROLE \
	"TEST_ROLE" /* In the environment: what the program does when a test has executed it. */

/* How a child ended, or -1. */
static inline int status_of(pid_t pid)
{
	int status = 0;

	return waitpid(pid, &status, 0) == pid ? status : -1;
}

/* Checks made in a child count there only: whether all of them were so, and it ended well. */
static inline bool all_is_well_in_a_child(void (*run)(void))
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		check_failures = 0;
		run();
		fflush(stdout);
		_exit(check_failures != 0);
	}
	return status_of(pid) == 0;
}

/* The status of a program that is executed with a role. */
static inline int status_of_role(const char *path, const char *role)
{
	pid_t pid = fork();

	if (pid == 0) {
		setenv(ROLE, role, 1);
		execl(path, path, (char *)NULL);
		_exit(99);
	}
	return status_of(pid);
}

/* A child that does nothing until a signal ends it. */
static inline pid_t fork_sleeper(void)
{
	pid_t pid = fork();

	while (pid == 0)
		pause();
	return pid;
}

static inline bool make_file(const char *path, const void *data, size_t size, mode_t mode)
{
	int fd = open(path, O_CREAT | O_WRONLY | O_TRUNC, 0600);
	bool success = fd >= 0 && write(fd, data, size) == (ssize_t)size;

	close(fd);
	return success && chmod(path, mode) == 0;
}

static inline bool make_text(const char *path, const char *text, mode_t mode)
{
	return make_file(path, text, strlen(text), mode);
}

/* -1: there is none. */
static inline long long size_of(const char *path)
{
	struct stat status;

	return stat(path, &status) == 0 ? (long long)status.st_size : -1;
}

static inline bool copy_file(const char *from_path, const char *to_path, mode_t mode)
{
	static char bytes[64 << 10];
	int from = open(from_path, O_RDONLY);
	int to = open(to_path, O_CREAT | O_WRONLY | O_TRUNC, 0700);
	ssize_t n;

	while ((n = read(from, bytes, sizeof bytes)) > 0) {
		if (write(to, bytes, (size_t)n) != n)
			n = -1;
	}
	close(from);
	close(to);
	return n == 0 && chmod(to_path, mode) == 0;
}

#endif
