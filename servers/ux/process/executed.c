/* SPDX-License-Identifier: MIT */
/* Names of executed programs: see executed.h.  Guarded by the server's lock. */
#include "process/executed.h"

#include "core/ux.h"

struct executed {
	unsigned references;
	char path[];
};

struct executed *executed_new(const char *path)
{
	size_t size = strlen(path) + 1;
	struct executed *executed = ux_allocate(sizeof *executed + size);

	if (executed == NULL)
		return NULL;
	executed->references = 1;
	memcpy(executed->path, path, size);
	return executed;
}

struct executed *executed_reference(struct executed *executed)
{
	assert(ux_lock_held());
	if (executed != NULL)
		executed->references++;
	return executed;
}

void executed_release(struct executed *executed)
{
	assert(ux_lock_held());
	if (executed == NULL)
		return;
	assert(executed->references > 0);
	if (--executed->references == 0)
		ux_free(executed);
}

const char *executed_path(const struct executed *executed)
{
	return executed->path;
}
