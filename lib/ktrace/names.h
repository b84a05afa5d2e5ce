/* SPDX-License-Identifier: MIT */
/* Names of what is a number in traces: the machine's numbers, whatever the host's are. */
#ifndef KTRACE_NAMES_H
#define KTRACE_NAMES_H

#include <stdint.h>
#include <stdio.h>

/* Tables of names.  A number that is in none is printed as a number. */
enum ktrace_names {
	KTRACE_ERRNO,
	KTRACE_SIGNAL,
	KTRACE_OPEN,      /* Flags of open() */
	KTRACE_PIPE,      /* of pipe() */
	KTRACE_SEMAPHORE, /* of sem_open() */
	KTRACE_ACCESS,    /* and of access(). */
	KTRACE_WHENCE,
	KTRACE_FCNTL, /* Its commands. */
	KTRACE_WAIT,  /* Flags of wait4(). */
	KTRACE_MASKING,
	KTRACE_ACTION, /* Flags of sigaction(). */
	KTRACE_TIMER,
	KTRACE_USAGE,
	KTRACE_LIMIT,
	KTRACE_HALT,
	KTRACE_OPERATION, /* Of ktrace(), */
	KTRACE_FACILITY,  /* and what it traces. */
	KTRACE_SENT,      /* How a signal came to be: si_code, of any signal. */
	KTRACE_REASON,    /* What a thread waited for. */
	KTRACE_TYPE,      /* Of records. */
	KTRACE_NAMES,
};

/* The name of a whole number; NULL if it has none.  Good until the next call. */
const char *ktrace_name(enum ktrace_names which, int64_t number);

/* The same, or of flags those that are set, with a `|` between them. */
void ktrace_put_name(FILE *out, enum ktrace_names which, uint64_t number);

/* How a signal came to be: what its own codes say, or any signal's. */
void ktrace_put_sent(FILE *out, int32_t signal, int32_t code);

/* `{SIGINT,SIGTERM}`, or `~{SIGKILL}` for all but that. */
void ktrace_put_signals(FILE *out, uint64_t mask);

#endif
