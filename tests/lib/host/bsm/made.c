/* SPDX-License-Identifier: MIT */
/* A trail byte by byte, from the format's description: see made.h. */
#include "made.h"

#define WORD(n) (n) >> 24 & 0xff, (n) >> 16 & 0xff, (n) >> 8 & 0xff, (n)&0xff
#define HEADER(size, event, modifier)                                                       \
	0x14, WORD(size), 11, (event) >> 8, (event)&0xff, (modifier) >> 8, (modifier)&0xff, \
		WORD(1767225600), WORD(123)
#define TRAILER(size) 0x13, 0xb1, 0x05, WORD(size)
#define PROCESS(type, auid, pid)                                                               \
	type, WORD(auid), WORD(0), WORD(0), WORD(100), WORD(100), WORD(pid), WORD(7), WORD(0), \
		WORD(0)

#define FIRST_SIZE  (18 + 37 + 37 + 14 + 17 + 9 + 8 + 6 + 7)
#define SECOND_SIZE (18 + 37 + 11 + 11 + 6 + 5 + 9 + 6 + 7)

const uint8_t made_trail[] = {
	0x11,
	WORD(1767225600),
	WORD(5),
	0,
	3,
	'/',
	'a',
	0,
	HEADER(FIRST_SIZE, 72, 0),
	PROCESS(0x24, 100, 12),
	PROCESS(0x26, 0, 1),
	0x2d,
	2,
	WORD(3),
	0,
	6,
	'f',
	'l',
	'a',
	'g',
	's',
	0,
	0x71,
	1,
	WORD(0),
	WORD(5),
	0,
	5,
	's',
	'i',
	'z',
	'e',
	0,
	0x23,
	0,
	6,
	'/',
	't',
	'<',
	'&',
	'\n',
	0,
	0x28,
	0,
	5,
	't',
	'e',
	'x',
	't',
	0,
	0x27,
	0,
	WORD(3),
	TRAILER(FIRST_SIZE),
	HEADER(SECOND_SIZE, 23, 0x8000),
	PROCESS(0x24, 0xffffffff, 13),
	0x3c,
	WORD(2),
	'l',
	's',
	0,
	'-',
	'l',
	0,
	0x3b,
	0,
	2,
	WORD(100),
	WORD(5),
	0x29,
	0,
	3,
	1,
	2,
	3,
	0x2f,
	WORD(9),
	0x52,
	WORD(1),
	WORD(2),
	0x27,
	2,
	WORD(0),
	TRAILER(SECOND_SIZE),
};

const size_t made_trail_size = sizeof made_trail;
