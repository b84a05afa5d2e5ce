/* SPDX-License-Identifier: MIT */
/* The kernel's calls, counted: what the rest of the kernel knows of it. */
#ifndef PROF_CALLS_H
#define PROF_CALLS_H

/*
 * As the boot programs are about to run: counts from then on, if `count-calls` says so, or goes on
 * if the kernel's file does.
 */
void calls_start(void);

#endif
