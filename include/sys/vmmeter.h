/* SPDX-License-Identifier: MIT */
/*
 * How the machine's memory is used, in 4.4BSD's layout: CTL_VM, VM_METER.
 *
 * The active part is that of processes of which a thread runs.  0 is in what nobody counts here:
 * who waits for a disk, or for a page; who is swapped out as a whole; and what of memory is shared.
 */
#ifndef SYS_VMMETER_H
#define SYS_VMMETER_H

#include <stdint.h>

struct vmtotal {
	int16_t t_rq; /* Processes that run, */
	int16_t t_dw;
	int16_t t_pw;
	int16_t t_sl; /* and that wait. */
	int16_t t_sw;
	int32_t t_vm;  /* Pages of all processes, */
	int32_t t_avm; /* and of those that run; */
	int32_t t_rm;  /* those of them that are in memory. */
	int32_t t_arm;
	int32_t t_vmshr;
	int32_t t_avmshr;
	int32_t t_rmshr;
	int32_t t_armshr;
	int32_t t_free; /* Pages that nobody uses. */
};

_Static_assert(sizeof(struct vmtotal) == 48, "4.4BSD's");

#endif
