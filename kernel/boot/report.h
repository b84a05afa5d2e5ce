/* SPDX-License-Identifier: MIT */
/* The machine report (<assay/report.h>): what a run leaves for whoever runs the machine. */
#ifndef BOOT_REPORT_H
#define BOOT_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include <assay/report.h>

/* Begins the report; `cycles` is when the kernel was entered. */
void report_begin(uint64_t cycles);

/* Notes the counts as they are before the first program. */
void report_counts_before(void);

/* Notes when user mode is entered for the first time; later calls do nothing. */
void report_user_mode(void);

/* Fills `counts` with at most `room` counts, before and now; returns how many there are. */
uint32_t report_counts(struct machine_count *counts, uint32_t room);

/* Completes the report and says in the log how the run ended. */
void report_end(enum machine_outcome outcome, uint32_t status);

/* Whether the runner has asked for a backtrace.  May be called in an NMI. */
bool report_request_pending(void);

#endif
