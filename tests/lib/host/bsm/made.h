/* SPDX-License-Identifier: MIT */
/* A trail with a token of each kind, as bytes. */
#ifndef BSM_MADE_H
#define BSM_MADE_H

#include <stddef.h>
#include <stdint.h>

#define MADE_RECORDS 3  /* One of them is a file token. */
#define MADE_HEADER  14 /* Where the first header is. */

extern const uint8_t made_trail[];
extern const size_t made_trail_size;

/*
 * Has bytes printed as praudit prints and asked as auditreduce asks, in each way: how many records
 * there are; -1 if the rest is none.
 */
int made_read_all(const uint8_t *bytes, size_t size);

#endif
