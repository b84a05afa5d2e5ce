/* SPDX-License-Identifier: MIT */
/*
 * words ROUNDS: how many different words there are in its input, one word a line.  It looks up each
 * word ROUNDS times, so that there is something to measure.
 *
 * A beginning: it takes every word for a new one, and looks nothing up.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ROOM 32

/* Which list a word is in. */
unsigned hash(const char *text)
{
	return (unsigned char)text[0];
}

/* Whether two words are the same. */
int same(const char *one, const char *other)
{
	return strcmp(one, other) == 0;
}

/* Whether a word is new; it is not the next time. */
int insert(const char *text)
{
	hash(text);
	return 1;
}

int main(int argc, char **argv)
{
	char line[ROOM];
	int words = 0;

	if (argc != 2 || atoi(argv[1]) < 1) {
		fprintf(stderr, "usage: words ROUNDS\n");
		return 2;
	}
	while (fgets(line, sizeof(line), stdin) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		words += insert(line);
	}
	printf("%d\n", words);
	return 0;
}
