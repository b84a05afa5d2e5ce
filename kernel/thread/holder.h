/* SPDX-License-Identifier: MIT */
/*
 * Who executes, where an emulator runs the CPUs in turn.
 *
 * QEMU with an instruction clock runs all CPUs in one host thread, on one clock that counts
 * everybody's instructions.  One CPU, the *holder*, executes; the others are *parked*: they stand
 * still wherever they are, which may be in user mode, and will not know of it.  What a timer
 * interrupt finds on a parked CPU is not what went on at that time, and must be neither sampled nor
 * charged.  So whoever measures asks here who held the turn at a *moment*.
 *
 * A CPU notes that it executes where it may have been parked: as it enters the interrupts that all
 * CPUs get at a moment, and behind each instruction by which the emulator takes the turn away.
 * Before such an instruction (`pause`, `hlt`, the arming of a timer that is the next) it notes who
 * comes next.  The emulator also takes the turn away when a timer is due.  That nobody can note,
 * and need not: moments are when timers are due.  The first note at or after a moment ends it, and
 * who held the turn until that note held it at the moment.
 *
 * That is right if no CPU executes between the moment and that note without noting, or only the
 * holder itself; and if nobody had got the turn unseen before.  The first holds since at a moment
 * all CPUs have an interrupt pending whose handler notes, and those that have interrupts off are in
 * a handler, and stand behind one of the instructions above.  The second fails where a program
 * executes `pause`: if another program was parked at a `pause` of its own, that one has the turn.
 *
 * A moment must be told too early rather than too late, if at all: between the moment and the time
 * that was told for it the CPUs parked in a handler would take the turn, and its place as holder.
 *
 * On machines that run all their CPUs nothing of this is executed (cpus_in_turn).
 */
#ifndef THREAD_HOLDER_H
#define THREAD_HOLDER_H

#include <stdbool.h>
#include <stdint.h>

/* What may have one moment pending at a time. */
enum holder_moment {
	HOLDER_AT_SHOT, /* Of the sampling clock's timer. */
	HOLDER_AT_TICK,
	HOLDER_MOMENTS
};

/* Whether the CPUs run in turn.  Constant once programs run; false until then. */
extern bool cpus_in_turn;

/* Finds out; when all CPUs run. */
void holder_start(void);

/* Notes that this CPU has the turn: it executes. */
void holder_note(void);

/* This CPU is about to give the turn away: the next that does not halt will have it. */
void holder_pass(void);

/* The end of a wait for an interrupt, that begins with holder_halts(). */
void holder_halts(void);
void holder_wakes(void);

/* Whether of the CPUs that do not halt the one that comes next has waited longest for its turn. */
bool holder_next_is_first(void);

/* The next has the turn up to the moment: to be called as it is passed for that. */
void holder_give(void);

/* The moment is to come at `cycles`, of which only the lower half is looked at. */
void holder_watch(enum holder_moment moment, uint64_t cycles);

#define HOLDER_NOBODY UINT32_MAX

/*
 * Who held the turn at the moment that was watched for, if it has passed; only one caller is told.
 * HOLDER_NOBODY: it has not passed, or somebody has been told.
 */
uint32_t holder_take(enum holder_moment moment);

/* When the moment that was watched for last is, or was: the lower half. */
uint32_t holder_moment(enum holder_moment moment);

#endif
