/* SPDX-License-Identifier: MIT */
/*
 * Events that the Unix server records.  Numbers up to 2047 are the Basic Security Module's, those
 * from 43001 on OpenBSM's; from 44800 on they are this system's own.  boot/disk/etc/security/
 * audit_event has the same with names and classes.
 */
#ifndef BSM_AUDIT_KEVENTS_H
#define BSM_AUDIT_KEVENTS_H

#define AUE_NULL       0
#define AUE_EXIT       1
#define AUE_FORK       2
#define AUE_LINK       5
#define AUE_UNLINK     6
#define AUE_CHDIR      8
#define AUE_CHMOD      10
#define AUE_CHOWN      11
#define AUE_ACCESS     14
#define AUE_KILL       15
#define AUE_STAT       16
#define AUE_REBOOT     20
#define AUE_SYMLINK    21
#define AUE_READLINK   22
#define AUE_EXECVE     23
#define AUE_SETGROUPS  26
#define AUE_SETPGRP    27
#define AUE_FCNTL      30
#define AUE_FCHMOD     39
#define AUE_RENAME     42
#define AUE_TRUNCATE   43
#define AUE_FTRUNCATE  44
#define AUE_MKDIR      47
#define AUE_RMDIR      48
#define AUE_UTIMES     49
#define AUE_SETRLIMIT  51
#define AUE_OPEN_R     72 /* And up to AUE_OPEN_RWTC: see AUE_OPEN(). */
#define AUE_OPEN_RC    73
#define AUE_OPEN_RT    74
#define AUE_OPEN_RTC   75
#define AUE_OPEN_W     76
#define AUE_OPEN_WC    77
#define AUE_OPEN_WT    78
#define AUE_OPEN_WTC   79
#define AUE_OPEN_RW    80
#define AUE_OPEN_RWC   81
#define AUE_OPEN_RWT   82
#define AUE_OPEN_RWTC  83
#define AUE_CLOSE      112
#define AUE_GETAUDIT   132
#define AUE_SETAUDIT   133
#define AUE_AUDITON    138
#define AUE_PIPE       185
#define AUE_SETUID     200
#define AUE_SETGID     205
#define AUE_DUP2       209
#define AUE_AUDIT      211
#define AUE_SETEGID    214
#define AUE_SETEUID    215
#define AUE_KTRACE     43006
#define AUE_UMASK      43009
#define AUE_MKFIFO     43011
#define AUE_SYSCTL     43021
#define AUE_SEMOPEN    43032
#define AUE_SEMUNLINK  43034
#define AUE_SHMOPEN    43035
#define AUE_SHMUNLINK  43036
#define AUE_AUDITCTL   43042
#define AUE_TASKFORPID 43048

/* Rights of Mach's that the server gives out, and exceptions that become signals. */
#define AUE_DEVICE_PORT 44800
#define AUE_HOST_PORT   44801
#define AUE_EXCEPTION   44802

/* Of open(): what for (0 to read, 1 to write, 2 both), and whether the file is emptied or made. */
#define AUE_OPEN(access, truncates, creates) \
	(AUE_OPEN_R + (access)*4 + ((truncates) ? 2 : 0) + ((creates) ? 1 : 0))

/* Of programs: /etc/security/audit_event has more. */
#define AUE_su             6159
#define AUE_login          6152
#define AUE_audit_startup  45000
#define AUE_audit_shutdown 45001
#define AUE_audit_recovery 45002

#endif
