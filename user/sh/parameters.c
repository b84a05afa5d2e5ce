/* SPDX-License-Identifier: MIT */
/* The positional parameters. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "getopts.h"
#include "sh.h"

struct parameters parameters;

static void release(struct parameters *old)
{
	for (size_t i = 0; i < old->count; i++)
		free(old->values[i]);
	free(old->values);
	*old = (struct parameters){0};
}

static struct parameters copy(char **values)
{
	struct parameters new = {0};

	while (values[new.count] != NULL)
		new.count++;
	new.values = heap_allocate((new.count + 1) * sizeof(*new.values));
	for (size_t i = 0; i < new.count; i++)
		new.values[i] = heap_copy(values[i]);
	return new;
}

void parameters_set(char **values)
{
	struct parameters old = parameters_replace(values);

	release(&old);
}

void parameters_shift(size_t count)
{
	assert(count <= parameters.count);
	for (size_t i = 0; i < count; i++)
		free(parameters.values[i]);
	parameters.count -= count;
	memmove(parameters.values, parameters.values + count,
		(parameters.count + 1) * sizeof(*parameters.values));
	getopts_reset();
}

struct parameters parameters_replace(char **values)
{
	struct parameters old = parameters;

	parameters = copy(values);
	getopts_reset();
	return old;
}

void parameters_restore(struct parameters old)
{
	release(&parameters);
	parameters = old;
}
