/* SPDX-License-Identifier: MIT */
/* Sets of numbers of blocks and inodes: a bit for each. */
#ifndef UX_FS_NUMBERS_H
#define UX_FS_NUMBERS_H

#include "core/ux.h"

struct numbers {
	uint32_t *bits;
	uint32_t end;   /* All are less. */
	uint32_t count; /* How many are in it. */
};

/* An empty set; false if there is no memory. */
bool numbers_open(struct numbers *numbers, uint32_t end);
void numbers_close(struct numbers *numbers); /* Harmless if it is not open. */

bool numbers_have(const struct numbers *numbers, uint32_t number);
void numbers_add(struct numbers *numbers, uint32_t number);
void numbers_remove(struct numbers *numbers, uint32_t number);
void numbers_clear(struct numbers *numbers);

/* Adds all that are in `from`, a set with the same end, and leaves nothing there. */
void numbers_move(struct numbers *numbers, struct numbers *from);

/* Takes the first out of those from *from on, where all are; false if there is none. */
bool numbers_take(struct numbers *numbers, uint32_t *from);

#endif
