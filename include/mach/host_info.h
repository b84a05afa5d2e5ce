/* SPDX-License-Identifier: MIT */
/* What host_info() tells. */
#ifndef MACH_HOST_INFO_H
#define MACH_HOST_INFO_H

#include <mach/machine.h>
#include <mach/vm_types.h>

typedef integer_t *host_info_t;

#define HOST_INFO_MAX 1024
typedef integer_t host_info_data_t[HOST_INFO_MAX];

#define KERNEL_VERSION_MAX 512
typedef char kernel_version_t[KERNEL_VERSION_MAX];
typedef char new_kernel_version_t[KERNEL_VERSION_MAX];

#define KERNEL_BOOT_INFO_MAX 4096
typedef char kernel_boot_info_t[KERNEL_BOOT_INFO_MAX];

#define HOST_BASIC_INFO      1
#define HOST_PROCESSOR_SLOTS 2 /* An array of the slots that have a processor. */
#define HOST_SCHED_INFO      3
#define HOST_LOAD_INFO       4

struct host_basic_info {
	integer_t max_cpus;
	integer_t avail_cpus;
	rpc_vm_size_t memory_size; /* Bytes. */
	cpu_type_t cpu_type;
	cpu_subtype_t cpu_subtype;
};

typedef struct host_basic_info host_basic_info_data_t;
typedef struct host_basic_info *host_basic_info_t;
#define HOST_BASIC_INFO_COUNT (sizeof(host_basic_info_data_t) / sizeof(integer_t))

struct host_sched_info {
	integer_t min_timeout; /* Milliseconds, */
	integer_t min_quantum; /* both. */
};

typedef struct host_sched_info host_sched_info_data_t;
typedef struct host_sched_info *host_sched_info_t;
#define HOST_SCHED_INFO_COUNT (sizeof(host_sched_info_data_t) / sizeof(integer_t))

/* Averages of 5, 30 and 60 seconds, of LOAD_SCALE. */
struct host_load_info {
	integer_t avenrun[3];
	integer_t mach_factor[3];
};

typedef struct host_load_info host_load_info_data_t;
typedef struct host_load_info *host_load_info_t;
#define HOST_LOAD_INFO_COUNT (sizeof(host_load_info_data_t) / sizeof(integer_t))

#endif
