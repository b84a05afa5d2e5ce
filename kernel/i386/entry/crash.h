/* SPDX-License-Identifier: MIT */
/*
 * Breaking the kernel on purpose: crash=KIND on its command line.
 *
 * So that a class can see what a panic looks like, and tests that every way of failing ends the
 * machine with a backtrace and a status.  Without the argument none of it runs.
 */
#ifndef I386_ENTRY_CRASH_H
#define I386_ENTRY_CRASH_H

/* Does what crash= asks for, once the programs are started; returns without one. */
void crash_if_asked(void);

#endif
