/* SPDX-License-Identifier: MIT */
/* Small files that are whole, for tests to damage. */
#ifndef MADE_H
#define MADE_H

#include <stdbool.h>
#include <stddef.h>

#define MADE_TEXT       0x08049000u
#define MADE_TEXT_BYTES 128u

struct made {
	unsigned char *bytes; /* The caller's to free. */
	size_t size;
	size_t room;
	unsigned records; /* Places where it can be cut between two. */
};

/* In the form of GNU, or in ours. */
struct made made_gmon(bool is_ours);
struct made made_bsd(void);

/* A program of the i386 with five functions and a label. */
struct made made_elf(void);

#endif
