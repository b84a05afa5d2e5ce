/* SPDX-License-Identifier: MIT */
/*
 * The device below a file system that is tested on the host: an image in memory, made and checked
 * by e2fsprogs.
 */
#ifndef HOST_UX_IMAGE_H
#define HOST_UX_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The image.  Its bytes may be changed at will while nothing is mounted. */
extern uint8_t *image_bytes;
extern size_t image_size;

/* Has mke2fs make an image of so many KiB; says why and returns false if it does not. */
bool image_make(const char *options, unsigned kib);
void image_free(void);

/* Whether e2fsck -fn finds nothing; what it finds is printed. */
bool image_is_clean(void);

/* Has e2fsck repair whatever it finds; whether nothing is wrong then. */
bool image_repair(void);

/* Has debugfs do something to the image that the file system cannot. */
bool image_debugfs(const char *request);

/* Requests from now on that touch these bytes fail, as those of a bad disk do; `size` 0: none. */
void image_fail_reads(size_t offset, size_t size);
void image_fail_writes(size_t offset, size_t size);

/*
 * The block of 1 KiB that will be written as the `number`th from now on is bad, whatever else its
 * request writes: until it has been tried alone, or for ever.  `number` 0: none is.
 */
void image_fail_block(unsigned number, bool for_ever);
bool image_block_has_failed(void);

/* Whether the device takes no writes, as a disk that can only be read does. */
extern bool image_is_read_only;

/* Requests that came since the program began, and blocks that they moved. */
extern unsigned image_reads, image_writes, image_blocks_read, image_blocks_written;

/* For block_device.h, in server.c: whether that worked. */
bool image_read(size_t offset, size_t size, void *to);
bool image_write(size_t offset, size_t size, const void *from);

#endif
