/* SPDX-License-Identifier: MIT */
/* uname: prints what the system calls itself. */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "uname [-amnrsv]"

/* In the order in which they are printed. */
static const char letters[] = "snrvm";

int main(int count, char **arguments)
{
	const char *texts[sizeof(letters) - 1];
	bool wanted[sizeof(letters) - 1] = {false}, any = false;
	struct utsname names;
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "amnrsv")) != -1) {
		if (option == '?')
			usage(USAGE);
		any = true;
		for (size_t n = 0; n < sizeof(wanted); n++)
			wanted[n] |= option == 'a' || option == letters[n];
	}
	if (optind < count)
		usage(USAGE);
	wanted[0] |= !any;
	if (uname(&names) != 0) {
		report_errno("the system's names");
		return 1;
	}
	texts[0] = names.sysname;
	texts[1] = names.nodename;
	texts[2] = names.release;
	texts[3] = names.version;
	texts[4] = names.machine;
	any = false;
	for (size_t n = 0; n < sizeof(wanted); n++) {
		if (wanted[n])
			printf("%s%s", any ? " " : "", texts[n]);
		any |= wanted[n];
	}
	printf("\n");
	return program_end(0);
}
