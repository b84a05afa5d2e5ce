/* SPDX-License-Identifier: MIT */
/* What few threads have of the machine: see extra.h.  Guarded by the kernel lock. */
#include "i386/thread/extra.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/string.h"
#include "base/zone.h"
#include "i386/patch/follow.h"
#include "i386/thread/debug_registers.h"
#include "i386/thread/io_permission.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

static struct zone extra_zone, ldt_zone;

/* What is loaded for a thread that has nothing. */
static const struct thread_extra nothing;

void extra_module_init(void)
{
	zone_init(&extra_zone, "thread extras", sizeof(struct thread_extra), 4);
	zone_init(&ldt_zone, "descriptor tables", LDT_ENTRIES_MAX * sizeof(struct descriptor), 8);
}

struct thread_extra *extra_of(struct thread *thread)
{
	struct thread_extra *extra = thread->machine.extra;

	assert(thread->task != NULL);
	if (extra == NULL) {
		extra = zone_alloc(&extra_zone);
		if (extra != NULL)
			*extra = nothing;
		thread->machine.extra = extra;
		if (extra != NULL)
			thread->machine.apart = thread;
	}
	return extra;
}

bool extra_has_ldt(struct thread_extra *extra)
{
	if (extra->ldt != NULL)
		return true;
	extra->ldt = zone_alloc(&ldt_zone);
	if (extra->ldt == NULL)
		return false;
	memset(extra->ldt, 0, LDT_ENTRIES_MAX * sizeof extra->ldt[0]);
	memcpy(extra->ldt, usual_ldt, sizeof usual_ldt);
	return true;
}

static void extra_load_ldt(struct cpu *cpu, const struct descriptor *ldt)
{
	cpu->machine.ldt = ldt;
	segment_load_ldt(cpu, ldt != NULL ? ldt : usual_ldt,
			 ldt != NULL ? LDT_ENTRIES_MAX : LDT_ENTRIES);
}

void extra_load(struct cpu *cpu, const struct thread *thread)
{
	const struct thread_extra *extra = thread->machine.extra;

	assert(cpu == cpu_self());
	cpu->machine.extra = extra;
	follow_set_apart(cpu, thread->machine.apart);
	if (extra == NULL)
		extra = &nothing;
	segment_load_slots(cpu, extra->slots);
	if (cpu->machine.ldt != extra->ldt)
		extra_load_ldt(cpu, extra->ldt);
	debug_registers_load(cpu, extra->debug);
	io_permissions_load(cpu, extra->uses_ports ? thread : NULL);
}

void extra_free(struct thread *thread)
{
	struct thread_extra *extra = thread->machine.extra;

	for (uint32_t n = 0; n < n_cpus; n++)
		assert(cpus[n].machine.extra != extra);
	if (extra->ldt != NULL)
		zone_free(&ldt_zone, extra->ldt);
	zone_free(&extra_zone, extra);
	thread->machine.extra = NULL;
}
