/* SPDX-License-Identifier: MIT */
/*
 * The device below a file system: blocks of a size that the file system chooses.
 *
 * Nothing here knows of the server's lock: who reads or writes has given it up, and sees to it that
 * nobody touches the memory meanwhile.
 */
#ifndef UX_FS_BLOCK_DEVICE_H
#define UX_FS_BLOCK_DEVICE_H

#include "core/ux.h"

struct block_device {
	mach_port_t port;
	char name[32];
	uint32_t record_size;
	uint32_t records;
	uint32_t block_size; /* 1,024 until block_device_set_block_size(). */
};

/* Opens the device of that name by the device master port. */
int block_device_open(struct block_device *device, mach_port_t master, const char *name);
void block_device_close(struct block_device *device);

/* A multiple of the record's size: false if it is none. */
bool block_device_set_block_size(struct block_device *device, uint32_t size);

/* In bytes. */
uint64_t block_device_size(const struct block_device *device);

/* `count` blocks one after the other on the device; each has a place of its own in memory. */
int block_device_read(const struct block_device *device, uint32_t first, uint32_t count,
		      void *const places[]);

/* `count` blocks, one after the other in memory too; EROFS of a device that can only be read. */
int block_device_write(const struct block_device *device, uint32_t first, uint32_t count,
		       const void *data);

/* How many bytes of memory a cache may take on this machine. */
size_t block_device_cache_size(void);

#endif
