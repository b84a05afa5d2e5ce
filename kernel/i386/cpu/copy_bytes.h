/* SPDX-License-Identifier: MIT */
/*
 * The instructions behind copy.h that may fault; only copy.h and copy.c call them, with checked
 * ranges.
 */
#ifndef I386_CPU_COPY_BYTES_H
#define I386_CPU_COPY_BYTES_H

#include <stdint.h>

/* Copies; returns 0, or not 0 if a fault on either side ended it. */
uint32_t copy_bytes(void *to, const void *from, uint32_t size);

/*
 * Copies up to and with a zero byte; returns the length without it, `size` if there is none, and
 * UINT32_MAX on a fault.
 */
uint32_t copy_string(char *to, const char *from, uint32_t size);

#endif
