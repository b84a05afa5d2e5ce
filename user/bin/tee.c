/* SPDX-License-Identifier: MIT */
/* tee: copies standard input to standard output and to files. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "common/common.h"

#define CREATE_MODE 0666

struct output {
	const char *name;
	int descriptor; /* -1 once it failed. */
};

static int open_outputs(struct output *outputs, char **names, int count, bool appends)
{
	int status = 0;

	outputs[0] = (struct output){"standard output", STDOUT_FILENO};
	for (int i = 0; i < count; i++) {
		int descriptor = open(names[i], O_WRONLY | O_CREAT | (appends ? O_APPEND : O_TRUNC),
				      CREATE_MODE);

		outputs[i + 1] = (struct output){names[i], descriptor};
		if (descriptor < 0) {
			report_errno(names[i]);
			status = 1;
		}
	}
	return status;
}

/* One that fails is left out from then on. */
static int write_outputs(struct output *outputs, int count, const char *bytes, size_t length)
{
	int status = 0;

	for (int i = 0; i < count; i++) {
		if (outputs[i].descriptor < 0 || write_all(outputs[i].descriptor, bytes, length))
			continue;
		report_errno(outputs[i].name);
		outputs[i].descriptor = -1;
		status = 1;
	}
	return status;
}

int main(int count, char **arguments)
{
	char block[COPY_BYTES];
	struct output *outputs;
	bool appends = false;
	int status;
	ssize_t got;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "a")) != -1) {
		if (option != 'a')
			usage("tee [-a] [FILE...]");
		appends = true;
	}
	count -= optind;
	outputs = allocate(((size_t)count + 1) * sizeof(*outputs));
	status = open_outputs(outputs, arguments + optind, count, appends);
	while ((got = read(STDIN_FILENO, block, sizeof(block))) > 0 || (got < 0 && errno == EINTR))
		if (got > 0)
			status |= write_outputs(outputs, count + 1, block, (size_t)got);
	if (got < 0) {
		report_errno("standard input");
		return 1;
	}
	return status;
}
