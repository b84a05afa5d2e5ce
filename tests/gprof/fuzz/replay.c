/* SPDX-License-Identifier: MIT */
/* Gives files to what libFuzzer calls, without libFuzzer: for make test, and to see a finding. */
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const unsigned char *bytes, size_t size);

static void replay(const char *name)
{
	FILE *file = fopen(name, "rb");
	unsigned char *bytes;
	long size;

	if (file == NULL || fseek(file, 0, SEEK_END) != 0 || (size = ftell(file)) < 0) {
		perror(name);
		exit(2);
	}
	rewind(file);
	/* Just as long as the input, so that reading beyond it is noticed. */
	bytes = malloc(size == 0 ? 1 : (size_t)size);
	if (bytes == NULL || fread(bytes, 1, (size_t)size, file) != (size_t)size) {
		perror(name);
		exit(2);
	}
	LLVMFuzzerTestOneInput(bytes, (size_t)size);
	free(bytes);
	fclose(file);
}

int main(int count, char **names)
{
	for (int i = 1; i < count; i++)
		replay(names[i]);
	printf("%d inputs\n", count - 1);
	return 0;
}
