/* SPDX-License-Identifier: MIT */
/* What vmprog, cowprog and readprog share: pages, and what the kernel has counted for this task. */
#ifndef PAGES_H
#define PAGES_H

#include <mach.h>
#include <mach/task_info.h>
#include <stdio.h>
#include <stdlib.h>

#define PAGE 4096u

static inline struct task_events_info events_now(void)
{
	struct task_events_info info = {0};
	mach_msg_type_number_t count = TASK_EVENTS_INFO_COUNT;

	task_info(mach_task_self(), TASK_EVENTS_INFO, (task_info_t)&info, &count);
	return info;
}

/* A number from 1 on, or the program ends with its usage. */
static inline unsigned number_of(const char *text, const char *usage)
{
	char *end = NULL;
	unsigned long number = text == NULL ? 0 : strtoul(text, &end, 10);

	if (number == 0 || *end != '\0' || number > 100000) {
		fprintf(stderr, "usage: %s\n", usage);
		exit(2);
	}
	return (unsigned)number;
}

static inline vm_address_t pages_or_die(unsigned count)
{
	vm_address_t address = 0;

	if (vm_allocate(mach_task_self(), &address, count * PAGE, TRUE) != KERN_SUCCESS) {
		fprintf(stderr, "there is no memory for %u pages\n", count);
		exit(1);
	}
	return address;
}

static inline void write_page(vm_address_t address, unsigned page)
{
	*(volatile unsigned *)(address + page * PAGE) = page;
}

static inline unsigned read_page(vm_address_t address, unsigned page)
{
	return *(volatile unsigned *)(address + page * PAGE);
}

#endif
