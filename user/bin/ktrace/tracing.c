/* SPDX-License-Identifier: MIT */
/* The file of a trace, and the call that has records written into it. */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ktrace.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/common.h"
#include "ktrace.h"

#define OWNER_ONLY 0600
#define NOT_RUN    126
#define NOT_FOUND  127

/* One that is there may be a link to anything, or be open to others: it is not written over. */
static void tracing_remove(const char *path)
{
	if (unlink(path) != 0 && errno != ENOENT)
		report_exit(1, "%s: cannot be made anew: %s: name another file with -f", path,
			    strerror(errno));
}

/* Records tell of passwords: nobody appends them to what others may read. */
static void tracing_check_owner(const char *path, int descriptor)
{
	struct stat status;

	if (fstat(descriptor, &status) != 0)
		report_exit(1, "%s: %s", path, strerror(errno));
	if (!S_ISREG(status.st_mode))
		report_exit(1, "%s: not a regular file: records go into no other", path);
	if (status.st_uid != geteuid())
		report_exit(1, "%s: another user's: records are appended to your own files only",
			    path);
}

void tracing_make_file(const struct tracing *tracing)
{
	int descriptor;

	if (!tracing->appends)
		tracing_remove(tracing->path);
	descriptor =
		open(tracing->path,
		     O_WRONLY | O_CREAT | O_CLOEXEC | (tracing->appends ? 0 : O_EXCL), OWNER_ONLY);
	if (descriptor < 0)
		report_exit(1, "%s: cannot be written: %s: name another file with -f",
			    tracing->path, strerror(errno));
	tracing_check_owner(tracing->path, descriptor);
	close(descriptor);
}

static void tracing_complain(const struct tracing *tracing, pid_t pid)
{
	const char *what = pid < 0 ? "process group" : "process";
	long number = pid < 0 ? -(long)pid : (long)pid;

	if (errno == ESRCH)
		report("%ld: there is no such %s: `ps -al` lists them", number, what);
	else if (errno == EPERM)
		report("%s %ld: only root may trace another user's, a set-user-id program, and "
		       "what root has set",
		       what, number);
	else if (errno == EACCES || errno == ENOENT)
		report("%s: %s: records go into regular files that you may write", tracing->path,
		       strerror(errno));
	else
		report("%s: %s", tracing->path, strerror(errno));
}

bool tracing_call(const struct tracing *tracing, int operation, pid_t pid)
{
	const char *path = operation == KTROP_CLEAR ? NULL : tracing->path;

	if (ktrace(path, operation | tracing->flags, tracing->facilities, pid) == 0)
		return true;
	tracing_complain(tracing, pid);
	return false;
}

void tracing_become(const struct tracing *tracing)
{
	if (!tracing_call(tracing, KTROP_SET, getpid()))
		_exit(1);
	execvp(tracing->command[0], tracing->command);
	report_errno(tracing->command[0]);
	_exit(errno == ENOENT ? NOT_FOUND : NOT_RUN);
}
