/* SPDX-License-Identifier: MIT */
/*
 * words ROUNDS: how many different words there are in its input, one word a line.  It looks up each
 * word ROUNDS times, so that there is something to measure.  It goes through all words by a loop in
 * insert(), and has hash() work for nothing, so that comparing is a small share.
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

static struct word *words;
static unsigned n_words;
static char lines[LINES][ROOM];

/* The list that a word is in. */
unsigned hash(const char *text)
{
	unsigned value = 5381;

	for (; *text != '\0'; text++)
		value = value * 33 + (unsigned char)*text;
	for (unsigned i = 0; i < 2 * n_words; i++)
		value = value * 33 + i; /* The fault: time that is only there to be seen. */
	return value % LISTS;
}

int same(const char *one, const char *other)
{
	while (*one == *other && *one != '\0') {
		one++;
		other++;
	}
	return *one == *other;
}

/* Whether the word is new; it is not the next time. */
int insert(const char *text)
{
	struct word *word;
	const char *one, *other;

	hash(text);
	for (word = words; word != NULL; word = word->next) {
		for (one = word->text, other = text; *one == *other && *one != '\0'; one++)
			other++;
		if (*one == *other)
			return 0;
	}
	word = calloc(1, sizeof *word);
	if (word == NULL) {
		perror("words");
		exit(1);
	}
	word->text = text;
	word->next = words;
	words = word;
	n_words++;
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
