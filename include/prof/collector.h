/* SPDX-License-Identifier: MIT */
/*
 * Collectors: samples that the kernel sends become counts, and those a gmon.out.  For -lprof1; the
 * manual is docs/libprof.md.
 *
 * A collector has a stream of samples, the ports to which they and others' requests on them
 * (<servers/gprof.h>) come, and what was collected.  A program may have as many as it likes, of
 * which none disturbs another.  They need nothing but the kernel.
 *
 * Nothing in a collector is guarded: one thread, which makes it, does all with it.  A collector
 * that was given a thread of its own, by prof_collector_run(), belongs to that; others then ask it
 * by requests to prof_collector_port(), as other programs do, and may end it.
 *
 * Results are KERN_SUCCESS, or a kern_return_t or GPROF_* that says why not.
 */
#ifndef PROF_COLLECTOR_H
#define PROF_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/port.h>
#include <mach/prof.h>
#include <servers/gprof_types.h>

struct gmon_program; /* <gmon_program.h> */
struct prof_collector;

/*
 * What a collector is of.  With neither a task nor begin() it has no stream and no ports: records
 * that come from elsewhere are added to it, by prof_collector_add().
 */
struct prof_collector_target {
	mach_port_t task;   /* By whose right it is sampled; the right stays the caller's. */
	uint32_t task_id;   /* The kernel's number of it, where there is no such right. */
	uint32_t low, high; /* The program's text: what the histogram covers. */
	const void *image;  /* The program's ELF file, in memory while the collector is made, */
	size_t image_size;  /* or as much of its beginning: files say which program it is. */
	const struct gmon_program *program; /* Or that, if it has been read; else NULL. */
	bool runs_here;                     /* It is this program, and all its code can be read. */
	uint32_t pid;
	const char *name; /* The program's, which stays where it is.  May be null. */
	uint32_t proxy;   /* The task is another program's, and this is the number of ours; or 0. */
	bool counts_calls;  /* It has the calls of this program: one collector's at a time. */
	bool of_kernel;     /* By a host's stream, the kernel's program counters; */
	bool only_task;     /* by one, this task alone. */
	bool with_children; /* The task's stream is of its job (SAMPLE_CHILDREN). */
	bool owner_only;    /* Whoever looks up the name needs this token: */
	gprof_token_t token;
	mach_port_t set; /* The caller's, which the ports join; MACH_PORT_NULL: one of its own. */

	void *context; /* Given to each of the following, which are called by its thread. */

	/* Begin, end and flush a stream of another kind than the task's; all, or none. */
	kern_return_t (*begin)(void *context, uint32_t flavors, uint32_t rate,
			       sample_options_t options, mach_port_t reply);
	kern_return_t (*end)(void *context, mach_port_t reply);
	kern_return_t (*flush)(void *context, mach_port_t reply, uint64_t *delivered);

	/* Sees every message's records before they are counted.  May be null. */
	void (*watch)(void *context, const uint32_t *words, size_t count);

	/* Gets what came to other ports of the set, and destroys what it brings; null: the
	 * collector does. */
	void (*other)(void *context, mach_msg_header_t *message);
};

/* ---------------- Making and ending ---------------- */

/*
 * Nothing is sampled yet.  KERN_NAME_EXISTS: another collector counts this program's calls;
 * KERN_INVALID_ARGUMENT: only a part of begin, end and flush is there.
 */
kern_return_t prof_collector_make(const struct prof_collector_target *target,
				  struct prof_collector **collector);

/* Gives it a thread of its own, which serves until it is ended.  It stays as it was on failure. */
kern_return_t prof_collector_run(struct prof_collector *collector);

/* Ends its stream and its thread, and gives back its ports and its memory. */
void prof_collector_end(struct prof_collector *collector);

/*
 * In the child of a fork, before it makes any: what there is belongs to its parent, and its memory
 * alone is given back.  Returns what the parent was sampling, and with which options.
 */
uint32_t prof_collector_forget(struct prof_collector *collector, gprof_options_t *options);

/* ---------------- Samples and requests ---------------- */

/* Receives one message and does what it says.  MACH_RCV_TIMED_OUT after `timeout_ms`. */
kern_return_t prof_collector_serve(struct prof_collector *collector, mach_msg_timeout_t timeout_ms);

/*
 * The same with a message that the caller has received from the set, into `size` bytes that may be
 * written to.  False, with nothing done: it did not come to a port of this collector's.
 */
bool prof_collector_feed(struct prof_collector *collector, mach_msg_header_t *message);

/* The longest message that comes to a collector. */
#define PROF_MESSAGE_MAX 1024u

/* Counts these records of <mach/prof.h>: of a message that came elsewhere. */
void prof_collector_add(struct prof_collector *collector, const uint32_t *words, size_t count);

/* So many samples were of others, and came here to nobody. */
void prof_collector_add_others(struct prof_collector *collector, uint64_t count);

/* Forgets what was collected, for samples of these flavors. */
void prof_collector_clear(struct prof_collector *collector, uint32_t flavors);

/* See <servers/gprof.h>: begin or end sampling, the options, the counts of all up to now. */
kern_return_t prof_collector_switch(struct prof_collector *collector, uint32_t *flavors);
kern_return_t prof_collector_options(struct prof_collector *collector,
				     const gprof_options_t *options);
void prof_collector_status(struct prof_collector *collector, gprof_status_t *status);

/*
 * All that has been taken up to now as a gmon.out of the form that the options say: memory of this
 * task's, which is the caller's to deallocate.
 */
kern_return_t prof_collector_dump(struct prof_collector *collector, char **data, size_t *size);

/* ---------------- Any thread may ask for these ---------------- */

/* What to give to the name server: a port to make send rights to. */
mach_port_t prof_collector_public_port(const struct prof_collector *collector);

/* Where requests come of those who may ask. */
mach_port_t prof_collector_port(const struct prof_collector *collector);

/* Makes a port with a right to send to it, in the set, for messages of target.other. */
kern_return_t prof_collector_add_port(struct prof_collector *collector, mach_port_t *port);

/* The target of a proxy has ended, and the last of its samples have come. */
bool prof_collector_target_ended(const struct prof_collector *collector);

/* How often sampling was begun, whatever came of it: what is collected now is of the last time. */
uint32_t prof_collector_beginnings(const struct prof_collector *collector);

#endif
