/* SPDX-License-Identifier: MIT */
/* Blocks of threads: see tcb.h. */
#include "tcb.h"

#include <mach.h>
#include <stdint.h>
#include <string.h>

/*
 * The program's image of `__thread` variables.  It is read out of the program headers, which the
 * linker puts into the text segment, behind the ELF header.
 */
struct elf_header {
	unsigned char ident[16];
	uint16_t type, machine;
	uint32_t version, entry, program_headers, section_headers, flags;
	uint16_t size, program_header_size, n_program_headers, rest[3];
};

struct program_header {
	uint32_t type, offset, address, physical, file_size, memory_size, flags, align;
};

#define PT_TLS    7
#define ALIGNMENT 16u /* Of the block, if no variable wants more. */

extern const struct elf_header __ehdr_start;

static const struct program_header *thread_variables(void)
{
	const struct program_header *header =
		(const void *)((const char *)&__ehdr_start + __ehdr_start.program_headers);

	for (unsigned i = 0; i < __ehdr_start.n_program_headers; i++) {
		if (header[i].type == PT_TLS)
			return &header[i];
	}
	return NULL;
}

static uintptr_t round_up(uintptr_t number, uintptr_t align)
{
	return (number + align - 1) & ~(align - 1);
}

static size_t alignment(const struct program_header *variables)
{
	return variables != NULL && variables->align > ALIGNMENT ? variables->align : ALIGNMENT;
}

/* From the first variable to the block: the linker counts so. */
static size_t variables_size(const struct program_header *variables)
{
	return variables == NULL ? 0 : round_up(variables->memory_size, variables->align);
}

size_t __tcb_size(void)
{
	const struct program_header *variables = thread_variables();

	return variables_size(variables) + alignment(variables) - 1 + sizeof(struct tcb);
}

struct tcb *__tcb_make(void *memory, mach_port_t port, int id)
{
	const struct program_header *variables = thread_variables();
	size_t size = variables_size(variables);
	struct tcb *tcb = (struct tcb *)round_up((uintptr_t)memory + size, alignment(variables));

	if (variables != NULL) {
		char *first = (char *)tcb - size;

		memcpy(first, (const void *)(uintptr_t)variables->address, variables->file_size);
		memset(first + variables->file_size, 0, size - variables->file_size);
	}
	*tcb = (struct tcb){.self = tcb, .port = port, .id = id};
	return tcb;
}

/* A data segment that begins at the block: writable, of privilege 3, without a limit. */
static struct descriptor segment_at(const struct tcb *tcb)
{
	uint32_t base = (uint32_t)(uintptr_t)tcb;

	return (struct descriptor){
		.low_word = 0xffff | (base & 0xffff) << 16,
		.high_word = (base >> 16 & 0xff) | 0x00cff200 | (base & 0xff000000),
	};
}

int __tcb_use(struct tcb *tcb)
{
	mach_port_t thread = mach_thread_self();
	int selector = -1;
	kern_return_t result = i386_set_gdt(thread, &selector, segment_at(tcb));

	syscall_mach_port_deallocate(mach_task_self_cached(), thread);
	if (result != KERN_SUCCESS)
		return 0;
	__asm__ volatile("movw %w0, %%gs" ::"r"(selector));
	return 1;
}
