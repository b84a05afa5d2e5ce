/* SPDX-License-Identifier: MIT */
/*
 * Samples of the program counter: what can be the reason for one, and the old calls' form of it.
 *
 * The six calls task_enable_pc_sampling() and so on (<mach/mach4.h>) keep the last MAX_PC_SAMPLES
 * samples of a task or a thread in the kernel, to be fetched.  task_sample() and its like send
 * records that say more, and lose none in silence: <mach/prof.h>.
 */
#ifndef MACH_PC_SAMPLE_H
#define MACH_PC_SAMPLE_H

#include <mach/vm_types.h>

#define SAMPLED_PC_PERIODIC               0x1   /* The sampling clock. */
#define SAMPLED_PC_VM_ZFILL_FAULTS        0x10  /* A page was zeroed for the thread, */
#define SAMPLED_PC_VM_REACTIVATION_FAULTS 0x20  /* found on the inactive queue, */
#define SAMPLED_PC_VM_PAGEIN_FAULTS       0x40  /* asked of a pager, */
#define SAMPLED_PC_VM_COW_FAULTS          0x80  /* or copied. */
#define SAMPLED_PC_VM_FAULTS_ANY          0x100 /* A fault of any kind was completed. */

/* A thread has waited; not for the old calls: a record of its own (struct prof_wait). */
#define SAMPLED_PC_WAIT 0x200

#define SAMPLED_PC_VM_FAULTS                                              \
	(SAMPLED_PC_VM_ZFILL_FAULTS | SAMPLED_PC_VM_REACTIVATION_FAULTS | \
	 SAMPLED_PC_VM_PAGEIN_FAULTS | SAMPLED_PC_VM_COW_FAULTS)

#define SAMPLED_PC_ALL (SAMPLED_PC_PERIODIC | SAMPLED_PC_VM_FAULTS | SAMPLED_PC_VM_FAULTS_ANY)

/* Mach's documents spell it both ways. */
typedef unsigned sampled_pc_flavor_t;
typedef sampled_pc_flavor_t sample_pc_flavor_t;

typedef struct sampled_pc {
	unsigned id; /* Of the thread: small, never used again, and no address. */
	vm_offset_t pc;
	sampled_pc_flavor_t sampletype;
} sampled_pc_t;

typedef sampled_pc_t *sampled_pc_array_t;
typedef unsigned sampled_pc_seqno_t;

#define MAX_PC_SAMPLES 512

#endif
