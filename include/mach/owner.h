/* SPDX-License-Identifier: MIT */
/*
 * Who pays for what the kernel keeps for programs: host_owner() and its kin, defs/mach/assay.defs.
 *
 * Each task has an owner, a number that the Unix server chooses: the user.  Owner 0 is the system.
 */
#ifndef MACH_OWNER_H
#define MACH_OWNER_H

#include <stdint.h>

/* What is counted. */
enum owner_kind {
	OWNER_PORTS,   /* Ports and port sets. */
	OWNER_NAMES,   /* Tables of names: of 32 names each, and of 256 such tables. */
	OWNER_TASKS,   /* Tasks, with their spaces of names, */
	OWNER_THREADS, /* and threads, each with its stack in the kernel. */
	OWNER_QUEUED,  /* What lies in queues of ports: units of a small message, a page is 16. */
	OWNER_PAGES,   /* Pages of memory without a file, in memory or in swap. */
	OWNER_ENTRIES, /* Entries of maps, 16 at a time. */
	OWNER_TABLES,  /* Page tables and directories. */
	OWNER_WIRED,   /* Pages that are wired. */
	OWNER_STREAMS, /* Streams of samples, each with its buffers. */
	OWNER_KINDS
};

#define OWNER_KINDS_MAX 16 /* That a message has room for. */

struct owner_use {
	uint32_t used;
	uint32_t limit; /* OWNER_NO_LIMIT: none. */
	uint32_t most;  /* That was used at a time. */
};

/* Of all kinds, in their order, in a message. */
struct owner_uses {
	struct owner_use uses[OWNER_KINDS_MAX];
	uint32_t lost;    /* Answers and notifications that were not queued, for a limit. */
	uint32_t culprit; /* The task that was ended last when memory was out, whoever's it was. */
};

typedef struct owner_uses owner_uses_t;

#define OWNER_NO_LIMIT 0xffffffffu

#define OWNER_SYSTEM 0u          /* It has no limits. */
#define OWNER_OTHERS 0xffffffffu /* Stands for all but the system together. */

#endif
