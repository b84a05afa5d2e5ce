/* SPDX-License-Identifier: MIT */
/* The C part of a signal's way through a program: see trampoline.S. */
#include <errno.h>
#include <mach/i386/thread_status.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "trampoline.h"

_Static_assert(sizeof(mcontext_t) == sizeof(struct i386_thread_state),
	       "the server puts a thread's state into the context as the kernel gives it");
_Static_assert(offsetof(struct signal_frame, context.uc_mcontext.ebp) == 80 &&
		       offsetof(struct signal_frame, context.uc_mcontext.eip) == 104,
	       "trampoline.S links its frame to that of the interrupted code");

void __signal_handle(struct signal_frame *frame)
{
	int error = errno;

	if ((frame->flags & SA_SIGINFO) != 0) {
		void (*handler)(int, siginfo_t *, void *) =
			(void (*)(int, siginfo_t *, void *))(uintptr_t)frame->handler;

		handler((int)frame->signal, &frame->info, &frame->context);
	} else {
		((sighandler_t)(uintptr_t)frame->handler)((int)frame->signal);
	}
	errno = error;
}
