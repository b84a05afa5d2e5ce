/* SPDX-License-Identifier: MIT */
/*
 * The kernel's profile as a program written for 4.4BSD reads it: by sysctl() alone, into a gmon.out
 * of 4.4BSD's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/gmon.h>
#include <sys/sysctl.h>
#include <sys/time.h>

static struct gmonparam parameters;
static FILE *file;

static void *read_table(int what, size_t expected)
{
	int name[] = {CTL_KERN, KERN_PROF, what};
	size_t size = expected;
	void *table = malloc(expected);

	if (table == NULL || sysctl(name, 3, table, &size, NULL, 0) != 0 || size != expected)
		exit(2);
	return table;
}

static void write_bytes(const void *bytes, size_t size)
{
	if (fwrite(bytes, size, 1, file) != 1)
		exit(3);
}

/* Each caller's element of froms, and those of tos that are linked from it. */
static void write_arcs(const uint16_t *froms, const struct tostruct *tos)
{
	const uint32_t piece = parameters.hashfraction * sizeof *froms;

	for (uint32_t n = 0; n < parameters.fromssize / sizeof *froms; n++)
		for (uint16_t to = froms[n]; to != 0; to = tos[to].link) {
			struct rawarc arc = {.raw_frompc = parameters.lowpc + n * piece,
					     .raw_selfpc = tos[to].selfpc,
					     .raw_count = tos[to].count};

			write_bytes(&arc, sizeof arc);
		}
}

int main(int argc, char **argv)
{
	int parameters_name[] = {CTL_KERN, KERN_PROF, GPROF_GMONPARAM};
	int clocks_name[] = {CTL_KERN, KERN_CLOCKRATE};
	struct clockinfo clocks;
	struct gmonhdr header = {.version = GMONVERSION};
	size_t size = sizeof parameters, clocks_size = sizeof clocks;
	void *froms;

	if (argc != 2 || sysctl(parameters_name, 3, &parameters, &size, NULL, 0) != 0 ||
	    sysctl(clocks_name, 2, &clocks, &clocks_size, NULL, 0) != 0)
		return 1;
	header.lpc = parameters.lowpc;
	header.hpc = parameters.highpc;
	header.ncnt = (int)(sizeof header + parameters.kcountsize);
	header.profrate = clocks.profhz;
	file = fopen(argv[1], "w");
	if (file == NULL)
		return 3;
	write_bytes(&header, sizeof header);
	write_bytes(read_table(GPROF_COUNT, parameters.kcountsize), parameters.kcountsize);
	froms = read_table(GPROF_FROMS, parameters.fromssize);
	write_arcs(froms, read_table(GPROF_TOS, parameters.tossize));
	printf("state %d\n", parameters.state);
	return fclose(file) != 0;
}
