/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own profile: its state is here, whoever asks for it.  Guarded by the server's lock.
 *
 * Ticks come from a stream of the host's (gmon_ticks.c), and are brought up to date when they are
 * read.
 */
#ifndef SYSCTL_GMON_H
#define SYSCTL_GMON_H

#include <sys/gmon.h>

#include "sysctl/sysctl.h"

extern struct gmonparam _gmonparam;

/* Once: what the tables are of, and their memory, all of it or none; 0 or an error. */
int kmstartup(void);

/* Values and what is set, as entries of the table want them. */
int gmon_get(uintptr_t what, struct sysctl_value *value);
int gmon_set(uintptr_t what, const char *data, size_t size);

/* Begins, as if by GPROF_STATE; false if it cannot, which is said in the log. */
bool gmon_start(void);

/* ---------------- By gmon.c only ---------------- */

/* Begins and ends the stream; 0 or an error.  Unlocks. */
int gmon_ticks_begin(void);
void gmon_ticks_end(void);

/* Has all ticks here that have been; unlocks while it waits. */
void gmon_ticks_bring(void);
void gmon_ticks_reset(void);
void gmon_ticks_give(struct sysctl_value *value);

/* The same of calls (gmon_calls.c): the first 0 or an error, and so the last, which unlocks too. */
int gmon_calls_begin(void);
void gmon_calls_end(void);
void gmon_calls_reset(void);
int gmon_calls_bring(void);

/* Which function an idle CPU is in. */
void gmon_ticks_prepare(uint32_t idle);

#endif
