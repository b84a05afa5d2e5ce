/* SPDX-License-Identifier: MIT */
/*
 * The functions of an ELF file, 32 or 64 bits, from an image of it in memory.
 *
 * For whoever turns addresses into names: gprof on the host and in the guest, and monctl.  Nothing
 * is believed of the image: each offset in it is checked before it is followed, and a damaged file
 * gives an error.  The image must stay as it is until elfsym_close(), since names point into it.
 */
#ifndef ELFSYM_H
#define ELFSYM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Values of `machine`. */
#define ELFSYM_386    3
#define ELFSYM_X86_64 62

enum elfsym_binding {
	ELFSYM_LOCAL,
	ELFSYM_WEAK,
	ELFSYM_GLOBAL,
};

/*
 * Its addresses are [start, end).  The end is what the file says (st_size).  Where it says nothing,
 * as for code in assembler, the function goes on to the next one, or to the end of its section, and
 * `is_size_guessed` is set.
 */
struct elfsym_function {
	uint64_t start;
	uint64_t end;
	const char *name;
	const char *file; /* Of a local function: the source's name without folders; else NULL. */
	uint32_t outer;   /* Index of the function around this one; ELFSYM_NONE. */
	uint8_t binding;  /* ELFSYM_* */
	bool is_size_guessed;
};

#define ELFSYM_NONE UINT32_MAX

struct elfsym {
	const unsigned char *image;
	size_t size;
	bool is_64;
	unsigned machine;     /* ELFSYM_* or another of ELF's numbers. */
	uint64_t entry;       /* The first instruction. */
	uint64_t text_start;  /* The executable segments, from the first's start */
	uint64_t text_end;    /* to the last's end. */
	uint64_t image_start; /* Of the first segment, whatever is in it. */
	uint64_t code_start;  /* Of the code in the executable segments, as sections tell, */
	uint64_t code_end;    /* and its end. */

	/* Tables in the image, checked to lie in it. */
	uint64_t segments;
	unsigned n_segments;
	unsigned segment_bytes;
	uint64_t sections;
	uint32_t n_sections;
	unsigned section_bytes;

	bool ignores_labels; /* To be set before elfsym_read_functions(). */

	/* After elfsym_read_functions(): by start, no two with the same. */
	struct elfsym_function *functions;
	size_t n_functions;
};

/*
 * Reads the header and the segments.  Returns NULL, or what is wrong in a few words ("not an ELF
 * file"); then nothing needs to be closed.
 */
const char *elfsym_open(struct elfsym *elf, const void *image, size_t size);

/*
 * Reads the symbols: functions, and in executable sections also global labels without a type that
 * lie in no function, unless `ignores_labels` says that these are none.  Of several names for one
 * address a function's stays before a label's, then the global one, then the weak, then the one
 * that says its size, then the first by the alphabet.  Returns NULL, or what is wrong; a file
 * without symbols is wrong ("has no symbols").
 */
const char *elfsym_read_functions(struct elfsym *elf);

/* Whether the program has a symbol of that name, without its functions being read. */
bool elfsym_defines(const struct elfsym *elf, const char *name);

/* Works for one that was opened in vain, too. */
void elfsym_close(struct elfsym *elf);

/*
 * The innermost function that the address is in; NULL if it is in none.  `*end`, unless it is NULL,
 * becomes the first address behind `address` for which the answer may be another one.
 */
const struct elfsym_function *elfsym_find(const struct elfsym *elf, uint64_t address,
					  uint64_t *end);

/* The first function of that name, NULL if there is none. */
const struct elfsym_function *elfsym_find_name(const struct elfsym *elf, const char *name);

/* Whether one of the sections with code ends there, or up to `slack` bytes before. */
bool elfsym_ends_code(const struct elfsym *elf, uint64_t address, uint64_t slack);

/* The bytes of the file at [address, address + length); NULL if not all of them are in it. */
const unsigned char *elfsym_bytes(const struct elfsym *elf, uint64_t address, uint64_t length);

#endif
