/* SPDX-License-Identifier: MIT */
/* What the boot loader tells the kernel, in the kernel's own words. */
#ifndef I386_BOOT_MULTIBOOT_H
#define I386_BOOT_MULTIBOOT_H

#include <stdint.h>

#include "base/config.h"

#define BOOT_COMMAND_SIZE 1024
#define BOOT_STRING_SIZE  256
#define BOOT_RANGES       32

/* Physical addresses, the end excluded. */
struct boot_range {
	uint32_t start;
	uint32_t end;
};

struct boot_module {
	struct boot_range image;
	char command[BOOT_STRING_SIZE];
};

struct boot_info {
	char command[BOOT_COMMAND_SIZE];
	unsigned n_ranges;
	struct boot_range ranges[BOOT_RANGES]; /* Usable memory from 1 MiB on, rising. */
	uint32_t beyond;                       /* MiB of memory above 4 GiB, or too scattered. */
	unsigned n_modules;
	struct boot_module modules[MAX_MODULES];
};

extern struct boot_info boot_info;

/*
 * Copies what the loader left, whose own copy lies in memory that will be allocated.  Returns NULL,
 * or what is wrong in a sentence.
 */
const char *multiboot_read(uint32_t magic, uint32_t information);

#endif
