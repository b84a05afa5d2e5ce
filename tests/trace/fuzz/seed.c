/* SPDX-License-Identifier: MIT */
/* A whole trail, from which tests/trace/fuzz/run begins. */
#include <stdio.h>

#include "bsm/made.h"

int main(void)
{
	return fwrite(made_trail, 1, made_trail_size, stdout) == made_trail_size ? 0 : 1;
}
