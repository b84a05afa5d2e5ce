/* SPDX-License-Identifier: MIT */
/* What the compiler of regular expressions makes for the machine that executes them. */
#ifndef GREP_PROGRAM_H
#define GREP_PROGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include "grep/regex.h"

/* Beyond this a pattern such as ((x{99}){99}){99} is refused. */
#define INSTRUCTIONS_MAX 20000
#define CLASS_BYTES      32

enum operation {
	OPERATION_CHARACTER, /* Takes this character. */
	OPERATION_ANY,       /* Takes any. */
	OPERATION_CLASS,     /* Takes one of a set. */
	OPERATION_SPLIT,     /* Goes on at both places. */
	OPERATION_JUMP,
	OPERATION_START, /* Goes on at the beginning of the line alone, */
	OPERATION_END,   /* at its end. */
	OPERATION_MATCH,
};

struct instruction {
	enum operation operation;
	unsigned char character;
	const uint8_t *class; /* A bit for each character. */
	uint32_t first;       /* Where to go on. */
	uint32_t second;
};

/* A set of instructions, in which membership costs one look and clearing nothing. */
struct set {
	uint32_t *members;
	uint32_t *places; /* By instruction: where it would be in `members`. */
	uint32_t count;
};

struct regex {
	struct instruction *code;
	uint32_t length;
	uint32_t room;
	bool ignores_case;
	struct set now;
	struct set next;
	uint32_t *stack;
};

#endif
