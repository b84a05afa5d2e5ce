/* SPDX-License-Identifier: MIT */
/* profiled FILE: profiles itself while `most` takes nine times as long as `little`. */
#include <cpuprofile.h>
#include <stdio.h>

#include "../../../user/work/work.h"

#define ROUNDS 150
/* Not in step with the kernel's ticks. */
#ifndef UNIT
#define UNIT 7400u
#endif

void little(void);
void most(void);

/* Who calls something has a frame, which the compiler leaves out otherwise. */
static void __attribute__((noinline)) nothing(void)
{
	__asm__ volatile("");
}

void __attribute__((noinline)) little(void)
{
	nothing();
	work(20 * UNIT);
}

void __attribute__((noinline)) most(void)
{
	nothing();
	work(180 * UNIT);
}

int main(int argc, char **argv)
{
	if (argc != 2 || cpu_profile_start(argv[1], CPU_PROFILE_HZ_MAX) != 0) {
		perror("profiled: start");
		return 1;
	}
	if (cpu_profile_start(argv[1], 1) == 0 || cpu_profile_start(argv[1], 0) == 0)
		return 2;
	for (int round = 0; round < ROUNDS; round++) {
		little();
		most();
	}
	if (cpu_profile_stop() != 0) {
		perror("profiled: stop");
		return 1;
	}
	return cpu_profile_stop() == 0 ? 2 : 0;
}
