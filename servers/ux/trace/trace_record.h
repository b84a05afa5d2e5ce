/* SPDX-License-Identifier: MIT */
/* Records: how one is begun, whatever its type. */
#ifndef UX_TRACE_RECORD_H
#define UX_TRACE_RECORD_H

#include "core/ux.h"

/*
 * A record of the process's, by one of its threads; 0: it is not known by which.  The result is
 * where its `size` bytes go, before the caller unlocks; null: that type is not recorded.  Unlocks.
 */
void *trace_begin(struct process *process, int thread, int type, size_t size);

#endif
