/* SPDX-License-Identifier: MIT */
/* The Unix server's variables: root, who has a right to its task, reads and writes them. */
#ifndef SERVER_WORDS_H
#define SERVER_WORDS_H

#include <mach.h>
#include <sys/ux.h>

#include "check_unix.h"

static mach_port_t server; /* Its task, from task_by_pid(0). */

static inline unsigned read_word(vm_address_t address)
{
	vm_offset_t data = 0;
	mach_msg_type_number_t size = 0;
	unsigned word = 0;

	EXPECT_EQ(vm_read(server, address, sizeof word, &data, &size), KERN_SUCCESS);
	memcpy(&word, (void *)data, sizeof word);
	EXPECT_EQ(vm_deallocate(mach_task_self(), data, size), KERN_SUCCESS);
	return word;
}

static inline void write_word(vm_address_t address, unsigned word)
{
	EXPECT_EQ(vm_write(server, address, (vm_offset_t)&word, sizeof word), KERN_SUCCESS);
}

#endif
