/* SPDX-License-Identifier: MIT */
/*
 * What both interfaces of the library, C threads and POSIX threads, are made of.
 *
 * A thread has an area of memory: a page that nobody may touch, its stack, and at the end its block
 * with its `__thread` variables.  The structure below is not in it, since it outlives the thread:
 * who joins it frees it.
 */
#ifndef THREADS_THREAD_H
#define THREADS_THREAD_H

#include <assay/list.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

#include "../thread_words.h"

#define STACK_DEFAULT 0x40000u /* Bytes; only what is touched takes memory. */
#define STACK_LEAST   0x4000u
#define KEYS          128

/* What a thread has by a key, if the key is still the one of that generation. */
struct thread_value {
	uint32_t generation;
	void *value;
};

struct cthread {
	struct list link; /* Of all threads that have not ended: guarded by the library's lock. */
	int id;           /* The server's number of it. */
	void *(*function)(void *argument);
	void *argument;
	void *area; /* NULL: the first thread, whose memory is not ours. */
	size_t area_size;
	sigset_t mask; /* To begin with. */

	/* Guarded by the library's lock. */
	bool is_detached; /* It frees its structure itself. */
	bool is_joined;   /* Somebody waits for its end. */

	uint32_t has_ended; /* Set last, when the result is there: who joins waits for it. */
	void *result;

	/* Of the thread's own, not guarded. */
	struct thread_value values[KEYS];
	void *data; /* cthread_set_data() */
	const char *name;
};

/* ---------------- Threads (threads.c, area.c) ---------------- */

struct cthread *__thread_self(void);

/* 0, or an errno.  `stack_size` is that of the stack alone. */
int __thread_start(struct cthread **started, void *(*function)(void *), void *argument,
		   size_t stack_size, bool is_detached);

/* The last that the caller does; with the last thread the process ends as by exit(0). */
_Noreturn void __thread_end(void *result);

/* 0 and the thread's result, or EDEADLK, EINVAL; `thread` is gone after both when they succeed. */
int __thread_join(struct cthread *thread, void **result);
int __thread_detach(struct cthread *thread);

/* A signal to the thread: ESRCH if it has ended. */
int __thread_signal(struct cthread *thread, int signal);

/* How many there are. */
unsigned __thread_count(void);

/* An area with room for such a stack; NULL if there is no memory.  Its size is in *size. */
void *__area_allocate(size_t stack_size, size_t *size);
void __area_free(void *area, size_t size);

/* Where the thread's block begins in an area: the stack ends there. */
void *__area_block(void *area, size_t size);

/* ---------------- Values by key (pthread/keys.c) ---------------- */

/* Calls the destructors of what the caller still has. */
void __keys_destroy(struct cthread *self);

/* ---------------- Waiting (wait.c) ---------------- */

/*
 * Waits while *word is `value`, until `deadline` of the clock if that is not null.  May end without
 * a reason: 0, or ETIMEDOUT.
 */
int __word_wait(uint32_t *word, uint32_t value, const struct timespec *deadline);

void __word_wake_one(uint32_t *word);
void __word_wake_all(uint32_t *word);

/* Wakes one who waits for `word`, and has the others wait for `other` from now on. */
void __word_wake_and_move(uint32_t *word, uint32_t *other);

/* ---------------- Locks and conditions (lock.c, condition.c) ---------------- */

/* A lock is a word, 0 to begin with.  Without another thread that wants it no call is made. */
bool __lock_try(uint32_t *lock);
void __lock_take(uint32_t *lock);
void __lock_give(uint32_t *lock);

/* The same for one who has waited where others may still wait: it wakes the next one later. */
void __lock_take_after_wait(uint32_t *lock);

/* The caller holds the lock, before and after.  0 or ETIMEDOUT; 0 without a reason, too. */
int __condition_await(struct __condition *condition, uint32_t *lock,
		      const struct timespec *deadline);
void __condition_wake_one(struct __condition *condition);
void __condition_wake_all(struct __condition *condition);

#endif
