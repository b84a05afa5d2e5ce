/* SPDX-License-Identifier: MIT */
/*
 * Who ends when memory is out, so that all others go on (docs/owners.md).
 *
 * Users have equal shares, so it is the user with the most pages who has gone furthest: of his
 * tasks the one with the most ends.  The system's never do: the servers', init's and root's.
 */
#ifndef TASK_CULPRIT_H
#define TASK_CULPRIT_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Ends one such task, with a line in the log, unless the one that was ended last is not over yet.
 * False if there is none: users have no pages.  Does not block.
 */
bool culprit_end(void);

/* The task that was ended last, by its number; 0: none yet. */
uint32_t culprit_last(void);

#endif
