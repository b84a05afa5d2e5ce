/* SPDX-License-Identifier: MIT */
/* Mapping files. */
#ifndef MACH_MAP_FD_H
#define MACH_MAP_FD_H

#include <mach/boolean.h>
#include <mach/kern_return.h>
#include <mach/vm_types.h>

/*
 * Maps `size` bytes of an open file from `offset` on, which is a multiple of a page: at *address,
 * or wherever there is room.  What is written stays the program's own.
 */
kern_return_t map_fd(int fd, vm_offset_t offset, vm_offset_t *address, boolean_t find_space,
		     vm_size_t size);

#endif
