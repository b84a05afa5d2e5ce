/* SPDX-License-Identifier: MIT */
/* What a program has of the kernel, to see that it is the same before and after. */
#ifndef TEST_BALANCE_H
#define TEST_BALANCE_H

#include <mach.h>

#include "check_unix.h"

struct balance {
	unsigned names;
	unsigned threads;
	vm_size_t bytes;
};

static struct balance balance(void)
{
	mach_port_t self = mach_task_self_cached();
	struct task_basic_info info = {.virtual_size = 0};
	mach_msg_type_number_t n = 0, n_types = 0, count = TASK_BASIC_INFO_COUNT;
	mach_port_type_array_t types;
	thread_array_t threads;
	mach_port_array_t list;
	struct balance found;

	EXPECT(task_threads(self, &threads, &found.threads) == KERN_SUCCESS);
	for (unsigned i = 0; i < found.threads; i++)
		mach_port_deallocate(self, threads[i]);
	vm_deallocate(self, (vm_address_t)threads, found.threads * sizeof *threads);
	EXPECT(mach_port_names(self, &list, &n, &types, &n_types) == KERN_SUCCESS);
	vm_deallocate(self, (vm_address_t)list, n * sizeof *list);
	vm_deallocate(self, (vm_address_t)types, n_types * sizeof *types);
	EXPECT(task_info(self, TASK_BASIC_INFO, (task_info_t)&info, &count) == KERN_SUCCESS);
	found.names = n;
	found.bytes = info.virtual_size;
	return found;
}

static void expect_balance(struct balance before)
{
	struct balance after = balance();

	EXPECT_EQ(after.names, before.names);
	EXPECT_EQ(after.threads, before.threads);
	EXPECT_EQ(after.bytes, before.bytes);
}

#endif
