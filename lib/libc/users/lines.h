/* SPDX-License-Identifier: MIT */
/* Files of lines whose fields are separated by colons. */
#ifndef LIBC_USERS_LINES_H
#define LIBC_USERS_LINES_H

#include <stdio.h>

#define LINE_MAX_SIZE 512

/* Cuts the next line with at least `count` fields; longer and shorter ones are passed over. */
int __next_fields(FILE *file, char line[LINE_MAX_SIZE], char *fields[], int count);

#endif
