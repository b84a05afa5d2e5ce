/* SPDX-License-Identifier: MIT */
/* The multiboot information: see multiboot.h.  boot_info is constant after boot. */
#include "i386/boot/multiboot.h"

#include <stddef.h>

#include "base/string.h"
#include "i386/cpu/memory.h"

#define LOADER_MAGIC 0x2badb002u

#define INFO_MEMORY  0x001u
#define INFO_COMMAND 0x004u
#define INFO_MODULES 0x008u
#define INFO_MAP     0x040u

#define FIRST_MIB  0x100000u
#define USABLE     1u
#define FOUR_GIB   0x100000000ull
#define PAGE_BYTES 4096u

struct multiboot_information {
	uint32_t flags;
	uint32_t lower_kib, upper_kib;
	uint32_t boot_device;
	uint32_t command;
	uint32_t n_modules, modules;
	uint32_t symbols[4];
	uint32_t map_size, map;
};

struct multiboot_module {
	uint32_t start, end;
	uint32_t string;
	uint32_t reserved;
};

/* `size` is that of the entry without itself. */
struct multiboot_region {
	uint32_t size;
	uint64_t start, length;
	uint32_t type;
} __attribute__((packed));

struct boot_info boot_info;

/* ---------------- Memory ---------------- */

/* Keeps the ranges in rising order; what is beyond the kernel's reach is only counted. */
static void multiboot_add_range(uint64_t start, uint64_t end)
{
	struct boot_range *ranges = boot_info.ranges;
	unsigned place = boot_info.n_ranges;

	if (start < FIRST_MIB)
		start = FIRST_MIB;
	if (end <= start)
		return;
	if (start >= FOUR_GIB || place == BOOT_RANGES) {
		boot_info.beyond += (uint32_t)((end - start) >> 20);
		return;
	}
	if (end > FOUR_GIB - PAGE_BYTES)
		end = FOUR_GIB - PAGE_BYTES;
	while (place > 0 && ranges[place - 1].start > start) {
		ranges[place] = ranges[place - 1];
		place--;
	}
	ranges[place] = (struct boot_range){(uint32_t)start, (uint32_t)end};
	boot_info.n_ranges++;
}

static void multiboot_read_map(const struct multiboot_information *info)
{
	const char *place = phys_to_virt(info->map);
	const char *end = place + info->map_size;

	while (place < end) {
		const struct multiboot_region *region = (const void *)place;

		if (region->type == USABLE)
			multiboot_add_range(region->start, region->start + region->length);
		place += region->size + sizeof region->size;
	}
}

/* ---------------- Modules ---------------- */

static const char *multiboot_read_modules(const struct multiboot_information *info)
{
	const struct multiboot_module *modules = phys_to_virt(info->modules);

	if (info->n_modules > MAX_MODULES)
		return "more boot modules than the kernel takes";
	for (unsigned n = 0; n < info->n_modules; n++) {
		struct boot_module *module = &boot_info.modules[n];
		const char *command = phys_to_virt(modules[n].string);

		module->image = (struct boot_range){modules[n].start, modules[n].end};
		if (strlcpy(module->command, command, sizeof module->command) >=
		    sizeof module->command)
			return "the command line of a boot module is too long";
	}
	boot_info.n_modules = info->n_modules;
	return NULL;
}

const char *multiboot_read(uint32_t magic, uint32_t information)
{
	const struct multiboot_information *info = phys_to_virt(information);

	if (magic != LOADER_MAGIC)
		return "the boot loader does not speak multiboot";
	if ((info->flags & INFO_MAP) != 0)
		multiboot_read_map(info);
	else if ((info->flags & INFO_MEMORY) != 0)
		multiboot_add_range(FIRST_MIB, FIRST_MIB + (uint64_t)info->upper_kib * 1024);
	if ((info->flags & INFO_COMMAND) != 0 &&
	    strlcpy(boot_info.command, phys_to_virt(info->command), BOOT_COMMAND_SIZE) >=
		    BOOT_COMMAND_SIZE)
		return "the kernel's command line is too long";
	if ((info->flags & INFO_MODULES) != 0)
		return multiboot_read_modules(info);
	return NULL;
}
