/* SPDX-License-Identifier: MIT */
/*
 * Programs' files: see elf.h.
 *
 * Whoever wrote the file may have meant harm.  Each number is compared with what there is before it
 * is used, and sums are made of numbers that are too small to go round.
 */
#include "process/elf.h"

#include <sys/errno.h>

#define MAGIC           0x464c457fu /* "\177ELF" */
#define CLASS_AND_ORDER 0x0101u     /* 32 bits, least byte first. */
#define TYPE_EXECUTABLE 2
#define MACHINE_I386    3

#define SEGMENT_LOAD        1
#define SEGMENT_DYNAMIC     2
#define SEGMENT_INTERPRETER 3
#define SEGMENT_STACK       0x6474e551u

#define FLAG_EXECUTE 1u
#define FLAG_WRITE   2u

struct header {
	uint32_t magic;
	uint16_t class_and_order;
	uint8_t rest_of_ident[10];
	uint16_t type, machine;
	uint32_t version, entry, segments, sections, flags;
	uint16_t size, segment_size, n_segments, section_size, n_sections, names;
};

struct segment {
	uint32_t type, offset, address, physical, file_size, memory_size, flags, alignment;
};

_Static_assert(sizeof(struct header) == 52, "fixed by the format");
_Static_assert(sizeof(struct segment) == 32, "fixed by the format");

static uint32_t elf_page_down(uint32_t address)
{
	return address & ~(ELF_PAGE - 1);
}

static uint32_t elf_page_up(uint32_t address)
{
	return elf_page_down(address + ELF_PAGE - 1);
}

static bool elf_is_executable(const struct header *header, size_t size)
{
	return size >= sizeof *header && header->magic == MAGIC &&
	       header->class_and_order == CLASS_AND_ORDER && header->machine == MACHINE_I386 &&
	       header->type == TYPE_EXECUTABLE;
}

/* The table of segments must lie in what has been read. */
static bool elf_is_program(const struct header *header, size_t size)
{
	return elf_is_executable(header, size) && header->segment_size == sizeof(struct segment) &&
	       header->segments % sizeof(uint32_t) == 0 && header->segments <= size &&
	       header->n_segments <= (size - header->segments) / sizeof(struct segment);
}

/* Whether its numbers make sense: in the file, and within [lowest, limit). */
static bool elf_is_sound(const struct segment *segment, int64_t file_size, uint32_t lowest,
			 uint32_t limit)
{
	return segment->file_size <= segment->memory_size &&
	       (int64_t)segment->offset + segment->file_size <= file_size &&
	       segment->offset % ELF_PAGE == segment->address % ELF_PAGE &&
	       segment->address >= lowest && segment->address < limit &&
	       segment->memory_size <= limit - segment->address;
}

/* In pages.  A segment that is all in the file is mapped to the end of its last page. */
static struct elf_segment elf_in_pages(const struct segment *segment)
{
	uint32_t start = elf_page_down(segment->address);
	uint32_t before = segment->address - start;
	uint32_t in_file = before + segment->file_size;
	struct elf_segment result = {
		.start = start,
		.size = elf_page_up(before + segment->memory_size),
		.offset = elf_page_down(segment->offset),
		.mapped = elf_page_up(in_file),
		.is_writable = (segment->flags & FLAG_WRITE) != 0,
		.is_executable = (segment->flags & FLAG_EXECUTE) != 0,
	};

	if (segment->memory_size > segment->file_size) {
		result.mapped = segment->file_size == 0 ? 0 : elf_page_down(in_file);
		result.tail = segment->file_size == 0 ? 0 : in_file - result.mapped;
	}
	return result;
}

static uint32_t elf_end_of_last(const struct elf_program *program)
{
	const struct elf_segment *segments = program->segments;
	unsigned n = program->n_segments;

	return n == 0 ? ELF_PAGE : segments[n - 1].start + segments[n - 1].size;
}

static int elf_add_segment(struct elf_program *program, const struct segment *segment,
			   int64_t file_size, uint32_t limit)
{
	uint32_t lowest = elf_end_of_last(program);

	if (segment->memory_size == 0)
		return 0;
	if (program->n_segments == ELF_SEGMENTS_MAX ||
	    !elf_is_sound(segment, file_size, lowest, elf_page_down(limit)))
		return ENOEXEC;
	program->segments[program->n_segments++] = elf_in_pages(segment);
	return 0;
}

/* Whether the program begins where there is something to execute. */
static bool elf_has_entry(const struct elf_program *program)
{
	for (unsigned n = 0; n < program->n_segments; n++) {
		const struct elf_segment *segment = &program->segments[n];

		if (segment->is_executable && program->entry >= segment->start &&
		    program->entry - segment->start < segment->size)
			return true;
	}
	return false;
}

int elf_read(const void *head, size_t size, int64_t file_size, uint32_t limit,
	     struct elf_program *program)
{
	const struct header *header = head;
	const struct segment *segments;
	int error = 0;

	if (!elf_is_program(header, size))
		return ENOEXEC;
	*program = (struct elf_program){.entry = header->entry, .has_executable_stack = true};
	segments = (const void *)((const char *)head + header->segments);
	for (unsigned n = 0; n < header->n_segments && error == 0; n++) {
		switch (segments[n].type) {
		case SEGMENT_LOAD:
			error = elf_add_segment(program, &segments[n], file_size, limit);
			break;
		case SEGMENT_STACK:
			program->has_executable_stack = (segments[n].flags & FLAG_EXECUTE) != 0;
			break;
		case SEGMENT_INTERPRETER:
		case SEGMENT_DYNAMIC:
			error = ENOEXEC; /* There is nobody to link it. */
			break;
		}
	}
	return error == 0 && !elf_has_entry(program) ? ENOEXEC : error;
}

bool elf_find_sections(const void *head, size_t size, struct elf_sections *sections)
{
	const struct header *header = head;

	if (!elf_is_executable(header, size) || header->section_size != ELF_SECTION_SIZE)
		return false;
	*sections = (struct elf_sections){.offset = header->sections, .n = header->n_sections};
	return true;
}
