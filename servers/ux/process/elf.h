/* SPDX-License-Identifier: MIT */
/* What a program's file says of the memory that the program wants: static ELF files for i386. */
#ifndef UX_ELF_H
#define UX_ELF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ELF_PAGE         4096u
#define ELF_SEGMENTS_MAX 8 /* That are loaded. */

/*
 * A piece of the program's memory, in whole pages.  It begins with pages that are mapped from the
 * file.  If there is memory behind what the file has, the page in which that begins is not mapped,
 * since the file goes on in it with something else: its beginning, the tail, is copied.
 */
struct elf_segment {
	uint32_t start;  /* Its address, */
	uint32_t size;   /* and bytes in all. */
	uint32_t offset; /* Where it begins in the file. */
	uint32_t mapped; /* Bytes that are mapped, */
	uint32_t tail;   /* and those behind them that are copied; all others are zero. */
	bool is_writable;
	bool is_executable;
};

struct elf_program {
	uint32_t entry;
	bool has_executable_stack;
	unsigned n_segments;
	struct elf_segment segments[ELF_SEGMENTS_MAX]; /* Rising, without a page in common. */
};

/*
 * Reads headers from the file's first `size` bytes, at most a page of them; its segments are to lie
 * between ELF_PAGE and `limit`.  0, or ENOEXEC.
 */
int elf_read(const void *head, size_t size, int64_t file_size, uint32_t limit,
	     struct elf_program *program);

/* The table of sections, of which nothing has been looked at yet. */
struct elf_sections {
	uint32_t offset;
	unsigned n;
};

#define ELF_HEADER_SIZE  52u
#define ELF_SECTION_SIZE 40u

/* Where a program's file has them, by its first bytes; false: it does not say. */
bool elf_find_sections(const void *head, size_t size, struct elf_sections *sections);

#endif
