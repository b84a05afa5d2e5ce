/* SPDX-License-Identifier: MIT */
/*
 * counted FILE: has the kernel count where it is, while four functions take as many percent of its
 * time as their names say; writes where the first bin's code is, and the bins.  It prints how many
 * ticks it was charged meanwhile.
 */
#include <stdint.h>
#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "../../../user/work/work.h"

#define ROUNDS  1000
#define UNIT    309u
#define TICK_US 10000

extern const char __executable_start[], etext[];

static char bins[1 << 17];

void ten(void);
void twenty(void);
void thirty(void);
void forty(void);

SHOWN void ten(void)
{
	work(10 * UNIT);
}

SHOWN void twenty(void)
{
	work(20 * UNIT);
}

SHOWN void thirty(void)
{
	work(30 * UNIT);
}

SHOWN void forty(void)
{
	work(40 * UNIT);
}

static long user_ticks(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return (usage.ru_utime.tv_sec * 1000000 + usage.ru_utime.tv_usec) / TICK_US;
}

int main(int argc, char **argv)
{
	const uint32_t low = (uint32_t)(uintptr_t)__executable_start;
	FILE *file = argc == 2 ? fopen(argv[1], "w") : NULL;
	long ticks = user_ticks();

	if (file == NULL || profil(bins, (size_t)(etext - __executable_start), low, 0x10000) != 0) {
		perror("counted");
		return 1;
	}
	for (int round = 0; round < ROUNDS; round++) {
		ten();
		twenty();
		thirty();
		forty();
	}
	profil(NULL, 0, 0, 0);
	printf("%ld\n", user_ticks() - ticks);
	fwrite(&low, sizeof low, 1, file);
	fwrite(bins, 1, sizeof bins, file);
	return fclose(file) != 0;
}
