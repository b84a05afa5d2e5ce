/* SPDX-License-Identifier: MIT */
/*
 * Messages of streams, without the function that MIG would have for them: a program that receives
 * samples itself has one of that name.
 */
#include "message.h"

#include <mach.h>
#include <mach/messages.h>
#include <stdbool.h>

#define WORD_BITS 32u

/* A descriptor of either length, and where the data are. */
union body {
	struct {
		mach_msg_type_t type;
		const uint32_t *data;
	} usual;
	struct {
		mach_msg_type_long_t type;
		const uint32_t *data;
	} longer;
};

static bool is_words(const mach_msg_type_t *type, unsigned size)
{
	return !type->msgt_inline && size == WORD_BITS;
}

const uint32_t *__message_samples(const mach_msg_header_t *message, size_t *count)
{
	const union body *body = (const void *)(message + 1);
	size_t size = message->msgh_size - sizeof *message;
	const mach_msg_type_t *type = &body->usual.type;

	if (message->msgh_id != ID_SAMPLES || size < sizeof body->usual)
		return NULL;
	if (!type->msgt_longform) {
		*count = type->msgt_number;
		return is_words(type, type->msgt_size) ? body->usual.data : NULL;
	}
	if (size < sizeof body->longer)
		return NULL;
	*count = body->longer.type.msgtl_number;
	return is_words(type, body->longer.type.msgtl_size) ? body->longer.data : NULL;
}

void __message_answer(mig_reply_header_t *reply)
{
	mach_msg_return_t result;

	if (reply->RetCode == MIG_NO_REPLY)
		return;
	result = mach_msg(&reply->Head, MACH_SEND_MSG | MACH_SEND_TIMEOUT, reply->Head.msgh_size, 0,
			  MACH_PORT_NULL, 0, MACH_PORT_NULL);
	if (result != MACH_MSG_SUCCESS)
		mach_msg_destroy(&reply->Head);
}
