/* SPDX-License-Identifier: MIT */
/*
 * Copies of objects that may not be shared for copying (vm/object/object.h): the kernel's own, and
 * those whose pager wants that.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "i386/cpu/cpu.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/fault.h"
#include "vm/object/object.h"
#include "vm/pager/pageout.h"

/* A page for the copy; KERN_RESOURCE_SHORTAGE, KERN_ABORTED.  May block. */
static kern_return_t object_copy_allocate_page(struct page **page)
{
	while ((*page = page_alloc(PAGE_USER)) == NULL) {
		if (page_wait())
			continue;
		return thread_is_interrupted(current_thread()) ? KERN_ABORTED
							       : KERN_RESOURCE_SHORTAGE;
	}
	return KERN_SUCCESS;
}

/* Copies one page, if there is more than zeroes, to the same index less `first`.  May block. */
static kern_return_t copy_page_now(struct object *object, uint32_t index, uint32_t first,
				   struct object *copy)
{
	struct page *page, *own;
	kern_return_t result = object_copy_allocate_page(&own);

	if (result != KERN_SUCCESS)
		return result;
	/* Last, as `page` is there only until the next wait. */
	result = fault_object_page(object, index, &page);
	if (result != KERN_SUCCESS || page == NULL) {
		page_free(own);
		return result;
	}
	page_copy(page_data(own), page_data(page));
	own->dirty = true;
	if (object_insert(copy, index - first, own))
		return KERN_SUCCESS;
	page_free(own);
	return KERN_RESOURCE_SHORTAGE;
}

kern_return_t object_copy_now(struct owner *payer, struct object *object, uint32_t index,
			      uint32_t size, struct object **copy)
{
	kern_return_t result = KERN_SUCCESS;

	*copy = object_create_for(payer, size);
	if (*copy == NULL)
		return KERN_RESOURCE_SHORTAGE;
	for (uint32_t i = 0; i < size && result == KERN_SUCCESS; i++) {
		result = copy_page_now(object, index + i, index, *copy);
		if (i % 16 == 15)
			kernel_rest();
	}
	if (result != KERN_SUCCESS)
		object_release(*copy);
	return result;
}
