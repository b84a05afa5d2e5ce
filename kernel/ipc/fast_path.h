/* SPDX-License-Identifier: MIT */
/* The fast path of mach_msg: see fast_path.c. */
#ifndef IPC_FAST_PATH_H
#define IPC_FAST_PATH_H

#include <mach/message.h>

#include "ipc/mach_msg.h"

/* What fast_path() returns when the general path has to do it; no mach_msg_return_t. */
#define FAST_PATH_DECLINED ((mach_msg_return_t)-1)

/*
 * The options that the fast path serves: MACH_SEND_MSG and MACH_RCV_MSG.  With fastpath=off on the
 * kernel's command line a bit is among them that means nothing, so that no program's options are
 * these.
 */
extern uint32_t fast_path_option;

void fast_path_init(void);

/*
 * mach_msg() with fast_path_option, MACH_SEND_MSG and MACH_RCV_MSG: does all of it, or returns
 * FAST_PATH_DECLINED and has changed nothing.  May block.
 */
mach_msg_return_t fast_path(const struct mach_msg_words *words);

#endif
