/* SPDX-License-Identifier: MIT */
/*
 * Writing to the text of the kernel that runs.
 *
 * The image is written to through a window that is there only meanwhile; where it is executed it
 * can never be written to.  Under the kernel lock.
 */
#ifndef I386_PATCH_TEXT_H
#define I386_PATCH_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "i386/patch/call_sites.h"

/*
 * Before and after writing; false without memory for a table, once and for all.  Who pauses
 * meanwhile may find that another has closed the window: the next write opens it.
 */
bool text_open(void);
void text_close(void);

/* Where what begins at `address` can be written to, some words of it, until the next call. */
volatile struct unaligned *text_window_for(uint32_t address);

void text_write(uint32_t address, uint32_t word);

#endif
