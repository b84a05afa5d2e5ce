/* SPDX-License-Identifier: MIT */
/* Redirections, and the stack of descriptors that they hide for a while. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expand.h"
#include "report.h"
#include "sh.h"

#define CREATE_MODE 0666

/* What a pipe surely holds while nobody reads it. */
#define HERE_BYTES 512

/* A descriptor as it was; hidden by the redirection that saved it. */
struct saved {
	struct saved *below;
	int descriptor;
	int copy;       /* -1 if it was closed. */
	bool is_bottom; /* Of what one redirect() did. */
};

static struct saved *saved;

int own_descriptor(int descriptor)
{
	int own = fcntl(descriptor, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);

	if (own < 0)
		die("no descriptor is left: %s", strerror(errno));
	close(descriptor);
	return own;
}

static void push(int descriptor, int copy, bool is_bottom)
{
	struct saved *entry = heap_allocate(sizeof(*entry));

	*entry = (struct saved){saved, descriptor, copy, is_bottom};
	saved = entry;
}

static bool save(int descriptor)
{
	int copy = fcntl(descriptor, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);

	if (copy < 0 && errno != EBADF) {
		complain("%d: cannot be saved: %s", descriptor, strerror(errno));
		return false;
	}
	push(descriptor, copy, false);
	return true;
}

static int open_flags(enum redirection_kind kind)
{
	switch (kind) {
	case REDIRECT_READ:
		return O_RDONLY;
	case REDIRECT_WRITE:
	case REDIRECT_CLOBBER:
		return O_WRONLY | O_CREAT | O_TRUNC;
	case REDIRECT_APPEND:
		return O_WRONLY | O_CREAT | O_APPEND;
	default:
		assert(kind == REDIRECT_BOTH);
		return O_RDWR | O_CREAT;
	}
}

/* Opening a FIFO waits for somebody, who may be waiting for the command to have begun. */
static void note_if_fifo(const char *name)
{
	struct stat status;

	if (exec_report_is_open() && stat(name, &status) == 0 && S_ISFIFO(status.st_mode))
		exec_report_close();
}

/* Under `set -C` > makes new files only, but writes to devices. */
static int clobber_flags(enum redirection_kind kind, const char *name)
{
	struct stat status;

	if (kind != REDIRECT_WRITE || !option('C'))
		return 0;
	return stat(name, &status) != 0 || S_ISREG(status.st_mode) ? O_EXCL : 0;
}

static int open_file(const struct redirection *redirection)
{
	const char *name = expand_string(redirection->word);
	bool creates = redirection->kind != REDIRECT_READ;
	int flags = open_flags(redirection->kind) | clobber_flags(redirection->kind, name);
	int descriptor;

	note_if_fifo(name);
	descriptor = open(name, flags | O_CLOEXEC, CREATE_MODE);
	if (descriptor < 0)
		complain("cannot %s %s: %s", creates ? "create" : "open", name, strerror(errno));
	return descriptor;
}

static void write_all(int descriptor, const char *bytes, size_t length)
{
	while (length > 0) {
		ssize_t written = write(descriptor, bytes, length);

		if (written < 0)
			return;
		bytes += written;
		length -= (size_t)written;
	}
}

/* A longer text is written by a child while the command reads. */
static int open_here(const struct redirection *redirection)
{
	const char *text = expand_string(redirection->word);
	size_t length = strlen(text);
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) != 0) {
		complain("cannot make a pipe: %s", strerror(errno));
		return -1;
	}
	if (length <= HERE_BYTES) {
		write_all(ends[1], text, length);
	} else if (fork_child(CHILD_BACKGROUND) == 0) {
		close(ends[0]);
		write_all(ends[1], text, length);
		_exit(0);
	}
	close(ends[1]);
	return ends[0];
}

static bool move(int from, int to)
{
	if (from == to)
		return fcntl(to, F_SETFD, 0) == 0;
	if (dup2(from, to) < 0) {
		complain("%d: %s", to, strerror(errno));
		close(from);
		return false;
	}
	close(from);
	return true;
}

/* The shell's own descriptors are nobody else's business. */
static bool duplicate(const struct redirection *redirection)
{
	const char *word = expand_string(redirection->word);
	char *end;
	long from;

	if (strcmp(word, "-") == 0) {
		close(redirection->descriptor);
		return true;
	}
	from = strtol(word, &end, 10);
	if (end == word || *end != '\0' || from < 0 || from > INT_MAX) {
		complain("%s: not a descriptor", word);
		return false;
	}
	if (from == redirection->descriptor && fcntl((int)from, F_GETFD) >= 0)
		return true;
	if (from >= OWN_DESCRIPTORS && (fcntl((int)from, F_GETFD) & FD_CLOEXEC))
		errno = EBADF;
	else if (dup2((int)from, redirection->descriptor) >= 0)
		return true;
	complain("%ld: %s", from, strerror(errno));
	return false;
}

/* With `saves`, what the descriptor was is pushed before it changes. */
static bool redirect_one(const struct redirection *redirection, bool saves)
{
	int descriptor;

	if (redirection->kind == REDIRECT_DUPLICATE)
		return (!saves || save(redirection->descriptor)) && duplicate(redirection);
	descriptor = redirection->kind == REDIRECT_HERE ? open_here(redirection)
							: open_file(redirection);
	if (descriptor < 0)
		return false;
	/* The file itself may have got the number: then there is nothing to save but that. */
	if (descriptor == redirection->descriptor) {
		if (saves)
			push(descriptor, -1, false);
	} else if (saves && !save(redirection->descriptor)) {
		close(descriptor);
		return false;
	}
	return move(descriptor, redirection->descriptor);
}

bool redirect(const struct redirection *redirections)
{
	push(-1, -1, true);
	for (; redirections != NULL; redirections = redirections->next)
		if (!redirect_one(redirections, true)) {
			redirect_restore();
			return false;
		}
	return true;
}

bool redirect_forever(const struct redirection *redirections)
{
	for (; redirections != NULL; redirections = redirections->next)
		if (!redirect_one(redirections, false))
			return false;
	return true;
}

static struct saved pop(void)
{
	struct saved *entry = saved;
	struct saved result;

	assert(entry != NULL);
	result = *entry;
	saved = entry->below;
	free(entry);
	return result;
}

void redirect_restore(void)
{
	struct saved entry;

	for (entry = pop(); !entry.is_bottom; entry = pop()) {
		if (entry.copy < 0) {
			close(entry.descriptor);
			continue;
		}
		if (dup2(entry.copy, entry.descriptor) < 0)
			complain("%d: cannot be restored: %s", entry.descriptor, strerror(errno));
		close(entry.copy);
	}
}

void redirect_keep(void)
{
	struct saved entry;

	for (entry = pop(); !entry.is_bottom; entry = pop())
		if (entry.copy >= 0)
			close(entry.copy);
}

void redirect_restore_all(void)
{
	while (saved != NULL)
		redirect_restore();
}
