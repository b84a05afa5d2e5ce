/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own profile: its state is here, whoever asks for it.  Guarded by the server's lock.
 *
 * Ticks come from a stream of the host's (gmon_ticks.c), and are brought up to date when they are
 * read.  What does not come, or finds no room, is counted (gmon_account.c).
 */
#ifndef SYSCTL_GMON_H
#define SYSCTL_GMON_H

#include <mach/prof.h>
#include <sys/gmon.h>

#include "sysctl/sysctl.h"

extern struct gmonparam _gmonparam;

/* Once: what the tables are of, and their memory, all of it or none; 0 or an error. */
int kmstartup(void);

/* Values and what is set, as entries of the table want them.  Unlocks. */
int gmon_get(uintptr_t what, struct sysctl_value *value);
int gmon_set(uintptr_t what, const char *data, size_t size);

/* Begins, as if by GPROF_STATE; false if it cannot, which is said in the log.  Unlocks. */
bool gmon_start(void);

/* The profile ends, as there was no room for what is counted, and its state says why. */
void gmon_fail(void);

/* ---------------- By process (gmon_processes.c) ---------------- */

/* Which are tracked; and what was counted for one, which unlocks, as does the last. */
int gmon_processes_get(uintptr_t what, struct sysctl_value *value);
int gmon_process_get(uintptr_t pid, struct sysctl_value *value);
int gmon_processes_set(uintptr_t what, const char *data, size_t size);

/* None is any more, as the kernel has forgotten its counts. */
void gmon_processes_forget(void);

/* ---------------- What was lost (gmon_account.c) ---------------- */

extern struct gmon_account gmon_account;

/* A stream begins: its records count from 0.  A reset forgets what was before. */
void gmon_account_begin(void);
void gmon_account_reset(void);

/* Adds what is new in a record since the last one of this stream's; of a clock, the idle time. */
uint32_t gmon_account_add_clock(const struct prof_clock *clock);
void gmon_account_add_stream(const struct prof_stream *stream);

/* A sample of this CPU's has come; and: one that is a tick finds no memory. */
void gmon_account_add_sample(uint32_t cpu, bool is_user);
void gmon_account_add_uncounted(uint32_t cpu, uint32_t more);

/* ---------------- By gmon.c; calls by gmon_processes.c, too ---------------- */

/* Begins and ends the stream; 0 or an error.  Unlocks. */
int gmon_ticks_begin(void);
void gmon_ticks_end(void);

/* Has the stream end soon; does not wait. */
void gmon_ticks_stop(void);

/* Has all ticks here that have been; unlocks while it waits. */
void gmon_ticks_bring(void);
void gmon_ticks_reset(void);
void gmon_ticks_give(struct sysctl_value *value);

/*
 * Has calls counted or no longer, forgets what was counted, and brings it here (gmon_calls.c).  The
 * first and the last return 0 or an error; the last unlocks.
 */
int gmon_calls_begin(void);
void gmon_calls_end(void);
void gmon_calls_reset(void);
int gmon_calls_bring(void);

/* Says which function an idle CPU is in, before ticks are counted. */
void gmon_ticks_prepare(uint32_t idle);

#endif
