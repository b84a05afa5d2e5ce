/* SPDX-License-Identifier: MIT */
/*
 * Requests to servers, counted by who made them while calls are told apart by label (calls.c), if
 * somebody has asked for it.
 *
 * i386/patch/stand_in.S stands in for trap_mach_msg() then, and calls this.  Guarded by the kernel
 * lock.
 */
#ifndef PROF_REQUESTS_H
#define PROF_REQUESTS_H

#include <stdbool.h>
#include <stdint.h>

#include "ipc/mach_msg.h"

bool requests_are_wanted(void);

/* They are not any more; and what was counted is forgotten. */
void requests_end(void);
void requests_clear(void);

/* What a server has called for an event (prof/unclaimed.h) was for whoever has this label. */
void requests_attribute(uint32_t event, uint32_t label);

/* The current thread is about to do what these words say; a ticket, for when that is done. */
uint32_t requests_count(const struct mach_msg_words *words);

/* It was `result`, which comes back: what could not be sent was no request. */
mach_msg_return_t requests_done(mach_msg_return_t result, uint32_t ticket);

#endif
