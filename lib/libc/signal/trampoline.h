/* SPDX-License-Identifier: MIT */
/* Where the server sends a thread that takes a signal. */
#ifndef LIBC_TRAMPOLINE_H
#define LIBC_TRAMPOLINE_H

#include <sys/signal.h>

/* With %esp at a struct signal_frame.  It saves the FPU first, which the handler may use. */
void __signal_trampoline(void);

/* Called by it: the handler. */
void __signal_handle(struct signal_frame *frame);

#endif
