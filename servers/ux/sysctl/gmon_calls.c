/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel's profile: `froms` and `tos`, brought up to date from what the kernel counts.
 *
 * An element stays where it is until a reset, so froms and tos that are read one after the other
 * fit.  What was called by its address in a table of the kernel's has no caller that is known: it
 * stands under the first place of the text.  Guarded by the server's lock.
 */
#include <mach/assay.h>
#include <mach/calls.h>

#include "sysctl/gmon.h"

static bool gmon_calls_are_counted; /* As far as it was said here. */

int gmon_calls_begin(void)
{
	switch (host_calls_count(ux_boot.host_control, TRUE)) {
	case KERN_SUCCESS:
		gmon_calls_are_counted = true;
		return 0;
	case KERN_RESOURCE_SHORTAGE:
		return ENOMEM;
	default:
		return EIO;
	}
}

void gmon_calls_end(void)
{
	host_calls_count(ux_boot.host_control, FALSE);
	gmon_calls_are_counted = false;
}

/* While calls are counted the kernel goes on to tell processes apart. */
void gmon_calls_reset(void)
{
	host_calls_reset(ux_boot.host_control);
	if (!gmon_calls_are_counted)
		gmon_processes_forget();
	memset(_gmonparam.froms, 0, _gmonparam.fromssize);
	memset(_gmonparam.tos, 0, _gmonparam.tossize);
}

/* The element of this pair, a new one if need be; null: there is no room. */
static struct tostruct *gmon_calls_element(uint32_t from, uint32_t to)
{
	struct gmonparam *p = &_gmonparam;
	uint32_t offset = from < p->lowpc || from >= p->highpc ? 0 : from - p->lowpc;
	uint16_t *first = &p->froms[offset / (HASHFRACTION * sizeof *p->froms)];
	uint16_t n;

	for (n = *first; n != 0; n = p->tos[n].link)
		if (p->tos[n].selfpc == to)
			return &p->tos[n];
	if (p->tos[0].link + 1 >= p->tolimit)
		return NULL;
	n = ++p->tos[0].link;
	p->tos[n] = (struct tostruct){.selfpc = to, .link = *first};
	*first = n;
	return &p->tos[n];
}

/* As many as the element has room for; how many are left. */
static uint64_t gmon_calls_add(struct tostruct *element, uint64_t count)
{
	uint64_t room = (uint64_t)(INT32_MAX - element->count);
	uint64_t added = count < room ? count : room;

	element->count += (int32_t)added;
	return count - added;
}

/* Several addresses in tables may be of one function: it has one element, with their sum. */
static void gmon_calls_enter(const struct host_call *calls, size_t n)
{
	for (uint16_t i = 1; i <= _gmonparam.tos[0].link; i++)
		_gmonparam.tos[i].count = 0;
	gmon_account.calls = 0;
	for (; n > 0; n--, calls++) {
		struct tostruct *element = gmon_calls_element(calls->from, calls->to);
		uint64_t count = prof_u64(calls->count);

		gmon_account.calls += element == NULL ? count : gmon_calls_add(element, count);
		if (element == NULL)
			gmon_fail();
	}
}

int gmon_calls_bring(void)
{
	mach_msg_type_number_t n = 0;
	host_call_array_t words = NULL;
	boolean_t on;
	bool is_there;

	/* The list is in memory that may have to be brought: not under the lock. */
	ux_unlock();
	is_there = host_calls_get(ux_boot.host_control, HOST_CALLS_ALL_CPUS, &on, &words, &n) ==
			   KERN_SUCCESS &&
		   (n == 0 || ux_wire((vm_address_t)words, n * sizeof *words));
	ux_lock();
	if (is_there)
		gmon_calls_enter((const struct host_call *)words, n / HOST_CALL_WORDS);
	if (n != 0)
		vm_deallocate(mach_task_self_cached(), (vm_address_t)words, n * sizeof *words);
	return is_there ? 0 : ENOMEM;
}
