/* SPDX-License-Identifier: MIT */
/* vm.meter: what processes there are, and how much memory is theirs.  Under the server's lock. */
#include <mach/vm_statistics.h>
#include <sys/vmmeter.h>

#include "process/process.h"
#include "sysctl/meter.h"

static void meter_add(struct vmtotal *total, const struct ux_process_info *info)
{
	const int32_t size = (int32_t)(info->size / PAGE_SIZE);
	const int32_t resident = (int32_t)(info->resident / PAGE_SIZE);
	const bool is_active = info->state == UX_RUNNING;

	if (info->state == UX_ZOMBIE)
		return;
	*(is_active ? &total->t_rq : &total->t_sl) += 1;
	total->t_vm += size;
	total->t_rm += resident;
	total->t_avm += is_active ? size : 0;
	total->t_arm += is_active ? resident : 0;
}

int meter_get(uintptr_t argument, struct sysctl_value *value)
{
	static struct vmtotal total;
	struct vm_statistics statistics;
	struct list *link;

	(void)argument;
	if (vm_statistics(mach_task_self_cached(), &statistics) != KERN_SUCCESS)
		return EIO;
	total = (struct vmtotal){.t_free = statistics.free_count};
	list_for_each (link, &processes) {
		struct ux_process_info info;

		process_describe(list_object(link, struct process, link), &info);
		meter_add(&total, &info);
	}
	*value = (struct sysctl_value){&total, sizeof total};
	return 0;
}
