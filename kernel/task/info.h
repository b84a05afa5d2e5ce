/* SPDX-License-Identifier: MIT */
/* What task_info() and thread_info() have in common. */
#ifndef TASK_INFO_H
#define TASK_INFO_H

#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/time_value.h>

/* A count of ticks, and the moment (in cycles) that something was made, as interfaces tell them. */
time_value64_t info_time64_of_ticks(uint32_t ticks);
time_value64_t info_time64_of_creation(uint64_t created);

/* In the older form, which has microseconds and ends in 2038. */
rpc_time_value_t info_in_micros(time_value64_t time);
rpc_time_value_t info_time_of_ticks(uint32_t ticks);

/*
 * Gives `size` bytes of `info`, whole words, if the caller has room: *room is words, before and
 * after.
 */
kern_return_t info_give(integer_t *out, mach_msg_type_number_t *room, const void *info,
			uint32_t size);

/*
 * As info_give(), for information that has grown: who has room for the first `least` words only,
 * since it was compiled before, gets those.
 */
kern_return_t info_give_some(integer_t *out, mach_msg_type_number_t *room, const void *info,
			     uint32_t size, uint32_t least);

#endif
