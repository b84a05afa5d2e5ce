/* SPDX-License-Identifier: MIT */
/* printf: prints its arguments as a format says. */
#include "common/common.h"

int main(int count, char **arguments)
{
	program_start(arguments);
	return program_end(printf_command(count, arguments));
}
