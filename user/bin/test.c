/* SPDX-License-Identifier: MIT */
/* test, also called [: tells by its exit status whether a condition holds. */
#include "common/common.h"

int main(int count, char **arguments)
{
	return test_command(count, arguments);
}
