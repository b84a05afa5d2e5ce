/* SPDX-License-Identifier: MIT */
/* A stand-in for lib/assay.h, on the host: what parts of the Unix server use of it. */
#ifndef ASSAY_H
#define ASSAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define PAGE_SIZE 4096u

size_t format(char *buffer, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

#endif
