/* SPDX-License-Identifier: MIT */
/*
 * How a shell learns that the program of `program &` has begun.
 *
 * Parent and child share a pipe that closes on exec.  Its end without a byte says that the program
 * runs, or that the child has something else to do than to become one; otherwise it carries the
 * number of the error.
 */
#ifndef SH_REPORT_H
#define SH_REPORT_H

#include <stdbool.h>

/* The parent: makes the pipe; waits for its end. */
bool exec_report_open(int ends[2]);
void exec_report_wait(const int ends[2]);

/* The child: takes its end; tells the parent to go on, or why exec failed. */
void exec_report_take(const int ends[2]);
void exec_report_close(void);
void exec_report_failure(int error);
bool exec_report_is_open(void);

#endif
