/* SPDX-License-Identifier: MIT */
/*
 * Auditing: what programs and the Unix server say to each other about it.
 *
 * Whatever is audited becomes a record in the trail, in the Basic Security Module's format
 * (<bsm/audit_record.h>).  Names and numbers are BSM's, so that who knows one system knows this.
 */
#ifndef BSM_AUDIT_H
#define BSM_AUDIT_H

#include <stdint.h>
#include <sys/types.h>

typedef uint32_t au_id_t;    /* Who logged in, whoever he is by now. */
typedef uint32_t au_asid_t;  /* Of a session. */
typedef uint16_t au_event_t; /* <bsm/audit_kevents.h> */
typedef uint32_t au_class_t; /* A set of events: /etc/security/audit_class. */

#define AU_DEFAUDITID  0xffffffffu /* Nobody has logged in: what is done is nobody's. */
#define AU_DEFAUDITSID 0u

/* The classes of which an event is audited if it succeeds, and if it fails. */
typedef struct au_mask {
	au_class_t am_success;
	au_class_t am_failure;
} au_mask_t;

typedef struct au_tid {
	uint32_t port;
	uint32_t machine;
} au_tid_t;

/* Of a process, and inherited from its parent: only root changes it. */
typedef struct auditinfo {
	au_id_t ai_auid;
	au_mask_t ai_mask;
	au_tid_t ai_termid;
	au_asid_t ai_asid;
} auditinfo_t;

/* ---------------- auditon() ---------------- */

#define A_GETKMASK    4 /* au_mask_t: of processes of nobody's. */
#define A_SETKMASK    5
#define A_GETSTAT     12 /* audit_stat_t */
#define A_GETCLASS    22 /* au_evclass_map_t, whose number is given. */
#define A_SETCLASS    23
#define A_GETPINFO    24 /* auditpinfo_t, whose process is given. */
#define A_SETPMASK    25 /* The same: its mask. */
#define A_SETFSIZE    26 /* au_fstat_t */
#define A_GETFSIZE    27
#define A_SENDTRIGGER 31 /* An unsigned: AUDIT_TRIGGER_* */
#define A_GETPOLICY   33 /* An int: AUDIT_* */
#define A_SETPOLICY   34
#define A_GETQCTRL    35 /* au_qctrl_t */
#define A_SETQCTRL    36
#define A_GETCOND     37 /* An int: AUC_* */
#define A_SETCOND     38

#define AUDITON_WORDS 16 /* No more belong to a command. */

#define AUC_AUDITING 1 /* There is a trail, and it is written. */
#define AUC_NOAUDIT  2 /* There is none, or not for the moment. */

/* Policies. */
#define AUDIT_CNT  0x0001 /* Without room for records go on, and count them. */
#define AUDIT_AHLT 0x0002 /* Without room for records the machine ends. */
#define AUDIT_ARGV 0x0004 /* Arguments of programs are recorded. */

/* What auditd is told: messages of <servers/audit_triggers.defs>. */
#define AUDIT_TRIGGER_LOW_SPACE     1 /* On the trail's disk. */
#define AUDIT_TRIGGER_ROTATE_KERNEL 2 /* The trail is as long as it should be. */
#define AUDIT_TRIGGER_READ_FILE     3 /* Read audit_control again. */
#define AUDIT_TRIGGER_CLOSE_AND_DIE 4
#define AUDIT_TRIGGER_NO_SPACE      5 /* Nothing more could be written. */
#define AUDIT_TRIGGER_ROTATE_USER   6
#define AUDIT_TRIGGER_INITIALIZE    7 /* Begin, if that has not been. */
#define AUDIT_TRIGGER_EXPIRE_TRAILS 8

/* Records, by number, that may wait to be written, and bytes of a record. */
#define AQ_HIWATER       100
#define AQ_MAXHIGH       1000
#define MAX_AUDIT_RECORD 4096
#define AU_FS_MINFREE    20 /* Percent of the disk. */

typedef struct au_qctrl {
	uint32_t aq_hiwater; /* With so many waiting, callers wait until they are being written. */
	uint32_t aq_lowater; /* BSM's; a queue that has room again is empty, and so below it. */
	uint32_t aq_bufsz;   /* Bytes of a record at most. */
	uint32_t aq_delay;   /* Milliseconds until a group is written that is not full. */
	int32_t aq_minfree;  /* Percent of the disk, below which auditd is told. */
} au_qctrl_t;

typedef struct au_fstat {
	uint64_t af_filesz; /* Of the trail, at which auditd is told; 0: never. */
	uint64_t af_currsz;
} au_fstat_t;

typedef struct au_evclass_map {
	uint32_t ec_number;
	au_class_t ec_class;
} au_evclass_map_t;

typedef struct auditpinfo {
	int32_t ap_pid;
	au_id_t ap_auid;
	au_mask_t ap_mask;
	au_tid_t ap_termid;
	au_asid_t ap_asid;
} auditpinfo_t;

/* All since the server began: generated == written + waiting + dropped. */
typedef struct audit_stat {
	uint32_t as_generated; /* Records that were made, by calls and by programs, */
	uint32_t as_written;   /* that are on the disk: no power cut takes them away, */
	uint32_t as_waiting;   /* that are to be written, */
	uint32_t as_dropped;   /* and that had no room, by policy cnt. */
	uint32_t as_waited;    /* Calls that have waited for room. */
	uint32_t as_groups;    /* Writes to the trail, each with its flush. */
} audit_stat_t;

/* ---------------- Calls ---------------- */

/* Root's alone: -1 and EPERM for others. */
int audit(const void *record, int length);
int auditon(int command, void *data, uint32_t length);
int auditctl(const char *path);
int getauid(au_id_t *auid);
int setauid(const au_id_t *auid);
int getaudit(auditinfo_t *info);
int setaudit(const auditinfo_t *info);

#endif
