/* SPDX-License-Identifier: MIT */
/* How a new thread begins. */
#ifndef THREADS_ENTRY_H
#define THREADS_ENTRY_H

#include <mach/port.h>

#include "thread.h"

/* Where the server starts it, with its id, the name of its port and the thread in registers. */
void __thread_entry(void);

/* Called by it, with these. */
_Noreturn void __thread_begin(int id, mach_port_t port, struct cthread *self);

#endif
