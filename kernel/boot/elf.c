/* SPDX-License-Identifier: MIT */
/* Loading a program: see elf.h. */
#include "boot/elf.h"

#include <stddef.h>

#include <assay/traps.h>
#include <mach/kern_return.h>

#include "vm/map/map.h"
#include "vm/page/page.h"

#define ELF_MAGIC      0x464c457fu /* "\177ELF" */
#define ELF_32_LITTLE  0x00000101u /* 32 bits, least byte first; two bytes of e_ident. */
#define ELF_EXECUTABLE 2
#define ELF_I386       3

#define SEGMENT_LOAD  1
#define SEGMENT_STACK 0x6474e551u

#define SEGMENT_EXECUTE 1u
#define SEGMENT_WRITE   2u

struct elf_header {
	uint32_t magic;
	uint16_t class_and_order;
	uint8_t rest_of_ident[10];
	uint16_t type, machine;
	uint32_t version, entry, segments, sections, flags;
	uint16_t size, segment_size, n_segments, section_size, n_sections, names;
};

struct elf_segment {
	uint32_t type, offset, address, physical, file_size, memory_size, flags, alignment;
};

_Static_assert(sizeof(struct elf_header) == 52, "fixed by the format");
_Static_assert(sizeof(struct elf_segment) == 32, "fixed by the format");

static const char *elf_check_header(const struct elf_header *header, uint32_t size)
{
	if (size < sizeof *header || header->magic != ELF_MAGIC)
		return "is not an ELF file";
	if (header->class_and_order != ELF_32_LITTLE || header->machine != ELF_I386)
		return "is not a program for i386";
	if (header->type != ELF_EXECUTABLE)
		return "is not a static executable";
	if (header->segment_size != sizeof(struct elf_segment) || header->segments > size ||
	    header->n_segments > (size - header->segments) / sizeof(struct elf_segment) ||
	    header->segments % sizeof(uint32_t) != 0)
		return "has a damaged table of segments";
	return NULL;
}

static uint32_t elf_rights_of(const struct elf_segment *segment)
{
	uint32_t rights = ASSAY_READ;

	if ((segment->flags & SEGMENT_WRITE) != 0)
		rights |= ASSAY_WRITE;
	if ((segment->flags & SEGMENT_EXECUTE) != 0)
		rights |= ASSAY_EXECUTE;
	return rights;
}

static const char *elf_load_segment(struct vm_map *map, const char *image, uint32_t size,
				    const struct elf_segment *segment)
{
	uint32_t start = page_trunc(segment->address);
	uint32_t end = page_round(segment->address + segment->memory_size);
	kern_return_t result;

	if (segment->memory_size == 0)
		return NULL;
	if (segment->offset > size || segment->file_size > size - segment->offset ||
	    segment->file_size > segment->memory_size)
		return "has a segment that lies outside the file";
	if (end <= start)
		return "has a segment outside user memory";
	result = map_allocate(map, start, end - start, elf_rights_of(segment));
	if (result == KERN_SUCCESS)
		result = map_write(map, segment->address, image + segment->offset,
				   segment->file_size);
	switch (result) {
	case KERN_SUCCESS:
		return NULL;
	case KERN_NO_SPACE:
		return "has two segments in one page";
	case KERN_RESOURCE_SHORTAGE:
		return "does not fit into memory";
	default:
		return "has a segment outside user memory";
	}
}

const char *elf_load(struct vm_map *map, const void *image, uint32_t size,
		     struct elf_program *program)
{
	const struct elf_header *header = image;
	const struct elf_segment *segments;
	const char *wrong = elf_check_header(header, size);

	if (wrong != NULL)
		return wrong;
	*program = (struct elf_program){.entry = header->entry, .executable_stack = true};
	segments = (const void *)((const char *)image + header->segments);
	for (unsigned n = 0; n < header->n_segments && wrong == NULL; n++) {
		if (segments[n].type == SEGMENT_LOAD)
			wrong = elf_load_segment(map, image, size, &segments[n]);
		else if (segments[n].type == SEGMENT_STACK)
			program->executable_stack = (segments[n].flags & SEGMENT_EXECUTE) != 0;
	}
	return wrong;
}
