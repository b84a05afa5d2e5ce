/* SPDX-License-Identifier: MIT */
/* The machine's words and addresses, as Mach's interfaces name them. */
#ifndef MACH_VM_TYPES_H
#define MACH_VM_TYPES_H

#include <stdint.h>

typedef unsigned int natural_t;
typedef int integer_t;
typedef unsigned long long_natural_t;
typedef long long_integer_t;

typedef unsigned int vm_offset_t;
typedef unsigned int vm_address_t;
typedef unsigned int vm_size_t;
typedef vm_offset_t *vm_offset_array_t;
typedef vm_size_t *vm_size_array_t;
typedef vm_offset_t pointer_t;
typedef uint64_t phys_addr_t;

/* The same where they cross an interface: kernel and user agree on their sizes. */
typedef vm_address_t rpc_vm_address_t;
typedef vm_offset_t rpc_vm_offset_t;
typedef vm_size_t rpc_vm_size_t;
typedef long_natural_t rpc_long_natural_t;
typedef long_integer_t rpc_long_integer_t;
typedef uint64_t rpc_phys_addr_t;
typedef rpc_phys_addr_t *rpc_phys_addr_array_t;

#endif
