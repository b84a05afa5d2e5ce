/* SPDX-License-Identifier: MIT */
/* profil(): see profil.h.  Guarded by the kernel lock. */
#include "prof/profil.h"

#include <mach/kern_return.h>
#include <mach/mach_types.h>
#include <mach/profil.h>
#include <mach/vm_prot.h>

#include "base/assert.h"
#include "base/zone.h"
#include "i386/mmu/copy.h"
#include "mach/assay_server.h"
#include "task/task.h"
#include "task/vtimer.h"
#include "thread/thread.h"
#include "vm/map/fault.h"
#include "vm/page/page.h"

struct region {
	user_address_t bins;
	uint32_t size; /* In bytes; 0: it has none. */
	uint32_t offset;
	uint32_t scale;
};

struct profil {
	uint32_t n_regions;
	struct region regions[PROFIL_REGIONS_MAX];
};

static struct zone profil_zone;

void profil_module_init(void)
{
	zone_init(&profil_zone, "profiles", sizeof(struct profil), 4);
}

/* ---------------- Setting ---------------- */

void profil_forget(struct task *task)
{
	if (task->profil == NULL)
		return;
	zone_free(&profil_zone, task->profil);
	task->profil = NULL;
	vtimer_note_change(task);
}

/* A profile of no regions, in the place of what there was; false: no memory. */
static bool profil_begin(struct task *task)
{
	if (task->profil == NULL)
		task->profil = zone_alloc(&profil_zone);
	if (task->profil == NULL)
		return false;
	task->profil->n_regions = 0;
	vtimer_note_change(task);
	return true;
}

bool profil_inherit(struct task *child, const struct task *parent)
{
	if (parent->profil == NULL)
		return true;
	if (!profil_begin(child))
		return false;
	*child->profil = *parent->profil;
	return true;
}

kern_return_t task_profil(task_t task, vm_address_t bins, vm_size_t size, vm_offset_t offset,
			  unsigned scale, boolean_t more)
{
	const struct region region = {bins, size, offset, scale};

	if (task == NULL || task->ending || scale > PROFIL_SCALE_ONE)
		return KERN_INVALID_ARGUMENT;
	if (!range_is_user(bins, size))
		return KERN_INVALID_ADDRESS;
	if (more && task->profil == NULL)
		return KERN_FAILURE;
	if (scale <= PROFIL_SCALE_OFF) {
		if (!more)
			profil_forget(task);
		return KERN_SUCCESS;
	}
	if (!more && !profil_begin(task))
		return KERN_RESOURCE_SHORTAGE;
	if (task->profil->n_regions == PROFIL_REGIONS_MAX)
		return KERN_NO_SPACE;
	task->profil->regions[task->profil->n_regions++] = region;
	return KERN_SUCCESS;
}

/* ---------------- Counting ---------------- */

/* Whether the region has a bin for `pc`, all of it: which one. */
static bool profil_region_find(const struct region *region, uint32_t pc, user_address_t *bin)
{
	uint64_t place = ((uint64_t)(pc - region->offset) * region->scale >> 16) & ~1ull;

	*bin = region->bins + (uint32_t)place;
	return pc >= region->offset && place + PROFIL_BIN_SIZE <= region->size;
}

/* The bin of the first region that has one for `pc`. */
static bool profil_find(const struct profil *profil, uint32_t pc, user_address_t *bin)
{
	for (uint32_t n = 0; profil != NULL && n < profil->n_regions; n++)
		if (profil_region_find(&profil->regions[n], pc, bin))
			return true;
	return false;
}

void profil_owe(struct thread *thread)
{
	if (thread->task->profil == NULL)
		return;
	thread->profil_pc = thread_frame(thread)->eip;
	thread->profil_ticks++;
}

/* Brings the bin's memory, of one page or of two, to be written to.  May block. */
static bool profil_bring(struct vm_map *map, user_address_t bin)
{
	user_address_t last = bin + PROFIL_BIN_SIZE - 1;

	return fault(map, bin, VM_PROT_WRITE) == KERN_SUCCESS &&
	       (page_trunc(bin) == page_trunc(last) ||
		fault(map, last, VM_PROT_WRITE) == KERN_SUCCESS);
}

/* After each wait the bin is looked for again: its memory may be something else's by now. */
bool profil_pay(struct thread *thread)
{
	struct task *task = thread->task;
	user_address_t bin, again;

	assert(thread == current_thread());
	while (thread->profil_ticks > 0 && profil_find(task->profil, thread->profil_pc, &bin) &&
	       !machine_count(bin, thread->profil_ticks)) {
		if (profil_bring(task->map, bin))
			continue;
		if (thread_is_interrupted(thread))
			return false;
		/* profil() may have been called meanwhile, and the bins found before be gone. */
		if (profil_find(task->profil, thread->profil_pc, &again) && again == bin)
			profil_forget(task);
	}
	thread->profil_ticks = 0;
	return true;
}
