/* SPDX-License-Identifier: MIT */
/* Writes the whole files that fuzzing begins with into the folder that is its argument. */
#include <stdio.h>
#include <stdlib.h>

#include "gprof/made.h"

static void save(const char *folder, const char *name, char reader, struct made made)
{
	char path[1024];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", folder, name);
	file = fopen(path, "w");
	if (file == NULL || fputc(reader, file) == EOF ||
	    fwrite(made.bytes, 1, made.size, file) != made.size || fclose(file) != 0) {
		perror(path);
		exit(1);
	}
	free(made.bytes);
}

int main(int count, char **arguments)
{
	if (count != 2) {
		fprintf(stderr, "usage: seeds FOLDER\n");
		return 2;
	}
	save(arguments[1], "gnu", '4', made_gmon(false));
	save(arguments[1], "gnu64", '8', made_gmon64());
	save(arguments[1], "ours", '4', made_gmon(true));
	save(arguments[1], "bsd", '4', made_bsd());
	save(arguments[1], "old_bsd", '4', made_old_bsd());
	save(arguments[1], "perf", '4', made_perf());
	save(arguments[1], "elf", 'e', made_elf(false));
	save(arguments[1], "elf64", 'e', made_elf(true));
	return 0;
}
