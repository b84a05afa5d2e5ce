/* SPDX-License-Identifier: MIT */
/*
 * What pagers answer: data, that there is none, or an error (<mach/mach.defs>).  Guarded by the
 * kernel lock.
 *
 * Supplied pages are moved to where they belong, and take no free one.  Those that nobody wants any
 * more are dropped: a slot that has a page keeps it, and what is in swap is newer than what the
 * pager has.
 */
#include <stddef.h>

#include "ipc/ipc_port.h"
#include "mach/mach_server.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/pager/pageout.h"
#include "vm/pager/pager.h"
#include "vm/pager/pager_internal.h"
#include "vm/pager/pager_messages.h"

/* How pages of one message come. */
struct supply {
	struct pager *pager;
	uint32_t lock;
	bool precious;
};

/* Whether a page from the pager belongs into the slot.  A default pager gives back what it got. */
static bool pager_supply_is_wanted(const struct pager *pager, uint32_t index)
{
	const struct object *object = pager->object;
	const struct page *slot = object_slot(object, index);
	bool swap_asked = pager_swap_asked(object, index);

	if (slot_is_page(slot))
		return false;
	if (pager->is_swap)
		return swap_asked || slot == SLOT_SWAPPED;
	return !slot_is_away(slot) && !swap_asked;
}

/*
 * A page that comes from swap.  A default pager that has given its only copy away says that it is
 * precious.  What its own pager forbids for it is not known any more: it is asked if in doubt.
 */
static void pager_supply_set_swapped(const struct supply *supply, struct page *page)
{
	const struct pager *own = supply->pager->object->pager;

	page->in_swap = !supply->precious;
	page->dirty = supply->precious;
	pageouts_refused += supply->precious;
	page->lock = pager_is_live(own) ? own->lock_in_swap : 0;
}

/* Takes the page: into its slot, or it is freed. */
static kern_return_t supply_page(const struct supply *supply, uint32_t index, struct page *page)
{
	struct pager *pager = supply->pager;
	kern_return_t result = KERN_MEMORY_PRESENT;

	page_init_user(page);
	if (pager_supply_is_wanted(pager, index)) {
		if (pager->is_swap) {
			pager_supply_set_swapped(supply, page);
		} else {
			page->lock = supply->lock;
			page->precious = supply->precious;
		}
		if (object_insert(pager->object, index, page)) {
			pager_answered(pager, index);
			return KERN_SUCCESS;
		}
		result = KERN_RESOURCE_SHORTAGE;
	}
	page_free(page);
	return result;
}

/*
 * Marks what was requested from this pager in the range, and is to come no more.
 */
static void pager_supply_settle(struct pager *pager, uint32_t offset, uint32_t size,
				struct page *mark)
{
	struct object *object = pager->object;
	uint32_t index, end;
	struct page *slot;

	pager_range(object, offset, size, &index, &end);
	for (; (slot = page_tree_next(&object->slots, &index, end)) != SLOT_EMPTY; index++) {
		if (slot == SLOT_REQUESTED && pager_swap_asked(object, index) == pager->is_swap) {
			if (mark != SLOT_FAILED)
				pager_answered(pager, index);
			object_mark(object, index, mark);
		}
		pause_each();
	}
}

/* The rest of the data could not be had: for want of memory, and then who waits asks again; or for
 * good. */
static void supply_lose(struct pager *pager, uint32_t index, const struct pager_supplied *supplied,
			kern_return_t result)
{
	uint32_t offset = index * PAGE_SIZE;
	struct page *mark = SLOT_FAILED;

	if (result == KERN_RESOURCE_SHORTAGE)
		mark = pager->is_swap ? SLOT_SWAPPED : SLOT_EMPTY;
	pager_supply_settle(pager, offset, supplied->size - (offset - supplied->offset), mark);
}

/* What is told of pages without a place is the first of them. */
static void pager_supply_note_error(struct pager_supplied *supplied, uint32_t index,
				    kern_return_t result)
{
	if (result == KERN_SUCCESS || supplied->result != KERN_SUCCESS)
		return;
	supplied->result = result;
	supplied->error_offset = index * PAGE_SIZE;
}

/* The next page of the data, or NULL at its end.  The object may end while that is waited for. */
static kern_return_t pager_supply_next_page(const struct pager *pager, struct copy *copy,
					    struct page **page)
{
	kern_return_t result = copy_take_page(copy, page);

	if (result != KERN_SUCCESS || pager_is_live(pager))
		return result;
	if (*page != NULL)
		page_free(*page);
	return KERN_MEMORY_FAILURE;
}

/*
 * Takes the pages of the copy to where they belong, and the copy.  Each goes there before the next
 * is made: so a pager whose data is itself waited for has one page in hand, not all before it.
 */
static void supply_copy(const struct supply *supply, struct copy *copy,
			struct pager_supplied *supplied)
{
	uint32_t index = supplied->offset / PAGE_SIZE;
	struct pager *pager = supply->pager;
	kern_return_t result = KERN_SUCCESS;
	struct page *page;

	for (; index < pager->object->size; index++) {
		result = pager_supply_next_page(pager, copy, &page);
		if (result != KERN_SUCCESS || page == NULL)
			break;
		pager_supply_note_error(supplied, index, supply_page(supply, index, page));
		pause_each_page();
	}
	pager_supply_note_error(supplied, index, result);
	if (result != KERN_SUCCESS && pager_is_live(pager))
		supply_lose(pager, index, supplied, result);
	copy_destroy(copy);
}

/* Data begins with a page, and what it has of its last one is followed by zeroes. */
kern_return_t memory_object_data_supply(ipc_port_t control, vm_offset_t offset, pointer_t data,
					mach_msg_type_number_t size, vm_prot_t lock,
					boolean_t precious, ipc_port_t reply_to,
					mach_msg_type_name_t reply_type)
{
	struct pager_reply reply = {reply_to, reply_type};
	struct pager *pager = pager_of_control(control);
	struct pager_supplied supplied = {.offset = offset, .size = size, .result = KERN_SUCCESS};
	struct copy *copy = (struct copy *)data;
	struct supply supply;

	if (!pager_is_live(pager) || !pager_reply_is_valid(&reply))
		return KERN_INVALID_ARGUMENT;
	if ((offset & PAGE_MASK) != 0 || (lock & ~VM_PROT_ALL) != 0)
		return KERN_INVALID_ARGUMENT;
	if (copy != NULL && (copy->offset != 0 || copy->size != size))
		return KERN_INVALID_ARGUMENT;
	pager_reply_limit(&reply);
	supply = (struct supply){pager_reference(pager), (uint32_t)lock, precious != 0};
	if (copy != NULL)
		supply_copy(&supply, copy, &supplied);
	if (port_is_valid(reply.port))
		pager_reply_supplied(&reply, pager, &supplied);
	pager_release(pager);
	return KERN_SUCCESS;
}

/* ---------------- No data ---------------- */

/* Marks what has no data.  A default pager that has none has lost what it was given. */
static kern_return_t pager_supply_answer(ipc_port_t control, uint32_t offset, uint32_t size,
					 struct page *mark)
{
	struct pager *pager = pager_of_control(control);

	if (!pager_is_live(pager) || (offset & PAGE_MASK) != 0)
		return KERN_INVALID_ARGUMENT;
	pager_supply_settle(pager, offset, size, pager->is_swap ? SLOT_FAILED : mark);
	return KERN_SUCCESS;
}

kern_return_t memory_object_data_unavailable(ipc_port_t control, vm_offset_t offset, vm_size_t size)
{
	return pager_supply_answer(control, offset, size, SLOT_ABSENT);
}

/* Who waits is told KERN_MEMORY_ERROR, whatever the pager calls it. */
kern_return_t memory_object_data_error(ipc_port_t control, vm_offset_t offset, vm_size_t size,
				       kern_return_t error)
{
	(void)error;
	return pager_supply_answer(control, offset, size, SLOT_FAILED);
}
