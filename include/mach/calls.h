/* SPDX-License-Identifier: MIT */
/*
 * What host_calls_get() tells: the kernel's own calls, counted while host_calls_count() says so.
 *
 * A call site has one of these, and so has each address of a function in a table of the kernel's:
 * whoever reads it there and calls is not known.
 */
#ifndef MACH_CALLS_H
#define MACH_CALLS_H

#include <stdint.h>

struct host_call {
	uint32_t from;     /* Where the call returns to; 0 for an address in a table. */
	uint32_t to;       /* The function that is called. */
	uint32_t count[2]; /* How often, the lower half first. */
};

typedef unsigned *host_call_array_t; /* Of the words of such calls. */

#define HOST_CALL_WORDS (sizeof(struct host_call) / sizeof(unsigned))

#define HOST_CALLS_ALL_CPUS (-1)

/*
 * On whose behalf a call was made, where that is told apart: a task's label, the system's own work,
 * or anybody else.
 */
#define HOST_CALLS_SYSTEM 0u
#define HOST_CALLS_OTHERS 0xffffffffu

#define HOST_CALLS_LABELS \
	32u /* That can have counts of their own at once, the system's among them. */

/* Which tasks have, in the order in which it was found that they should. */
struct host_call_labels {
	uint32_t n;
	uint32_t missed; /* Children that should have some, and for which there was no room. */
	uint32_t labels[HOST_CALLS_LABELS - 1];
};

typedef struct host_call_labels host_call_labels_t;

/*
 * Who asked whom for what: a message was sent, but to a send-once right, which is a reply.  It is
 * counted for the label of who sent it, where calls are told apart; of all others it is not told
 * who sent it, nor from where.
 */
#define HOST_REQUEST_FRAMES 10

/*
 * What a server has called while it counted its calls by label (assay_count_call()) is told as
 * well, of all labels: `server` is this then, `id` what was called, and there is one frame.  What
 * it did for itself has the label that is its own task's number, whether that is told apart or not.
 */
#define HOST_REQUEST_CALL 0xffffffffu

struct host_request {
	uint32_t label;                       /* On whose behalf, or HOST_CALLS_OTHERS. */
	uint32_t task;                        /* Who sent it, */
	uint32_t server;                      /* which task was asked; 0: the kernel, or nobody; */
	uint32_t id;                          /* the message's; */
	uint32_t frames[HOST_REQUEST_FRAMES]; /* from where: return addresses; 0 behind the last. */
	uint32_t count[2];                    /* How often, the lower half first. */
};

typedef unsigned *host_request_array_t; /* Of the words of such requests. */

#define HOST_REQUEST_WORDS (sizeof(struct host_request) / sizeof(unsigned))

/* So many different ones are counted; of others it is known how often there were some. */
#define HOST_REQUESTS_MAX 4096u

#endif
