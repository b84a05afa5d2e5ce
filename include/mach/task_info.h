/* SPDX-License-Identifier: MIT */
/* What task_info() tells. */
#ifndef MACH_TASK_INFO_H
#define MACH_TASK_INFO_H

#include <stddef.h>

#include <mach/time_value.h>
#include <mach/vm_types.h>

typedef integer_t *task_info_t;

#define TASK_INFO_MAX 1024
typedef integer_t task_info_data_t[TASK_INFO_MAX];

#define TASK_BASIC_INFO 1

struct task_basic_info {
	integer_t suspend_count;
	integer_t base_priority;
	rpc_vm_size_t virtual_size;  /* Bytes of address space in use, */
	rpc_vm_size_t resident_size; /* and of them in memory. */
	rpc_time_value_t user_time;  /* Of threads that have ended. */
	rpc_time_value_t system_time;
	rpc_time_value_t creation_time;
	time_value64_t user_time64; /* The same times in 64 bits. */
	time_value64_t system_time64;
	time_value64_t creation_time64;
};

typedef struct task_basic_info task_basic_info_data_t;
typedef struct task_basic_info *task_basic_info_t;
#define TASK_BASIC_INFO_COUNT (sizeof(task_basic_info_data_t) / sizeof(integer_t))

/* Words of it before there were 64-bit times: who asks for so many gets those. */
#define TASK_BASIC_INFO_OLD_COUNT \
	(offsetof(struct task_basic_info, user_time64) / sizeof(integer_t))

#define TASK_EVENTS_INFO 2

struct task_events_info {
	rpc_long_natural_t faults;
	rpc_long_natural_t zero_fills;
	rpc_long_natural_t reactivations;
	rpc_long_natural_t pageins;
	rpc_long_natural_t cow_faults;
	rpc_long_natural_t messages_sent;
	rpc_long_natural_t messages_received;
};

typedef struct task_events_info task_events_info_data_t;
typedef struct task_events_info *task_events_info_t;
#define TASK_EVENTS_INFO_COUNT (sizeof(task_events_info_data_t) / sizeof(integer_t))

#define TASK_THREAD_TIMES_INFO 3

/* Of threads that live. */
struct task_thread_times_info {
	rpc_time_value_t user_time;
	rpc_time_value_t system_time;
	time_value64_t user_time64;
	time_value64_t system_time64;
};

typedef struct task_thread_times_info task_thread_times_info_data_t;
typedef struct task_thread_times_info *task_thread_times_info_t;
#define TASK_THREAD_TIMES_INFO_COUNT (sizeof(task_thread_times_info_data_t) / sizeof(integer_t))
#define TASK_THREAD_TIMES_INFO_OLD_COUNT \
	(offsetof(struct task_thread_times_info, user_time64) / sizeof(integer_t))

/* Assay's own: what it calls the task, in labels and samples. */
#define TASK_ID_INFO 1000

struct task_id_info {
	natural_t id;
};

typedef struct task_id_info task_id_info_data_t;
typedef struct task_id_info *task_id_info_t;
#define TASK_ID_INFO_COUNT (sizeof(task_id_info_data_t) / sizeof(integer_t))

/* Assay's own: all that a task has used, at once. */
#define TASK_USAGE_INFO 1001

struct task_usage_info {
	rpc_time_value_t served_user_time; /* Of threads of other tasks, on the task's behalf; */
	rpc_time_value_t served_system_time;
	rpc_time_value_t ended_user_time; /* of its own that have ended, */
	rpc_time_value_t ended_system_time;
	struct task_thread_times_info living; /* and of those that live. */
	rpc_vm_size_t resident_size;
	struct task_events_info events;
};

typedef struct task_usage_info task_usage_info_data_t;
typedef struct task_usage_info *task_usage_info_t;
#define TASK_USAGE_INFO_COUNT (sizeof(task_usage_info_data_t) / sizeof(integer_t))

/* Assay's own: on whose behalf the thread ran that made the task; 0: the system's. */
#define TASK_MAKER_INFO 1002

struct task_maker_info {
	natural_t maker; /* A task's id; it may have ended. */
};

typedef struct task_maker_info task_maker_info_data_t;
typedef struct task_maker_info *task_maker_info_t;
#define TASK_MAKER_INFO_COUNT (sizeof(task_maker_info_data_t) / sizeof(integer_t))

/* task_ras_control() */
#define TASK_RAS_CONTROL_PURGE_ALL                 0
#define TASK_RAS_CONTROL_PURGE_ONE                 1
#define TASK_RAS_CONTROL_PURGE_ALL_AND_INSTALL_ONE 2
#define TASK_RAS_CONTROL_INSTALL_ONE               3

#endif
