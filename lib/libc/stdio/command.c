/* SPDX-License-Identifier: MIT */
/* Files removed, and commands run by the shell. */
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "file.h"

#define SHELL     "/bin/sh"
#define NOT_FOUND 127 /* What a shell that cannot be run would say. */

int remove(const char *path)
{
	int result = unlink(path);

	if (result < 0 && (errno == EISDIR || errno == EPERM))
		result = rmdir(path);
	return result;
}

/* Never comes back: the child becomes the shell. */
static _Noreturn void become_shell(const char *command)
{
	char *const arguments[] = {"sh", "-c", (char *)(uintptr_t)command, NULL};

	execve(SHELL, arguments, environ);
	_exit(NOT_FOUND);
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0) {
		if (errno != EINTR)
			return -1;
	}
	return status;
}

struct signals {
	struct sigaction interrupt;
	struct sigaction quit;
	sigset_t mask;
};

/* While a command runs, the keyboard's signals are for it, and its end is for system() alone. */
static void hold_signals(struct signals *before)
{
	struct sigaction ignore = {.sa_handler = SIG_IGN};
	sigset_t children;

	sigemptyset(&children);
	sigaddset(&children, SIGCHLD);
	sigaction(SIGINT, &ignore, &before->interrupt);
	sigaction(SIGQUIT, &ignore, &before->quit);
	sigprocmask(SIG_BLOCK, &children, &before->mask);
}

static void restore_signals(const struct signals *before)
{
	sigaction(SIGINT, &before->interrupt, NULL);
	sigaction(SIGQUIT, &before->quit, NULL);
	sigprocmask(SIG_SETMASK, &before->mask, NULL);
}

int system(const char *command)
{
	struct signals before;
	pid_t child;
	int status;

	if (command == NULL)
		return access(SHELL, X_OK) == 0;
	hold_signals(&before);
	child = fork();
	if (child == 0) {
		restore_signals(&before);
		become_shell(command);
	}
	status = child > 0 ? wait_for(child) : -1;
	restore_signals(&before);
	return status;
}

/* In the child: `mine` becomes the standard stream, and both ends of the pipe go. */
static _Noreturn void run_with_pipe(const char *command, const int *ends, int mine, int standard)
{
	int other = ends[0] + ends[1] - mine;

	close(other);
	if (mine != standard) {
		dup2(mine, standard);
		close(mine);
	}
	become_shell(command);
}

static FILE *start(const char *command, const int *ends, bool reads)
{
	FILE *file = __file_new(ends[reads ? 0 : 1], reads ? FILE_READABLE : FILE_WRITABLE);

	if (file == NULL) {
		close(ends[reads ? 0 : 1]);
		return NULL;
	}
	file->child = fork();
	if (file->child == 0)
		run_with_pipe(command, ends, ends[reads ? 1 : 0],
			      reads ? STDOUT_FILENO : STDIN_FILENO);
	if (file->child > 0)
		return file;
	fclose(file);
	return NULL;
}

/* The parent's end is not for programs that are run later. */
FILE *popen(const char *command, const char *mode)
{
	bool reads = *mode == 'r';
	int ends[2];
	FILE *file;

	if (*mode != 'r' && *mode != 'w') {
		errno = EINVAL;
		return NULL;
	}
	if (pipe(ends) < 0)
		return NULL;
	fcntl(ends[reads ? 0 : 1], F_SETFD, FD_CLOEXEC);
	file = start(command, ends, reads);
	close(ends[reads ? 1 : 0]);
	return file;
}

int pclose(FILE *file)
{
	pid_t child = file->child;

	fclose(file);
	return wait_for(child);
}
