/* SPDX-License-Identifier: MIT */
/*
 * Holding the other CPUs while the kernel's text changes.
 *
 * Each is stopped by an NMI, wherever it is, interrupts off or not, and waits in its handler: it
 * executes no call, and since an NMI waits for the end of the one before, none that samples comes
 * in between.  Those that do not come in time are a bug.
 */
#ifndef I386_PATCH_HOLD_H
#define I386_PATCH_HOLD_H

#include <stdbool.h>

/* Under the kernel lock.  From hold_begin() to hold_end() interrupts are off: keep it short. */
void hold_begin(void);
void hold_end(void);

/*
 * In the NMI handler: waits while this CPU is to be held, or until a panic ends the run.  It calls
 * nothing meanwhile.
 */
void hold_if_asked(void);

/* Whether an NMI may be one of hold_begin()'s: there has been one. */
bool hold_was_used(void);

#endif
