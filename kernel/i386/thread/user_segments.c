/* SPDX-License-Identifier: MIT */
/*
 * Segments that a thread makes for itself: entries of a local descriptor table of its own, and two
 * slots of the global one, where thread-local storage lives.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include "base/string.h"
#include "i386/thread/extra.h"
#include "i386/thread/float_status.h"
#include "i386/thread/thread_status.h"
#include "mach/mach_i386_server.h"
#include "thread/thread.h"

#define SELECTOR_ANY -1

/*
 * The thread stands still, or is the current one, until segments_end().  KERN_INVALID_ARGUMENT if
 * it is none, or what thread_hold() says.
 */
static kern_return_t segments_begin(struct thread *thread)
{
	if (thread == NULL || thread->task == NULL)
		return KERN_INVALID_ARGUMENT;
	return thread == current_thread() ? KERN_SUCCESS : thread_hold(thread);
}

static void segments_end(struct thread *thread)
{
	if (thread == current_thread())
		extra_load(cpu_self(), thread);
	else
		thread_unhold(thread);
}

/* ---------------- The local table ---------------- */

/* What is told of an entry: where the call gate leads to is an address of the kernel's. */
static struct descriptor segments_shown(const struct thread *thread, uint32_t index)
{
	if (index == LDT_GATE)
		return (struct descriptor){.high = (uint16_t)usual_ldt[LDT_GATE].high};
	return user_descriptor(thread, (uint16_t)(index << 3 | 4));
}

/* The first entries are the kernel's: they can be written with what they are. */
static bool segments_entries_are_acceptable(const struct thread *thread, uint32_t first,
					    const struct descriptor *list, uint32_t count)
{
	for (uint32_t n = 0; n < count; n++) {
		struct descriptor now = segments_shown(thread, first + n);

		if (first + n < LDT_ENTRIES) {
			if (memcmp(&list[n], &now, sizeof now) != 0)
				return false;
		} else if (!descriptor_is_acceptable(list[n])) {
			return false;
		}
	}
	return true;
}

static bool segments_range_is_in_table(int first_selector, int count)
{
	uint32_t first = (uint32_t)first_selector >> 3;

	return first_selector >= 0 && count >= 0 && first <= LDT_ENTRIES_MAX &&
	       (uint32_t)count <= LDT_ENTRIES_MAX - first;
}

static kern_return_t segments_ldt_write(struct thread *thread, uint32_t first,
					const struct descriptor *list, uint32_t count)
{
	struct thread_extra *extra;

	if (!segments_entries_are_acceptable(thread, first, list, count))
		return KERN_INVALID_ARGUMENT;
	extra = extra_of(thread);
	if (extra == NULL || !extra_has_ldt(extra))
		return KERN_RESOURCE_SHORTAGE;
	for (uint32_t n = 0; n < count; n++)
		if (first + n >= LDT_ENTRIES)
			extra->ldt[first + n] = list[n];
	return KERN_SUCCESS;
}

kern_return_t i386_set_ldt(struct thread *thread, int first_selector, descriptor_list_t list,
			   mach_msg_type_number_t count)
{
	kern_return_t result;

	if (count > LDT_ENTRIES_MAX || !segments_range_is_in_table(first_selector, (int)count))
		return KERN_INVALID_ARGUMENT;
	result = segments_begin(thread);
	if (result != KERN_SUCCESS)
		return result;
	result = segments_ldt_write(thread, (uint32_t)first_selector >> 3, list, count);
	segments_end(thread);
	return result;
}

/* Fewer than asked for where the table or the room in the reply ends. */
kern_return_t i386_get_ldt(struct thread *thread, int first_selector, int selector_count,
			   descriptor_list_t list, mach_msg_type_number_t *count)
{
	uint32_t first = (uint32_t)first_selector >> 3;
	const struct thread_extra *extra;
	uint32_t entries, n;

	if (thread == NULL || thread->task == NULL)
		return KERN_INVALID_ARGUMENT;
	if (!segments_range_is_in_table(first_selector, selector_count))
		return KERN_INVALID_ARGUMENT;
	extra = thread->machine.extra;
	entries = extra != NULL && extra->ldt != NULL ? LDT_ENTRIES_MAX : LDT_ENTRIES;
	for (n = 0; n < (uint32_t)selector_count && n < *count && first + n < entries; n++)
		list[n] = segments_shown(thread, first + n);
	*count = n;
	return KERN_SUCCESS;
}

/* ---------------- Slots of the global table ---------------- */

/* The slot that a selector names, or USER_GDT_SLOTS. */
static uint32_t user_slot_of(int selector)
{
	uint32_t slot = ((uint32_t)selector - USER_GDT) / 8;

	return selector >= USER_GDT && (selector & 7) == (USER_GDT & 7) && slot < USER_GDT_SLOTS
		       ? slot
		       : USER_GDT_SLOTS;
}

/* A slot of the thread's that holds nothing, or USER_GDT_SLOTS. */
static uint32_t user_slot_free(const struct thread *thread)
{
	const struct thread_extra *extra = thread->machine.extra;
	uint32_t slot = 0;

	while (extra != NULL && slot < USER_GDT_SLOTS && descriptor_is_present(extra->slots[slot]))
		slot++;
	return slot;
}

static kern_return_t segments_slot_write(struct thread *thread, int *selector,
					 struct descriptor descriptor)
{
	uint32_t slot =
		*selector == SELECTOR_ANY ? user_slot_free(thread) : user_slot_of(*selector);
	struct thread_extra *extra;

	if (slot == USER_GDT_SLOTS)
		return *selector == SELECTOR_ANY ? KERN_NO_SPACE : KERN_INVALID_ARGUMENT;
	extra = extra_of(thread);
	if (extra == NULL)
		return KERN_RESOURCE_SHORTAGE;
	extra->slots[slot] = descriptor;
	*selector = (int)(USER_GDT + slot * sizeof descriptor);
	return KERN_SUCCESS;
}

kern_return_t i386_set_gdt(struct thread *thread, int *selector, descriptor_t descriptor)
{
	kern_return_t result;

	if (!descriptor_is_acceptable(descriptor))
		return KERN_INVALID_ARGUMENT;
	result = segments_begin(thread);
	if (result != KERN_SUCCESS)
		return result;
	result = segments_slot_write(thread, selector, descriptor);
	segments_end(thread);
	return result;
}

kern_return_t i386_get_gdt(struct thread *thread, int selector, descriptor_t *descriptor)
{
	const struct thread_extra *extra;
	uint32_t slot = user_slot_of(selector);

	if (thread == NULL || thread->task == NULL || slot == USER_GDT_SLOTS)
		return KERN_INVALID_ARGUMENT;
	extra = thread->machine.extra;
	*descriptor = extra != NULL ? extra->slots[slot] : (struct descriptor){0, 0};
	return KERN_SUCCESS;
}

kern_return_t i386_get_xstate_size(host_t host, vm_size_t *size)
{
	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	*size = XFLOAT_WORDS * sizeof(uint32_t);
	return KERN_SUCCESS;
}
