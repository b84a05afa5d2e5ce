/* SPDX-License-Identifier: MIT */
/* Values that each thread has for itself: `lock` guards which keys there are. */
#include <errno.h>
#include <pthread.h>

#include <internal.h>

#include "../core/thread.h"

#define ROUNDS 4 /* A destructor may set values again; not for ever. */

static libc_lock_t lock = LIBC_LOCK_INITIALIZER;

static struct {
	bool is_taken;
	uint32_t generation; /* Values of an earlier key in this place are none of this one. */
	void (*destructor)(void *value);
} keys[KEYS];

static bool is_key(pthread_key_t key)
{
	return key < KEYS && keys[key].is_taken;
}

static int take_key(void (*destructor)(void *))
{
	for (unsigned i = 0; i < KEYS; i++) {
		if (!keys[i].is_taken) {
			keys[i].is_taken = true;
			keys[i].generation++;
			keys[i].destructor = destructor;
			return (int)i;
		}
	}
	return -1;
}

int pthread_key_create(pthread_key_t *key, void (*destructor)(void *))
{
	int taken;

	__lock(&lock);
	taken = take_key(destructor);
	__unlock(&lock);
	if (taken < 0)
		return EAGAIN;
	*key = (pthread_key_t)taken;
	return 0;
}

int pthread_key_delete(pthread_key_t key)
{
	int result = EINVAL;

	__lock(&lock);
	if (is_key(key)) {
		keys[key].is_taken = false;
		result = 0;
	}
	__unlock(&lock);
	return result;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
	struct thread_value *place;

	if (!is_key(key))
		return EINVAL;
	place = &__thread_self()->values[key];
	place->generation = keys[key].generation;
	place->value = (void *)(uintptr_t)value;
	return 0;
}

static void *value_of(const struct cthread *thread, pthread_key_t key)
{
	const struct thread_value *place = &thread->values[key];

	return place->generation == keys[key].generation ? place->value : NULL;
}

void *pthread_getspecific(pthread_key_t key)
{
	return is_key(key) ? value_of(__thread_self(), key) : NULL;
}

/* Whether there was anything to destroy. */
static bool destroy_once(struct cthread *self)
{
	bool any = false;

	for (pthread_key_t key = 0; key < KEYS; key++) {
		void *value = is_key(key) ? value_of(self, key) : NULL;
		void (*destructor)(void *) = keys[key].destructor;

		self->values[key].value = NULL;
		if (value == NULL || destructor == NULL)
			continue;
		destructor(value);
		any = true;
	}
	return any;
}

void __keys_destroy(struct cthread *self)
{
	for (unsigned round = 0; round < ROUNDS && destroy_once(self); round++)
		;
}
