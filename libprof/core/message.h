/* SPDX-License-Identifier: MIT */
/* What a stream's messages bring, and answers to requests. */
#ifndef LIBPROF_MESSAGE_H
#define LIBPROF_MESSAGE_H

#include <stddef.h>
#include <stdint.h>

#include <mach/message.h>
#include <mach/mig_errors.h>

/* The words of a message of <mach/prof.defs>, and how many; NULL if it is not one. */
const uint32_t *__message_samples(const mach_msg_header_t *message, size_t *count);

/* Whoever does not take the answer does not get it; what it was to bring is given back. */
void __message_answer(mig_reply_header_t *reply);

#endif
