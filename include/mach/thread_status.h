/* SPDX-License-Identifier: MIT */
/* States of a thread: the flavors are the machine's. */
#ifndef MACH_THREAD_STATUS_H
#define MACH_THREAD_STATUS_H

#include <mach/i386/thread_status.h>
#include <mach/vm_types.h>

typedef natural_t *thread_state_t;

#define THREAD_STATE_MAX 1024
typedef natural_t thread_state_data_t[THREAD_STATE_MAX];

#define THREAD_STATE_FLAVOR_LIST 0 /* The flavors that there are. */

#endif
