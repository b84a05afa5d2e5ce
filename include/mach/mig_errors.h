/* SPDX-License-Identifier: MIT */
/* What stubs answer, and the shape of the shortest reply. */
#ifndef MACH_MIG_ERRORS_H
#define MACH_MIG_ERRORS_H

#include <mach/kern_return.h>
#include <mach/message.h>

#define MIG_TYPE_ERROR      -300 /* The client's stub cannot make sense of the reply. */
#define MIG_REPLY_MISMATCH  -301 /* The reply is to another request. */
#define MIG_REMOTE_ERROR    -302 /* The server's stub found something wrong. */
#define MIG_BAD_ID          -303 /* The server knows no such request. */
#define MIG_BAD_ARGUMENTS   -304 /* The request's descriptors are not those of the interface. */
#define MIG_NO_REPLY        -305 /* The server has not answered, and will later or never. */
#define MIG_EXCEPTION       -306
#define MIG_ARRAY_TOO_LARGE -307 /* The caller's array has no room for the result. */
#define MIG_SERVER_DIED     -308 /* The reply right was dropped. */
#define MIG_DESTROY_REQUEST -309 /* No reply, and what the request carried is to be destroyed. */

typedef struct {
	mach_msg_header_t Head;
	mach_msg_type_t RetCodeType;
	kern_return_t RetCode;
} mig_reply_header_t;

typedef void (*mig_routine_t)(mach_msg_header_t *request, mach_msg_header_t *reply);

#endif
