/* SPDX-License-Identifier: MIT */
/*
 * The collector: a thread that has a task sampled, receives the samples, and answers requests on
 * them (<servers/gprof.h>).  A process has one.
 *
 * It needs nothing but the kernel, so a program, the Unix server and monctl, in another's name, use
 * the same.  All it has belongs to the thread that calls __collector_serve(): either one of its
 * own, which __collector_run() makes, or the caller's.  Other threads ask by do_gprof_mon_switch()
 * and its like with MACH_PORT_NULL, which send to that thread and wait for its answer.
 */
#ifndef LIBPROF_COLLECTOR_H
#define LIBPROF_COLLECTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/port.h>
#include <mach/prof.h>
#include <servers/gprof_types.h>

struct collector_target {
	mach_port_t task; /* By whose right it is sampled. */
	uint32_t low;     /* The program's text: what the histogram covers. */
	uint32_t high;
	const void *image; /* The program's ELF file, in memory while it is prepared, */
	size_t image_size; /* or as much of its beginning: files say which program it is. */
	const struct gmon_program *program; /* Or that, if it has been read; else NULL. */
	bool runs_here;                     /* It is this program, and all its code can be read. */
	uint32_t pid;
	const char *name; /* The program's, which stays where it is.  May be null. */
	uint32_t proxy;   /* The task is another program's, and this is the number of ours; or 0. */
	bool counts_calls;  /* It has arcs, those of this program (arcs.h). */
	bool of_kernel;     /* By a host's stream, the kernel's program counters; */
	bool only_task;     /* by one, this task alone. */
	bool with_children; /* The task's stream is of its job (SAMPLE_CHILDREN). */
	bool owner_only;    /* Whoever looks up the name needs this token: */
	gprof_token_t token;

	/* Begin, end and flush a stream of another kind than the task's; all, or none. */
	kern_return_t (*begin)(uint32_t flavors, uint32_t rate, sample_options_t options,
			       mach_port_t reply);
	kern_return_t (*end)(mach_port_t reply);
	kern_return_t (*flush)(mach_port_t reply, uint64_t *delivered);

	/* Sees every message's records before they are counted.  May be null. */
	void (*watch)(const uint32_t *words, size_t count);

	/* Gets messages that came to other ports of the set, and destroys what they bring.  May be
	 * null, if there are none. */
	void (*other)(mach_msg_header_t *message);
};

/* Once in a process (and again in the child of a fork): makes its ports. */
kern_return_t __collector_prepare(const struct collector_target *target);

/* Starts a thread that serves for ever. */
kern_return_t __collector_run(void);

/* Or: receives one message and does what it says.  MACH_RCV_TIMED_OUT after `timeout_ms`. */
kern_return_t __collector_serve(mach_msg_timeout_t timeout_ms);

/* What to give to the name server: a port to make send rights to. */
mach_port_t __collector_public_port(void);

/* Where its thread's requests come; MACH_PORT_NULL: nothing is prepared. */
mach_port_t __collector_port(void);

/* The set of its ports: to add others, whose messages go to target.other. */
mach_port_t __collector_set(void);

/* The target of a proxy has ended, and the last of its samples have come. */
bool __collector_target_ended(void);

/* How often sampling was begun, whatever came of it: what is collected now is of the last time. */
uint32_t __collector_beginnings(void);

/*
 * In a child of a fork, before anything else: what there is belongs to its parent.  Returns what
 * the parent was sampling, and with which options.
 */
uint32_t __collector_forget(gprof_options_t *options);

/* ---------------- By its own thread only ---------------- */

/* See <servers/gprof.h>. */
kern_return_t __collector_switch(uint32_t *flavors);
kern_return_t __collector_options(const gprof_options_t *options);
void __collector_status(gprof_status_t *status);

/* Whether whoever brings this token may ask. */
bool __collector_admits(const char *token);

/* All that has been taken up to now is in the file: memory of this task's. */
kern_return_t __collector_dump(char **data, size_t *size);

#endif
