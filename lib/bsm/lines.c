/* SPDX-License-Identifier: MIT */
/* Files of /etc/security: lines of words with colons between them. */
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "bsm.h"

char bsm_error[256];

bool bsm_fail(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(bsm_error, sizeof bsm_error, format, arguments);
	va_end(arguments);
	return false;
}

/* How many words; the last one has whatever colons are left. */
static int lines_split(char *line, char *words[BSM_WORDS])
{
	int n = 0;

	line[strcspn(line, "#\n")] = '\0';
	line += strspn(line, " \t");
	for (size_t end = strlen(line); end > 0 && strchr(" \t", line[end - 1]) != NULL; end--)
		line[end - 1] = '\0';
	while (*line != '\0' && n < BSM_WORDS) {
		words[n++] = line;
		line += strcspn(line, ":");
		if (*line != '\0' && n < BSM_WORDS)
			*line++ = '\0';
	}
	return n;
}

bool bsm_read_lines(const char *path, bool (*take)(char *words[BSM_WORDS], int n, void *context),
		    void *context)
{
	FILE *file = fopen(path, "r");
	char *line = NULL, *words[BSM_WORDS];
	unsigned number = 0;
	size_t room = 0;
	bool is_right = true;

	if (file == NULL)
		return bsm_fail("%s: %s", path, strerror(errno));
	while (is_right && getline(&line, &room, file) >= 0) {
		int n = lines_split(line, words);

		number++;
		if (n > 0)
			is_right = take(words, n, context);
	}
	free(line);
	fclose(file);
	if (!is_right) {
		char why[sizeof bsm_error];

		memcpy(why, bsm_error, sizeof why);
		bsm_fail("%s:%u: %.200s", path, number, why);
	}
	return is_right;
}
