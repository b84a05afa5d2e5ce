/* SPDX-License-Identifier: MIT */
/* The end of the run. */
#ifndef I386_DEVICES_POWER_H
#define I386_DEVICES_POWER_H

#include <stdint.h>
#include <stdnoreturn.h>

/*
 * Ends the machine with `outcome` (enum machine_outcome) where an emulator listens, else halts this
 * CPU for ever.  The caller has stopped the others.
 */
noreturn void machine_end(uint32_t outcome);

/* Resets the machine.  The caller has stopped the other CPUs. */
noreturn void machine_reset(void);

#endif
