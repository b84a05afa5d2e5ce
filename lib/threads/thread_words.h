/* SPDX-License-Identifier: MIT */
/* What conditions of <cthreads.h> and <pthread.h> are made of; a lock is a word. */
#ifndef THREAD_WORDS_H
#define THREAD_WORDS_H

#include <stdint.h>

/* All 0 to begin with. */
struct __condition {
	uint32_t sequence; /* Counts signals: a waiter looks whether it is as it was. */
	uint32_t waiters;
	uint32_t *lock; /* Of those who wait. */
};

#endif
