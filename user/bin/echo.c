/* SPDX-License-Identifier: MIT */
/* echo: prints its arguments. */
#include "common/common.h"

int main(int count, char **arguments)
{
	program_start(arguments);
	return program_end(echo_command(count, arguments));
}
