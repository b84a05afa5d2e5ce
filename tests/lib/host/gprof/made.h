/* SPDX-License-Identifier: MIT */
/* Small files that are whole, for tests to damage. */
#ifndef MADE_H
#define MADE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MADE_TEXT       0x08049000u
#define MADE_TEXT_BYTES 128u

struct made {
	unsigned char *bytes; /* The caller's to free. */
	size_t size;
	size_t room;
	unsigned records; /* Places where it can be cut between two. */
};

/* Adds to what there is. */
void made_put(struct made *made, const void *bytes, size_t size);
void made_put_word(struct made *made, uint32_t word);

/* In the form of GNU, or in ours. */
struct made made_gmon(bool is_ours);
struct made made_gmon64(void);  /* Of a program with addresses of 64 bits. */
struct made made_bsd(void);     /* Of 4.4BSD, */
struct made made_old_bsd(void); /* and of 4.2BSD. */
struct made made_perf(void);

/* A program with five functions and a label, of the i386 or of x86-64. */
struct made made_elf(bool is_64);

#endif
