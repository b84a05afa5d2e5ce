/* SPDX-License-Identifier: MIT */
/*
 * Objects that nobody maps at the moment, and whose pagers allow that they are kept: see
 * vm/pager/pager.h.  The list is in the order of their last use.  Guarded by the kernel lock.
 */

#include "base/assert.h"
#include <assay/list.h>
#include "vm/object/object.h"
#include "vm/pager/pager.h"
#include "vm/pager/pager_internal.h"

/* More than so many structures are not worth their memory; their pages go when they are needed. */
#define CACHED_MAX 256u

static struct list cached = LIST_INITIALIZER(cached);
static uint32_t n_cached;

uint32_t pager_cached_objects(void)
{
	return n_cached;
}

bool pager_keep(struct object *object)
{
	const struct pager *pager = object->pager;

	assert(object->refs == 0 && !object->terminating);
	if (!pager_is_live(pager) || !pager->may_cache)
		return false;
	list_add_last(&cached, &object->cache_link);
	if (++n_cached > CACHED_MAX)
		pager_cache_trim();
	return true;
}

void pager_cache_remove(struct object *object)
{
	assert(object->refs == 0 && n_cached > 0 && !list_empty(&object->cache_link));
	list_remove(&object->cache_link);
	n_cached--;
}

bool pager_cache_trim(void)
{
	struct object *oldest;

	if (list_empty(&cached))
		return false;
	oldest = list_first_object(&cached, struct object, cache_link);
	pager_cache_remove(oldest);
	object_terminate(oldest);
	return true;
}
