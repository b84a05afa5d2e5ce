/* SPDX-License-Identifier: MIT */
/* sync: has everything that was written put on the disk. */
#include <unistd.h>

int main(void)
{
	sync();
	return 0;
}
