/* SPDX-License-Identifier: MIT */
/*
 * A histogram of a task's program counters that the kernel keeps in the task's own memory
 * (task_profil()): what Unix's profil() is made of.
 */
#ifndef MACH_PROFIL_H
#define MACH_PROFIL_H

#define PROFIL_BIN_SIZE    2        /* Bytes; a bin that is full stays so. */
#define PROFIL_SCALE_ONE   0x10000u /* A bin for two bytes of code: there are no more bins. */
#define PROFIL_SCALE_OFF   1u       /* Up to this there are too few to tell anything. */
#define PROFIL_REGIONS_MAX 15       /* Of a task. */

#endif
