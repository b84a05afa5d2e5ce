/* SPDX-License-Identifier: MIT */
/*
 * Where those who look at the kernel's memory from outside find who runs on a CPU, and for whom.
 *
 * The table is in the kernel's file and not in the machine's memory (kernel.ld): nothing runs, and
 * nothing moves, for its sake.  tools/assay/hot.py reads it for the plugin of tools/hot.
 */
#include <stddef.h>
#include <stdint.h>

#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

struct layout {
	char name[28];
	uint32_t value;
};

#define FIELD(type, field)                                     \
	{                                                      \
#type "." #field, offsetof(struct type, field) \
	}

static const struct layout layout[] __attribute__((section(".layout"), used)) = {
	{"cpus", (uint32_t)cpus}, {"cpu", sizeof(struct cpu)}, FIELD(cpu, thread),
	FIELD(cpu, idle_thread),  FIELD(cpu, machine.apic_id), FIELD(thread, id),
	FIELD(thread, label),     FIELD(thread, task),         FIELD(task, id),
	FIELD(task, name),
};
