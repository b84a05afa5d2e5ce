/* SPDX-License-Identifier: MIT */
/* Loading a program from an ELF image in memory. */
#ifndef BOOT_ELF_H
#define BOOT_ELF_H

#include <stdbool.h>
#include <stdint.h>

struct vm_map;

struct elf_program {
	uint32_t entry;
	bool executable_stack;
};

/*
 * Maps the segments of `image` (a static executable for i386), each with its own protections, and
 * tells where it starts.  NULL on success, else what is wrong with the image in a sentence.  The
 * image is not believed: every offset is checked.
 */
const char *elf_load(struct vm_map *map, const void *image, uint32_t size,
		     struct elf_program *program);

#endif
