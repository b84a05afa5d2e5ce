/* SPDX-License-Identifier: MIT */
/* The part of sigsetjmp() and siglongjmp() that asks the server. */
#include <setjmp.h>
#include <signal.h>
#include <string.h>

enum {
	HAS_MASK = 6,
	MASK = 7
};

void __save_mask(sigjmp_buf place, int save_mask);

void __save_mask(sigjmp_buf place, int save_mask)
{
	sigset_t mask = 0;

	place[HAS_MASK] = save_mask != 0;
	if (save_mask != 0)
		sigprocmask(SIG_BLOCK, NULL, &mask);
	memcpy(&place[MASK], &mask, sizeof mask);
}

_Noreturn void siglongjmp(sigjmp_buf place, int value)
{
	sigset_t mask;

	memcpy(&mask, &place[MASK], sizeof mask);
	if (place[HAS_MASK] != 0)
		sigprocmask(SIG_SETMASK, &mask, NULL);
	longjmp(place, value);
}
