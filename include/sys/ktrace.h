/* SPDX-License-Identifier: MIT */
/*
 * Tracing of processes: what ktrace() records, and how it lies in the file.
 *
 * A file is one record behind another, whole ones only: a header, and `ktr_len` bytes of the type's
 * own.  All is little-endian, as on the machine.
 */
#ifndef SYS_KTRACE_H
#define SYS_KTRACE_H

#include <stdint.h>

/* Operations; the flag is added to one. */
#define KTROP_SET       0 /* Trace what is given, too. */
#define KTROP_CLEAR     1 /* No longer trace what is given. */
#define KTROP_CLEARFILE 2 /* End all tracing into the file. */
#define KTROP(ops)      (3 & (ops))
#define KTRFLAG_DESCEND 4 /* The process's children as well, and theirs. */

/* Types of records. */
#define KTR_SYSCALL 1
#define KTR_SYSRET  2
#define KTR_NAMEI   3
#define KTR_GENIO   4
#define KTR_PSIG    5
#define KTR_CSW     6
#define KTR_USER    7

/* What is traced: one bit a type. */
#define KTRFAC_SYSCALL (1 << KTR_SYSCALL)
#define KTRFAC_SYSRET  (1 << KTR_SYSRET)
#define KTRFAC_NAMEI   (1 << KTR_NAMEI)
#define KTRFAC_GENIO   (1 << KTR_GENIO)
#define KTRFAC_PSIG    (1 << KTR_PSIG)
#define KTRFAC_CSW     (1 << KTR_CSW)
#define KTRFAC_USER    (1 << KTR_USER)
#define KTRFAC_MASK    0x00ffffff

/* Flags of a process beside them. */
#define KTRFAC_ROOT    0x80000000u /* Root has set it, and only root changes it. */
#define KTRFAC_INHERIT 0x40000000u /* Children are traced as their parent. */
#define KTRFAC_ACTIVE  0x20000000u /* A record is being made: none is made of making it. */

#define KTR_COMM_MAX 17 /* A command's name, with its zero. */

/*
 * 4.4BSD's, in whose last word an address of the kernel's stood; a reader who skips it loses
 * nothing.  Records of a file are numbered from 1 there, so that none can be lost in silence; where
 * tracing into a file that has a trace was begun anew, from 1 again.
 */
struct ktr_header {
	int32_t ktr_len;     /* Of what follows the header. */
	int16_t ktr_type;    /* KTR_* */
	uint16_t ktr_thread; /* Padding elsewhere: which thread of it; 0: not known. */
	int32_t ktr_pid;
	char ktr_comm[KTR_COMM_MAX]; /* Of the program that ran. */
	struct {
		int32_t tv_sec;
		int32_t tv_usec;
	} ktr_time; /* When it happened, not when it was written: the machine's struct timeval. */
	uint32_t ktr_sequence;
};

_Static_assert(sizeof(struct ktr_header) == 44, "readers find the next header by it");

/*
 * A call, before it is made.  The code is the call's number in <sys/syscall.h>.  Of an argument
 * that is not a number (a path, bytes) there is its length in bytes.
 */
struct ktr_syscall {
	int16_t ktr_code;
	int16_t ktr_narg;
	uint64_t ktr_args[]; /* From the fourth byte on. */
} __attribute__((packed, aligned(4)));

/* What it came to. */
struct ktr_sysret {
	int16_t ktr_code;
	int16_t ktr_eosys;  /* 0 */
	int32_t ktr_error;  /* An errno, or 0: then the value counts. */
	int32_t ktr_retval; /* The first result: a number, or how many bytes; or 0. */
};

/* KTR_NAMEI: the path, without a zero at its end. */

#define KTR_READ  0
#define KTR_WRITE 1

/* Before the bytes that were read or written; what is long is several records. */
struct ktr_genio {
	int32_t ktr_fd;
	int32_t ktr_rw; /* KTR_READ or KTR_WRITE */
};

/* A signal that a process takes. */
struct ktr_psig {
	int32_t signo;
	uint32_t action; /* The handler's address, SIG_DFL or SIG_IGN. */
	int32_t code;    /* si_code */
	uint64_t mask;   /* What was blocked before. */
} __attribute__((packed, aligned(4)));

/*
 * A wait of one of the process's threads.  As in BSD there is one record when the thread goes to
 * sleep (`out` is 1) and one when it comes back, which says how long that was.
 */
struct ktr_csw {
	int32_t out;
	int32_t user;    /* Whether it waited in user mode: for the CPU. */
	uint32_t reason; /* For what: KTR_WAIT_*. */
	uint32_t length; /* In microseconds; 0 where out is 1. */
};

#define KTR_WAIT_CPU   0 /* It could run, and others did. */
#define KTR_WAIT_PORT  1 /* A message, or room for one. */
#define KTR_WAIT_PAGE  2 /* A page, from a pager or of memory. */
#define KTR_WAIT_LOCK  3 /* A word in memory (gsync_wait()). */
#define KTR_WAIT_TIMER 4 /* Only time. */
#define KTR_WAIT_STOP  5 /* It was suspended. */

/* KTR_USER: what utrace() was given, at most so many bytes. */
#define KTR_USER_MAX 2048

/* docs/calls/ktrace.md, docs/calls/utrace.md */
int ktrace(const char *path, int operation, int facilities, int pid);
int utrace(const void *data, uint32_t length);

#endif
