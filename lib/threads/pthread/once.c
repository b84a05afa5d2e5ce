/* SPDX-License-Identifier: MIT */
/* What is done once, by whichever thread comes first; the others wait until it is done. */
#include <pthread.h>

#include "../core/thread.h"

enum {
	NOT_YET = PTHREAD_ONCE_INIT,
	RUNNING,
	DONE
};

int pthread_once(pthread_once_t *once, void (*function)(void))
{
	uint32_t seen = NOT_YET;

	if (__atomic_load_n(once, __ATOMIC_ACQUIRE) == DONE)
		return 0;
	if (__atomic_compare_exchange_n(once, &seen, RUNNING, false, __ATOMIC_ACQUIRE,
					__ATOMIC_ACQUIRE)) {
		function();
		__atomic_store_n(once, DONE, __ATOMIC_RELEASE);
		__word_wake_all(once);
		return 0;
	}
	while (__atomic_load_n(once, __ATOMIC_ACQUIRE) != DONE)
		__word_wait(once, RUNNING, NULL);
	return 0;
}
