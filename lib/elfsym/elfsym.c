/* SPDX-License-Identifier: MIT */
/* ELF files: header, segments, and finding what symbols.c has read.  See elfsym.h. */
#include "elfsym.h"

#include <stdlib.h>

#include "image.h"

#define SEGMENT_IS_LOADED 1u
#define SEGMENT_IS_CODE   1u

/* Functions in functions: deeper is no program's, but a damaged file's. */
#define NESTING_MAX 64u

static const char damaged[] = "is damaged: its headers point outside of the file";

/* ---------------- Tables ---------------- */

struct elf_section elf_section(const struct elfsym *elf, uint32_t index)
{
	const unsigned char *at = elf->image + elf->sections + (uint64_t)index * elf->section_bytes;

	if (elf->is_64)
		return (struct elf_section){
			.type = elf_u32(at + 4),
			.flags = elf_u64(at + 8),
			.address = elf_u64(at + 16),
			.offset = elf_u64(at + 24),
			.size = elf_u64(at + 32),
			.link = elf_u32(at + 40),
			.entry_bytes = elf_u64(at + 56),
		};
	return (struct elf_section){
		.type = elf_u32(at + 4),
		.flags = elf_u32(at + 8),
		.address = elf_u32(at + 12),
		.offset = elf_u32(at + 16),
		.size = elf_u32(at + 20),
		.link = elf_u32(at + 24),
		.entry_bytes = elf_u32(at + 36),
	};
}

struct elf_segment elf_segment(const struct elfsym *elf, unsigned index)
{
	const unsigned char *at = elf->image + elf->segments + (uint64_t)index * elf->segment_bytes;

	if (elf->is_64)
		return (struct elf_segment){
			.type = elf_u32(at),
			.flags = elf_u32(at + 4),
			.offset = elf_u64(at + 8),
			.address = elf_u64(at + 16),
			.file_bytes = elf_u64(at + 32),
			.memory_bytes = elf_u64(at + 40),
		};
	return (struct elf_segment){
		.type = elf_u32(at),
		.offset = elf_u32(at + 4),
		.address = elf_u32(at + 8),
		.file_bytes = elf_u32(at + 16),
		.memory_bytes = elf_u32(at + 20),
		.flags = elf_u32(at + 24),
	};
}

static bool find_segments(struct elfsym *elf)
{
	const unsigned char *header = elf->image;

	elf->segments = elf_word(elf, header + (elf->is_64 ? 32 : 28));
	elf->segment_bytes = elf_u16(header + (elf->is_64 ? 54 : 42));
	elf->n_segments = elf_u16(header + (elf->is_64 ? 56 : 44));
	return elf->n_segments == 0 ||
	       (elf->segment_bytes >= (elf->is_64 ? 56 : 32) &&
		elf_holds(elf, elf->segments, (uint64_t)elf->n_segments * elf->segment_bytes));
}

/* With 0xff00 sections or more the first one's size says how many there are. */
static bool find_sections(struct elfsym *elf)
{
	const unsigned char *header = elf->image;
	uint64_t count = elf_u16(header + (elf->is_64 ? 60 : 48));

	elf->sections = elf_word(elf, header + (elf->is_64 ? 40 : 32));
	elf->section_bytes = elf_u16(header + (elf->is_64 ? 58 : 46));
	if (elf->sections == 0)
		return true;
	if (elf->section_bytes < (elf->is_64 ? 64 : 40) ||
	    !elf_holds(elf, elf->sections, elf->section_bytes))
		return false;
	if (count == 0)
		count = elf_section(elf, 0).size;
	if (count > elf->size || !elf_holds(elf, elf->sections, count * elf->section_bytes))
		return false;
	elf->n_sections = (uint32_t)count;
	return true;
}

/* A segment of code may have headers before it and constants behind. */
static void find_code(struct elfsym *elf)
{
	elf->code_start = UINT64_MAX;
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		struct elf_section section = elf_section(elf, i);
		uint64_t end = section.address + section.size;

		if (!(section.flags & SECTION_IS_CODE) || section.address < elf->text_start ||
		    end <= section.address || end > elf->text_end)
			continue;
		if (section.address < elf->code_start)
			elf->code_start = section.address;
		if (end > elf->code_end)
			elf->code_end = end;
	}
	if (elf->code_end == 0) {
		elf->code_start = elf->text_start;
		elf->code_end = elf->text_end;
	}
}

static const char *find_text(struct elfsym *elf)
{
	bool is_found = false;

	elf->image_start = UINT64_MAX;
	for (unsigned i = 0; i < elf->n_segments; i++) {
		struct elf_segment segment = elf_segment(elf, i);
		uint64_t end = segment.address + segment.memory_bytes;

		if (segment.type != SEGMENT_IS_LOADED || segment.memory_bytes == 0)
			continue;
		if (segment.address < elf->image_start)
			elf->image_start = segment.address;
		if (!(segment.flags & SEGMENT_IS_CODE))
			continue;
		if (end < segment.address)
			return damaged;
		if (!is_found || segment.address < elf->text_start)
			elf->text_start = segment.address;
		if (!is_found || end > elf->text_end)
			elf->text_end = end;
		is_found = true;
	}
	find_code(elf);
	return is_found ? NULL : "is not a program: it has no code to execute";
}

/* ---------------- For users ---------------- */

const char *elfsym_open(struct elfsym *elf, const void *image, size_t size)
{
	const unsigned char *bytes = image;

	*elf = (struct elfsym){.image = bytes, .size = size};
	if (size < 6 || memcmp(bytes, "\177ELF", 4) != 0)
		return "is not an ELF file";
	if ((bytes[4] != 1 && bytes[4] != 2) || bytes[5] != 1)
		return "is an ELF file of a kind that no machine here runs";
	elf->is_64 = bytes[4] == 2;
	if (size < (elf->is_64 ? 64 : 52))
		return "is damaged: it ends in its first header";
	elf->machine = elf_u16(bytes + 18);
	elf->entry = elf_word(elf, bytes + 24);
	if (!find_segments(elf) || !find_sections(elf))
		return damaged;
	return find_text(elf);
}

void elfsym_close(struct elfsym *elf)
{
	free(elf->functions);
	*elf = (struct elfsym){0};
}

/* The number of functions that start at the address or before it. */
static size_t functions_up_to(const struct elfsym *elf, uint64_t address)
{
	size_t low = 0;
	size_t high = elf->n_functions;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (elf->functions[middle].start <= address)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

const struct elfsym_function *elfsym_find(const struct elfsym *elf, uint64_t address, uint64_t *end)
{
	size_t next = functions_up_to(elf, address);
	uint32_t index = next == 0 ? ELFSYM_NONE : (uint32_t)(next - 1);
	uint64_t boundary = next < elf->n_functions ? elf->functions[next].start : UINT64_MAX;
	const struct elfsym_function *found = NULL;

	for (unsigned depth = 0; index != ELFSYM_NONE && depth < NESTING_MAX; depth++) {
		const struct elfsym_function *function = &elf->functions[index];

		if (address < function->end) {
			found = function;
			if (function->end < boundary)
				boundary = function->end;
			break;
		}
		index = function->outer;
	}
	if (end != NULL)
		*end = boundary;
	return found;
}

const struct elfsym_function *elfsym_find_name(const struct elfsym *elf, const char *name)
{
	for (size_t i = 0; i < elf->n_functions; i++)
		if (strcmp(elf->functions[i].name, name) == 0)
			return &elf->functions[i];
	return NULL;
}

const unsigned char *elfsym_bytes(const struct elfsym *elf, uint64_t address, uint64_t length)
{
	for (unsigned i = 0; i < elf->n_segments; i++) {
		struct elf_segment segment = elf_segment(elf, i);
		uint64_t into = address - segment.address;

		if (segment.type == SEGMENT_IS_LOADED && address >= segment.address &&
		    into <= segment.file_bytes && length <= segment.file_bytes - into &&
		    elf_holds(elf, segment.offset, segment.file_bytes))
			return elf->image + segment.offset + into;
	}
	return NULL;
}

bool elfsym_ends_code(const struct elfsym *elf, uint64_t address, uint64_t slack)
{
	for (uint32_t i = 0; i < elf->n_sections; i++) {
		struct elf_section section = elf_section(elf, i);
		uint64_t end = section.address + section.size;

		if ((section.flags & SECTION_IS_CODE) && end <= address && address - end < slack)
			return true;
	}
	return false;
}
