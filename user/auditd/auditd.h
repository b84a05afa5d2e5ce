/* SPDX-License-Identifier: MIT */
/*
 * auditd: keeps the audit trail (docs/commands/auditd.md).
 *
 * It writes no record but of its own beginning and end: that is the Unix server's affair.  It says
 * what is audited and into which file, gives the files their names, and takes old ones away.
 *
 *	main.c      the beginning, and what it is told to do
 *	trail.c     the files
 *	settings.c  what /etc/security says, told to the Unix server
 */
#ifndef AUDITD_H
#define AUDITD_H

#include <bsm.h>

#include "common/common.h"

/* What audit_control said when it was read last. */
extern struct bsm_control control;

/* A line for who looks after the machine, on standard error: in the background, the log. */
void complain(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Reads /etc/security and tells the Unix server; false, and it is said, if something is wrong. */
bool settings_apply(void);

/*
 * The trail goes on in a new file.  The one before is given a name with its end, and so is one that
 * somebody left without an end; false, and it is said, if there can be no new one.
 */
bool trail_begin(void);

/* Ends the trail: all records are on the disk, and nothing more is recorded. */
void trail_end(void);

/* Takes the oldest files away, as far as audit_control says. */
void trail_expire(void);

#endif
