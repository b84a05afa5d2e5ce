/* SPDX-License-Identifier: MIT */
/* Traps as builtins see them. */
#ifndef SH_SIGNALS_H
#define SH_SIGNALS_H

/* The number of a signal that has arrived and has a trap, or an interrupt; 0 if none has. */
int traps_first_pending(void);

int builtin_trap(int count, char **arguments);

#endif
