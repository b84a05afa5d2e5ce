/* SPDX-License-Identifier: MIT */
/*
 * A profile of a program's use of CPUs, taken by itself: SIGPROF, and where it found each thread.
 *
 * The file is what gperftools' CPU profiler writes; `go tool pprof PROGRAM FILE` opens it.
 */
#ifndef CPUPROFILE_H
#define CPUPROFILE_H

#define CPU_PROFILE_HZ_MAX 100 /* The kernel counts what a program uses in units of 10 ms. */

/*
 * Begins a profile of all threads: `hz` samples for each second of CPU time, or as many as can be
 * had.  SIGPROF and ITIMER_PROF are the library's until cpu_profile_stop().  0, or -1 and errno:
 * EBUSY if there is one under way, EINVAL, or what open() says.
 */
int cpu_profile_start(const char *path, int hz);

/* Ends it and completes the file; 0, or -1 and errno if that, or a write before it, has failed. */
int cpu_profile_stop(void);

#endif
