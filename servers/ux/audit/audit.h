/* SPDX-License-Identifier: MIT */
/*
 * Auditing: who did what, in a trail that nobody can write to but the server (docs/audit.md).
 *
 * A call is audited if its event is in a class that its process's mask names (<bsm/audit.h>).  What
 * is known of it goes into a record before it is made, since it may change who the caller is and
 * where; how it ended, afterwards.  Records wait in a queue, from which a thread of the server's,
 * the audit worker, writes them in groups.
 *
 *	audit.c           what is audited, and beginning and end of a record of a call
 *	audit_calls.c     which event a call is, and what its arguments are called
 *	audit_record.c    records, token by token
 *	audit_queue.c     the queue, and the worker
 *	audit_routines.c  the calls of <bsm/audit.h>
 *
 * Guarded by the server's lock.
 */
#ifndef UX_AUDIT_H
#define UX_AUDIT_H

#include <bsm/audit.h>
#include <bsm/audit_kevents.h>

#include "core/body.h"
#include "process/process.h"
#include "process/thread.h"

/* There is a trail and it is to be written: looked at by each call, so that none costs more. */
extern bool audit_is_on;

/* ---------------- Records (audit_record.c) ---------------- */

struct audit_record {
	au_event_t event;
	bool is_anyones; /* Of a process that nobody has logged in for. */
	uint32_t size;   /* Bytes so far. */
	uint8_t bytes[MAX_AUDIT_RECORD];
};

/* From begin to end a record has tokens added; one for which there is no room is left out. */
void audit_record_begin(struct audit_record *record, au_event_t event);
void audit_add_number(struct audit_record *record, unsigned argument, uint32_t value,
		      const char *name);
void audit_add_long_number(struct audit_record *record, unsigned argument, uint64_t value,
			   const char *name);
void audit_add_text(struct audit_record *record, uint8_t token, const char *text);
void audit_add_strings(struct audit_record *record, const char *strings, size_t size,
		       uint32_t count);
void audit_add_numbers(struct audit_record *record, const uint32_t *numbers, uint32_t count);

/* A process as the one that acts (AUT_SUBJECT32), or that something is done to (AUT_PROCESS32). */
void audit_add_process(struct audit_record *record, uint8_t token, const struct process *process);
void audit_record_end(struct audit_record *record, int error, uint32_t value);

/* ---------------- Calls (audit_calls.c) ---------------- */

#define AUDITED_NUMBERS 3

struct audited_call {
	au_event_t event;
	const char *numbers[AUDITED_NUMBERS]; /* What the arguments are called that are numbers. */
};

/* What a request is; null: it is never audited. */
const struct audited_call *audited_call_of(const mach_msg_header_t *request);

/* The event, which for some calls depends on what they are given. */
au_event_t audited_event_of(const struct audited_call *call, const mach_msg_header_t *request);

/* Adds what a request says, paths from the root on.  Unlocks. */
void audited_add_arguments(struct audit_record *record, const struct audited_call *call,
			   struct process *process, const mach_msg_header_t *request);

/* ---------------- What is audited (audit.c) ---------------- */

/* A call that is under way. */
struct audit_call {
	struct audit_record record;
	uint32_t selected; /* Whether success is to be recorded, and failure: AUDIT_SUCCESS ... */
};

#define AUDIT_SUCCESS 1u
#define AUDIT_FAILURE 2u

/* Before a call: false if it is not audited, and then that was all.  Unlocks. */
bool audit_begin(struct audit_call *call, struct process *process,
		 const mach_msg_header_t *request);

/* After it, with what it is answered.  Waits for room in the queue: unlocks. */
void audit_end(struct audit_call *call, const mach_msg_header_t *reply);

/* An exception of a process's has become a signal.  Unlocks. */
void audit_exception(struct process *process, int signal, uint32_t address);

/* A process's mask, or that of processes of nobody's. */
const au_mask_t *audit_mask_of(const struct process *process);
extern au_mask_t audit_mask_of_nobody;

/* The classes of an event; null for one that the server does not record. */
au_class_t *audit_class_of(uint32_t event);

/* ---------------- The queue (audit_queue.c) ---------------- */

extern au_qctrl_t audit_limits;
extern int audit_policy;

void audit_set_policy(int policy);

/* While the machine ends for lack of room, nothing begins that is recorded.  Unlocks. */
void audit_await_end(void);

/* A record's place in the trail.  Waits for room: unlocks. */
void audit_commit(const void *record, uint32_t size);

/*
 * The trail goes on in this file, of which it takes the reference; null: there is none.  Records
 * that there are go to the old one, if that can be written.  Unlocks.
 */
void audit_change_trail(struct vnode *trail);

/* Makes the worker, unless it is there: 0 or an errno. */
int audit_start_worker(void);

/* Suspends recording or goes on. */
void audit_set_condition(bool is_on);

void audit_get_counts(audit_stat_t *counts);
void audit_get_file(au_fstat_t *file);
void audit_set_file_size(uint64_t size);

/* Tells auditd; nobody waits for it. */
void audit_send_trigger(int trigger);

/* Records nothing more, and writes what is in the queue.  Unlocks. */
void audit_drain(void);

#endif
