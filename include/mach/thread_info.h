/* SPDX-License-Identifier: MIT */
/* What thread_info() tells. */
#ifndef MACH_THREAD_INFO_H
#define MACH_THREAD_INFO_H

#include <stddef.h>

#include <mach/boolean.h>
#include <mach/policy.h>
#include <mach/time_value.h>

typedef integer_t *thread_info_t;

#define THREAD_INFO_MAX 1024
typedef integer_t thread_info_data_t[THREAD_INFO_MAX];

#define THREAD_BASIC_INFO 1

struct thread_basic_info {
	rpc_time_value_t user_time;
	rpc_time_value_t system_time;
	integer_t cpu_usage; /* Of late, of TH_USAGE_SCALE. */
	integer_t base_priority;
	integer_t cur_priority;
	integer_t run_state; /* TH_STATE_... */
	integer_t flags;     /* TH_FLAGS_... */
	integer_t suspend_count;
	integer_t sleep_time; /* Seconds. */
	rpc_time_value_t creation_time;
	time_value64_t user_time64; /* The same times in 64 bits. */
	time_value64_t system_time64;
	time_value64_t creation_time64;
};

typedef struct thread_basic_info thread_basic_info_data_t;
typedef struct thread_basic_info *thread_basic_info_t;
#define THREAD_BASIC_INFO_COUNT (sizeof(thread_basic_info_data_t) / sizeof(natural_t))

/* Words of it before there were 64-bit times: who asks for so many gets those. */
#define THREAD_BASIC_INFO_OLD_COUNT \
	(offsetof(struct thread_basic_info, user_time64) / sizeof(natural_t))

#define TH_USAGE_SCALE 1000

#define TH_STATE_RUNNING         1
#define TH_STATE_STOPPED         2
#define TH_STATE_WAITING         3
#define TH_STATE_UNINTERRUPTIBLE 4
#define TH_STATE_HALTED          5

#define TH_FLAGS_SWAPPED 0x1
#define TH_FLAGS_IDLE    0x2

#define THREAD_SCHED_INFO 2

struct thread_sched_info {
	integer_t policy; /* POLICY_..., */
	integer_t data;   /* and its quantum or the like. */
	integer_t base_priority;
	integer_t max_priority;
	integer_t cur_priority;
	integer_t depressed;        /* Whether it is. */
	integer_t depress_priority; /* What it had before it was depressed; -1: it is not. */
	integer_t last_processor;
};

typedef struct thread_sched_info thread_sched_info_data_t;
typedef struct thread_sched_info *thread_sched_info_t;
#define THREAD_SCHED_INFO_COUNT (sizeof(thread_sched_info_data_t) / sizeof(natural_t))

/* Assay's own: what it calls the thread, and the label on whose behalf it runs. */
#define THREAD_ID_INFO 1000

struct thread_id_info {
	natural_t id;
	natural_t label;
};

typedef struct thread_id_info thread_id_info_data_t;
typedef struct thread_id_info *thread_id_info_t;
#define THREAD_ID_INFO_COUNT (sizeof(thread_id_info_data_t) / sizeof(natural_t))

#endif
