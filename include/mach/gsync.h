/* SPDX-License-Identifier: MIT */
/* Flags of gsync_wait(), gsync_wake() and gsync_requeue(): waiting for a word of memory. */
#ifndef MACH_GSYNC_H
#define MACH_GSYNC_H

#define GSYNC_SHARED    0x01 /* The word is its physical place, not its address in the task. */
#define GSYNC_QUAD      0x02 /* Wait: the word after it is compared too. */
#define GSYNC_TIMED     0x04 /* Wait: for so many milliseconds at most. */
#define GSYNC_BROADCAST 0x08 /* Wake, requeue: all threads, not just one. */
#define GSYNC_MUTATE    0x10 /* Wake: the word is set first. */

#endif
