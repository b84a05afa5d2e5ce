/* SPDX-License-Identifier: MIT */
/* A trace with a record of each type, and all ways to read one. */
#ifndef HOST_KTRACE_MADE_H
#define HOST_KTRACE_MADE_H

#include <stddef.h>

#define MADE_RECORDS 12u

/* Of as many bytes as it says; to be freed. */
unsigned char *made_trace(size_t *size);

/*
 * Reads these bytes as kdump does: as lines in several ways, as each view, and as a file that
 * grows.  How many records were printed as lines; whether anything was complained of.
 */
unsigned made_read(const unsigned char *bytes, size_t size, int *is_damaged);

#endif
