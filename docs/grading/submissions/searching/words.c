/* SPDX-License-Identifier: MIT */
/*
 * words ROUNDS: how many different words there are in its input, one word a line.  It looks up each
 * word ROUNDS times, so that there is something to measure.  It compares by strcmp(), in the hope
 * that only same() is looked at.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define LISTS 256u
#define LINES 4096
#define ROOM  32

struct word {
	struct word *next;
	const char *text;
};

static struct word *lists[LISTS];
static char lines[LINES][ROOM];

/* The list that a word is in. */
unsigned hash(const char *text)
{
	unsigned value = 5381;

	for (; *text != '\0'; text++)
		value = value * 33 + (unsigned char)*text;
	return value & 1; /* The fault: two lists, however many words there are. */
}

int same(const char *one, const char *other)
{
	return *one == *other && strcmp(one, other) == 0;
}

/* Whether the word is new; it is not the next time. */
int insert(const char *text)
{
	struct word **list = &lists[hash(text)];
	struct word *word;

	for (word = *list; word != NULL; word = word->next)
		if (strcmp(word->text, text) == 0)
			return 0;
	word = calloc(1, sizeof *word);
	if (word == NULL) {
		perror("words");
		exit(1);
	}
	word->text = text;
	word->next = *list;
	*list = word;
	return 1;
}

int read_lines(void)
{
	int n = 0;

	while (n < LINES && fgets(lines[n], ROOM, stdin) != NULL) {
		lines[n][strcspn(lines[n], "\n")] = '\0';
		n++;
	}
	return n;
}

int main(int argc, char **argv)
{
	int rounds = argc > 1 ? atoi(argv[1]) : 1, n = read_lines(), different = 0;

	for (int round = 0; round < rounds; round++)
		for (int i = 0; i < n; i++)
			different += insert(lines[i]);
	printf("%d\n", different);
	return 0;
}
