/* SPDX-License-Identifier: MIT */
/*
 * Random pagers: a task whose threads answer what the kernel asks of its memory objects in any
 * order, twice, never, with what was not asked for; tasks that map those objects and do everything
 * to the memory that can be done; and a task that has nothing to do with either, whose data must
 * stay right and who must not be kept from its work.
 *
 * hostile.c starts them, watches them and ends them.  Each choice comes from a generator, so that a
 * seed is a run, as far as the machine's own order of events is.
 */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include "ipc.h"

#define HOSTILE_OBJECTS 4u /* Memory objects of the random pager. */
#define HOSTILE_PAGES   8u /* In each of them, as far as anybody looks. */
#define HOSTILE_CLIENTS 2u

/* Names in the tasks. */
enum hostile_name {
	HOSTILE_OBJECT = 0x300, /* And those after it: the pager's objects. */
	HOSTILE_SET = 0x310,    /* In the pager: all of them. */
	HOSTILE_CLIENT = 0x320, /* In the pager: the tasks of its clients. */
	HOSTILE_HOST = 0x330,   /* In the clients: the host's control port. */
	HOSTILE_GOOD = 0x340,   /* The innocent's own object, */
	HOSTILE_STOP,           /* and where it is told to come to an end. */
	HOSTILE_CONTROL,        /* Whoever watches them all. */
};

/* Messages to HOSTILE_CONTROL, besides exceptions. */
enum hostile_report {
	HOSTILE_WRONG = 1, /* The innocent has found something wrong: what, got, due; */
	HOSTILE_OVER,      /* it has come to its end, after so many rounds of work. */
};

void hostile_report(enum hostile_report what, uint32_t a, uint32_t b, uint32_t c);

/* ---------------- Chance ---------------- */

/* Never 0. */
struct dice {
	uint32_t state;
};

uint32_t dice_next(struct dice *dice);
uint32_t dice_below(struct dice *dice, uint32_t n); /* n > 0 */
bool dice_one_in(struct dice *dice, uint32_t n);

/* ---------------- Threads of the tasks ---------------- */

/* What a round is about; each task has its own copy. */
extern struct hostile_plan {
	uint32_t seed;
	uint32_t
		innocent_pages; /* Memory of the innocent's that it goes through again and again. */
} hostile_plan;

#define HOSTILE_PAGER_THREADS    3u
#define HOSTILE_CLIENT_THREADS   2u
#define HOSTILE_INNOCENT_THREADS 2u

void hostile_pager(uint32_t n);    /* hostile_pager.c */
void hostile_client(uint32_t n);   /* hostile_client.c */
void hostile_innocent(uint32_t n); /* hostile_innocent.c: 0 works, 1 is its pager. */

/* ---------------- A round ---------------- */

/*
 * All of them for so many milliseconds; then everything is gone but what was there before.  `host`
 * is the host's control port.  False, and the test has failed, if something is wrong.
 */
bool hostile_round(mach_port_t host, uint32_t milliseconds);

#endif
