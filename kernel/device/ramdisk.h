/* SPDX-License-Identifier: MIT */
/*
 * RAM disks: devices rd0, rd1, and so on, each a piece of physical memory that the page allocator
 * never gets.
 *
 * The first are boot modules with $(ramdisk-create) on their command line, in their order, which
 * are no programs; then come those of the kernel argument ramdisk=, which hold what their memory
 * held: of one that is said where to lie, what whoever runs the machine has put there.  Where each
 * lies is in `machine_ramdisks` (<assay/report.h>) for whoever runs the machine.
 */
#ifndef DEVICE_RAMDISK_H
#define DEVICE_RAMDISK_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/report.h>

/* Whether a boot module is a RAM disk; `command` is its command line. */
bool ramdisk_is_module(const char *command);

/* A RAM disk that ramdisk= asks for. */
struct ramdisk_wish {
	uint32_t size;  /* Bytes, in whole MiB. */
	uint32_t start; /* Where it lies; 0: where there is room. */
};

/* Finds the nth of them, from 0; false: there are no more. */
bool ramdisk_wanted(unsigned n, struct ramdisk_wish *wish);

/*
 * [start, start + size) of physical memory, which the kernel sees, becomes the next RAM disk: whole
 * records, from a page's beginning.  False if there are too many.  At boot, before ramdisk_init().
 */
bool ramdisk_add(uint32_t start, uint32_t size);

/* Makes devices of them. */
void ramdisk_init(void);

#endif
