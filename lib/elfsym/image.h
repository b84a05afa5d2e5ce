/* SPDX-License-Identifier: MIT */
/* What of an ELF file both halves of the reader look at. */
#ifndef ELFSYM_IMAGE_H
#define ELFSYM_IMAGE_H

#include <string.h>

#include "elfsym.h"

struct elf_section {
	uint32_t type;
	uint32_t link;
	uint64_t flags;
	uint64_t address;
	uint64_t offset;
	uint64_t size;
	uint64_t entry_bytes;
};

#define SECTION_SYMBOLS 2u
#define SECTION_STRINGS 3u
#define SECTION_IS_CODE 4u

struct elf_segment {
	uint32_t type;
	uint32_t flags;
	uint64_t offset;
	uint64_t address;
	uint64_t file_bytes;
	uint64_t memory_bytes;
};

static inline uint16_t elf_u16(const unsigned char *bytes)
{
	return (uint16_t)(bytes[0] | bytes[1] << 8);
}

static inline uint32_t elf_u32(const unsigned char *bytes)
{
	return elf_u16(bytes) | (uint32_t)elf_u16(bytes + 2) << 16;
}

static inline uint64_t elf_u64(const unsigned char *bytes)
{
	return elf_u32(bytes) | (uint64_t)elf_u32(bytes + 4) << 32;
}

/* A word as wide as the file's addresses. */
static inline uint64_t elf_word(const struct elfsym *elf, const unsigned char *bytes)
{
	return elf->is_64 ? elf_u64(bytes) : elf_u32(bytes);
}

static inline bool elf_holds(const struct elfsym *elf, uint64_t offset, uint64_t bytes)
{
	return offset <= elf->size && bytes <= elf->size - offset;
}

/* The index is one that there is. */
struct elf_section elf_section(const struct elfsym *elf, uint32_t index);
struct elf_segment elf_segment(const struct elfsym *elf, unsigned index);

#endif
