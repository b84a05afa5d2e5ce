/* SPDX-License-Identifier: MIT */
/* The C part of a signal's way through a program: see trampoline.S. */
#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>

#include "trampoline.h"

_Static_assert(offsetof(struct signal_frame, context.uc_mcontext.ebp) == 188 &&
		       offsetof(struct signal_frame, context.uc_mcontext.eip) == 220 &&
		       offsetof(struct signal_frame, context.uc_mcontext.fpstate) == 240,
	       "trampoline.S links its frame to that of the interrupted code");
_Static_assert(sizeof(struct _fpstate) == 624 && offsetof(struct _fpstate, sw) == 4 &&
		       offsetof(struct _fpstate, status) == 108 &&
		       offsetof(struct _fpstate, _fxsr_env) == 112,
	       "and saves the FPU there");

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
