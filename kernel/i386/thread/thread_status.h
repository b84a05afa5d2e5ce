/* SPDX-License-Identifier: MIT */
/* Thread states and the selectors in them: what the files around thread_status.c share. */
#ifndef I386_THREAD_THREAD_STATUS_H
#define I386_THREAD_THREAD_STATUS_H

#include <stdint.h>

#include "i386/cpu/segment.h"

struct thread;

/* What a selector of the thread's user mode stands for; an absent descriptor if for nothing. */
struct descriptor user_descriptor(const struct thread *thread, uint16_t selector);

#endif
