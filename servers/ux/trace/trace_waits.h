/* SPDX-License-Identifier: MIT */
/*
 * Waits of traced processes (KTR_CSW), from the kernel to a trace's file.
 *
 * The kernel tells them by streams (<mach/prof.h>, SAMPLED_PC_WAIT).  One is begun for a process
 * that is to be traced so, and is of the job that its task begins: so children, and the tasks of
 * programs that it executes, cost nothing but their waits.  A thread of the server's receives the
 * messages and puts them by.  When a file is written its streams are flushed, and what they told is
 * put between the other records, by time (trace_merge.c): nobody waits for that but who reads.
 *
 *     kernel --> port --> thread that receives --> batches of a stream ---+
 *                                                                         v
 *     a call, a path ... --> record --> buffer of the file --> merged: in order of time --> file
 *
 * A wait says whose it is by the number of the kernel's thread, which may have ended when it is
 * written.  So who is traced is kept as a waiter for so long: thread, process, program, and since
 * and until when.
 *
 * Guarded by the server's lock.
 */
#ifndef UX_TRACE_WAITS_H
#define UX_TRACE_WAITS_H

#include <mach.h>
#include <sys/ktrace.h>

#include <assay/list.h>
#include "core/ux.h"

#define BATCHES_MAX 16u /* Of a stream, until its file is written; what is more is lost. */

struct trace_file;

/* A message's records. */
struct trace_batch {
	uint32_t *words; /* Wired, and to be given back. */
	uint32_t n;
};

struct trace_stream {
	struct list link; /* In waits->streams. */
	struct trace_file *file;
	mach_port_t port;    /* The receive right. */
	unsigned references; /* Processes whose waits it tells. */
	bool is_ended;       /* No message comes any more. */
	uint64_t delivered;  /* So many waits have come, */
	uint64_t lost;       /* so many the kernel had no room for, */
	uint64_t dropped;    /* and so many this server; */
	uint64_t told;       /* so many of both the file's numbers tell of already. */
	unsigned n_batches;
	struct trace_batch batches[BATCHES_MAX];
};

struct trace_waiter {
	struct list link;       /* In waits->waiters. */
	uint32_t kernel;        /* What the kernel calls the thread. */
	struct ktr_header head; /* Of its records, but for time and number. */
	uint64_t from, until;   /* By ux_now(); until 0: it is traced still. */
};

/* A record that is to be made of a wait: of its beginning, or of its end. */
struct trace_event {
	uint64_t time; /* Nanoseconds since the kernel started. */
	const struct trace_waiter *waiter;
	uint32_t length;           /* Microseconds. */
	uint8_t out, user, reason; /* As in struct ktr_csw. */
};

/* What a file has of this. */
struct trace_waits {
	struct list streams;
	struct list waiters;
	uint32_t inserted; /* Records between others, and lost ones: numbers grow by so much. */
	char *merged;      /* Where records are put together; null: there never was a stream. */
	struct trace_event *events; /* Room for some, */
	size_t events_size;         /* in bytes; it grows. */
};

#define TRACE_MERGED_SIZE (32u * 1024)

void trace_waits_init(struct trace_waits *waits);
void trace_waits_free(struct trace_waits *waits);

/* Waits may still come, or are there. */
static inline bool trace_waits_are_expected(const struct trace_waits *waits)
{
	return !list_empty(&waits->streams);
}

/*
 * All waits that have ended by now are in batches, or lost.  For the thread that writes, the only
 * one that takes streams away.  Unlocks.
 */
void trace_waits_gather(struct trace_waits *waits);

/* Batches have been written: they, streams that have ended and nobody's waiters go. */
void trace_waits_settle(struct trace_waits *waits, uint64_t gathered);

/* How many waits the batch tells; and the end of its memory. */
uint32_t trace_batch_waits(const struct trace_batch *batch);
void trace_batch_free(const struct trace_batch *batch);

/* What could not be written is not to be: of waits until now none is anybody's. */
void trace_waits_drop(struct trace_waits *waits);

/* Who waited; null if nobody who was traced then.  Cuts the wait to the time in which he was. */
const struct trace_waiter *trace_waiter_of(struct trace_waits *waits, uint32_t kernel,
					   uint64_t *begin, uint64_t *end);

/*
 * Writes records, up to the one of this number, and waits in order of time, as
 * trace_file_append_all() does; the records' memory is written to.  Waits for which there is no
 * memory are lost, and counted.  Unlocks.
 */
int trace_merge(struct trace_file *file, struct trace_waits *waits, char *records, size_t size,
		uint32_t last);

#endif
