/* SPDX-License-Identifier: MIT */
/* ipcrm: takes away names of shared memory and semaphores. */
#include <errno.h>
#include <semaphore.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "ipcrm [-M NAME | -S NAME]..."

static const char *why(void)
{
	switch (errno) {
	case ENOENT:
		return "there is none of that name: `ipcs` lists yours";
	case EACCES:
		return "only its owner and root may remove it";
	case EINVAL:
		return "a name is a `/` and what has no other one in it";
	default:
		return strerror(errno);
	}
}

int main(int count, char **arguments)
{
	bool all_is_well = true;
	int option;

	program_start(arguments);
	if (count == 1)
		usage(USAGE);
	while ((option = getopt(count, arguments, "M:S:")) != -1) {
		if (option == '?')
			usage(USAGE);
		if ((option == 'M' ? shm_unlink(optarg) : sem_unlink(optarg)) != 0) {
			report("%s: %s", optarg, why());
			all_is_well = false;
		}
	}
	if (optind < count)
		usage(USAGE);
	return all_is_well ? 0 : 1;
}
