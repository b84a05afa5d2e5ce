/* SPDX-License-Identifier: MIT */
/* What task_info() and thread_info() have in common: see info.h.  Guarded by the kernel lock. */
#include "task/info.h"

#include "base/clock.h"
#include "base/divide.h"
#include "base/machine.h"
#include "thread/cpu_state.h"

#define NS_PER_MICRO (TIME_NANOS_MAX / TIME_MICROS_MAX)

rpc_time_value_t info_in_micros(time_value64_t time)
{
	return (rpc_time_value_t){
		.seconds = (integer_t)time.seconds,
		.microseconds = (integer_t)((uint32_t)time.nanoseconds / NS_PER_MICRO),
	};
}

time_value64_t info_time64_of_ticks(uint32_t ticks)
{
	return (time_value64_t){
		.seconds = ticks / TICK_HZ,
		.nanoseconds = ticks % TICK_HZ * (TIME_NANOS_MAX / TICK_HZ),
	};
}

rpc_time_value_t info_time_of_ticks(uint32_t ticks)
{
	return info_in_micros(info_time64_of_ticks(ticks));
}

time_value64_t info_time64_of_creation(uint64_t created)
{
	uint64_t ns = clock_wall() - clock_cycles_to_ns(machine_cycles() - created);
	uint64_t seconds = divide(ns, NS_PER_SECOND);

	return (time_value64_t){
		.seconds = (int64_t)seconds,
		.nanoseconds = (int64_t)(ns - seconds * NS_PER_SECOND),
	};
}

kern_return_t info_give(integer_t *out, mach_msg_type_number_t *room, const void *info,
			uint32_t size)
{
	return info_give_some(out, room, info, size, size / sizeof *out);
}

kern_return_t info_give_some(integer_t *out, mach_msg_type_number_t *room, const void *info,
			     uint32_t size, uint32_t least)
{
	const integer_t *words = info;
	uint32_t count = size / sizeof *words;

	if (*room < least)
		return KERN_INVALID_ARGUMENT;
	if (*room < count)
		count = least;
	for (uint32_t n = 0; n < count; n++)
		out[n] = words[n];
	*room = count;
	return KERN_SUCCESS;
}
