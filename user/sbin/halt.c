/* SPDX-License-Identifier: MIT */
/* halt: ends the run of the machine, with a status that the host gets. */
#include <errno.h>
#include <string.h>
#include <sys/ux.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE      "halt [-r | -s STATUS]"
#define STATUS_MAX 255

int main(int count, char **arguments)
{
	int how = UX_HALT;
	long long status = 0;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "rs:")) != -1) {
		if (option == 'r')
			how = UX_REBOOT;
		else if (option != 's' || !parse_number(optarg, &status) || status < 0 ||
			 status > STATUS_MAX)
			usage(USAGE);
	}
	if (optind < count)
		usage(USAGE);
	sync();
	if (ux_reboot(how, (int)status) != 0) {
		if (errno == EPERM)
			report_exit(1, "only root may; others: sync, and switch the machine off");
		report_errno(how == UX_HALT ? "cannot halt" : "cannot start again");
		return 1;
	}
	return 0;
}
