/* SPDX-License-Identifier: MIT */
/*
 * The machine report: what a run of the machine leaves behind in memory.
 *
 * The kernel owns one `struct machine_report`, named `machine_report`, in its data.  Whoever runs
 * the machine with its memory in a shared file finds it at the symbol's address less 0xc0000000 and
 * reads it after the run.  The layout is a contract with tools/assay/report.py.
 */
#ifndef ASSAY_REPORT_H
#define ASSAY_REPORT_H

#include <stdint.h>

#define MACHINE_REPORT_MAGIC   0x59415341u /* "ASAY" */
#define MACHINE_REPORT_VERSION 1u
#define MACHINE_COUNTS         48
#define MACHINE_COUNT_NAME     24

/* How the run ended.  The value is also what is written to the debug-exit port. */
enum machine_outcome {
	MACHINE_RUNNING = 0, /* It did not end by itself. */
	MACHINE_EXIT = 1,    /* Every boot program ended; `status` is theirs. */
	MACHINE_PANIC = 2,   /* The kernel found itself broken. */
	MACHINE_TIMEOUT = 3, /* `limit=` passed, or the runner asked for a backtrace. */
	MACHINE_REFUSED = 4, /* This machine, or what it was given to boot, cannot run Assay. */
};

/* What the runner writes before it injects an NMI. */
enum machine_request {
	MACHINE_REQUEST_NONE = 0,
	MACHINE_REQUEST_BACKTRACE = 1, /* Print where every CPU is and end with MACHINE_TIMEOUT. */
};

/*
 * One quantity that must balance: how many there were before the first program was created, and
 * how many after the last one was gone.
 */
struct machine_count {
	char name[MACHINE_COUNT_NAME];
	uint32_t before;
	uint32_t after;
};

struct machine_report {
	uint32_t magic;
	uint32_t version;
	uint32_t outcome;   /* enum machine_outcome */
	uint32_t status;    /* MACHINE_EXIT: first non-zero status in the order of the modules. */
	uint64_t tsc_entry; /* Time stamp counter at the kernel's first instruction, */
	uint64_t tsc_user;  /* just before the first instruction in user mode, */
	uint64_t tsc_end;   /* and when the run ended. */
	uint32_t request;   /* enum machine_request, written by the runner. */
	uint32_t cpus;      /* CPUs that ran. */
	uint32_t n_counts;
	uint32_t reserved;
	struct machine_count counts[MACHINE_COUNTS];
};

/*
 * Where the RAM disks are: disk rdN is element N of `machine_ramdisks` in the kernel's data, at a
 * symbol as the report is.  Written before the first program runs; a size of 0 is no disk.
 */
#define MACHINE_RAMDISKS 8

struct machine_ramdisk {
	uint32_t address; /* Physical, */
	uint32_t size;    /* and in bytes. */
};

extern volatile struct machine_ramdisk machine_ramdisks[MACHINE_RAMDISKS];

_Static_assert(sizeof(struct machine_count) == 32, "a contract with the host's reader");
_Static_assert(sizeof(struct machine_report) == 56 + 32 * MACHINE_COUNTS,
	       "a contract with the host's reader");

#endif
