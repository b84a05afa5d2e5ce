/* SPDX-License-Identifier: MIT */
/*
 * The file of a CPU profile as gperftools writes it: words of the machine's size and order, and at
 * its end text.
 *
 *     header    0, 3, 0, microseconds between samples, 0
 *     records   count, number of addresses, addresses: the innermost first
 *     trailer   0, 1, 0
 *     text      a line for each mapped file, like Linux's /proc/self/maps
 */
#ifndef PROFILE_FILE_H
#define PROFILE_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* 0, or an errno. */
int profile_file_begin(int fd, uint32_t period_us);

/* May be called in a signal handler.  A failure is told by profile_file_end(). */
void profile_file_record(uint32_t count, const uint32_t *addresses, uint32_t n);

/* Says what program it was.  Closes the descriptor; 0, or the first error that there was. */
int profile_file_end(void);

#endif
