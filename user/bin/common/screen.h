/* SPDX-License-Identifier: MIT */
/* Tables that are printed again and again: on a screen each takes the place of the one before. */
#ifndef COMMON_SCREEN_H
#define COMMON_SCREEN_H

#include <stdbool.h>

/* Before each table: clears the screen, or leaves an empty line where there is none. */
void screen_next_table(bool is_first);

#endif
