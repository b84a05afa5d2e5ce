/* SPDX-License-Identifier: MIT */
/*
 * Unix calls as traces have them: their names, and what their arguments and results are.
 *
 * Calls are those of defs/ux/bsd.defs, with its arguments that go in.  A test compares the table
 * with that file.
 */
#ifndef KTRACE_CALLS_H
#define KTRACE_CALLS_H

#include <stdint.h>

#define KTRACE_ARGUMENTS 6 /* At most. */

enum ktrace_kind {
	KTRACE_NONE,   /* No further argument, or no result. */
	KTRACE_NUMBER, /* In the base that is asked for. */
	KTRACE_SIGNED, /* Always decimal. */
	KTRACE_WIDE,   /* 64 bits with a sign. */
	KTRACE_HEX,    /* An address, a port. */
	KTRACE_ID,     /* Unsigned and decimal; 0xffffffff is -1. */
	KTRACE_PATH,   /* Its length; the path is in a record of its own. */
	KTRACE_BYTES,  /* A length. */
	KTRACE_MODE,   /* Octal. */
	KTRACE_SIGNALS,
	KTRACE_HANDLER,
	KTRACE_MOST,  /* A limit, perhaps infinite. */
	KTRACE_NAMED, /* And which names: enum ktrace_names. */
};

#define KTRACE_KIND_OF(names) (KTRACE_NAMED + (names))

struct ktrace_call {
	const char *name;
	uint8_t result;
	uint8_t arguments[KTRACE_ARGUMENTS];
};

/* NULL if there is no such call. */
const struct ktrace_call *ktrace_call(int code);

#endif
