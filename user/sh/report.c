/* SPDX-License-Identifier: MIT */
/* The pipe by which a child tells that it has become a program. */
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "report.h"
#include "sh.h"

static int report = -1;

/* Above all that scripts redirect. */
static bool move_up(int *end)
{
	int moved = fcntl(*end, F_DUPFD_CLOEXEC, OWN_DESCRIPTORS);

	close(*end);
	*end = moved;
	return moved >= 0;
}

bool exec_report_open(int ends[2])
{
	bool read_is_up, write_is_up;

	if (pipe2(ends, O_CLOEXEC) != 0)
		return false;
	read_is_up = move_up(&ends[0]);
	write_is_up = move_up(&ends[1]);
	return read_is_up && write_is_up;
}

/* The child has said itself what was wrong; its status is there for `wait`. */
void exec_report_wait(const int ends[2])
{
	int error;

	close(ends[1]);
	while (read(ends[0], &error, sizeof(error)) < 0 && errno == EINTR)
		continue;
	close(ends[0]);
}

void exec_report_take(const int ends[2])
{
	assert(report < 0);
	close(ends[0]);
	report = ends[1];
}

void exec_report_close(void)
{
	if (report >= 0)
		close(report);
	report = -1;
}

void exec_report_failure(int error)
{
	if (report >= 0 && write(report, &error, sizeof(error)) < 0)
		complain("cannot tell that a program did not start");
	exec_report_close();
}

bool exec_report_is_open(void)
{
	return report >= 0;
}
