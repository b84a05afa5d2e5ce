/* SPDX-License-Identifier: MIT */
/* The lock of a stream, which a thread may take more than once. */
#include <assert.h>

#include "file.h"

/* Nobody but the owner writes the owner's number there, so it can look without the lock. */
static bool is_mine(const FILE *file)
{
	return __atomic_load_n(&file->owner, __ATOMIC_RELAXED) == __thread_id();
}

static void take(FILE *file)
{
	__lock(&file->lock);
	assert(file->depth == 0);
	__atomic_store_n(&file->owner, __thread_id(), __ATOMIC_RELAXED);
	file->depth = 1;
}

void flockfile(FILE *file)
{
	if (is_mine(file))
		file->depth++;
	else
		take(file);
}

/* Between the look and the lock another may take it: then this one waits, for that one's call. */
int ftrylockfile(FILE *file)
{
	if (is_mine(file))
		file->depth++;
	else if (__atomic_load_n(&file->owner, __ATOMIC_RELAXED) == 0)
		take(file);
	else
		return -1;
	return 0;
}

void funlockfile(FILE *file)
{
	assert(is_mine(file) && file->depth > 0);
	if (--file->depth > 0)
		return;
	__atomic_store_n(&file->owner, 0, __ATOMIC_RELAXED);
	__unlock(&file->lock);
}
