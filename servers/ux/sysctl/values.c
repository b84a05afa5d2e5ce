/* SPDX-License-Identifier: MIT */
/*
 * The table of names, and the values that the server or the kernel knows.  Guarded by the server's
 * lock.
 */
#include <mach/host_info.h>
#include <mach/pc_sample.h>
#include <mach/processor_info.h>
#include <mach/prof.h>
#include <mach/vm_statistics.h>
#include <sys/time.h>
#include <sys/ux.h>

#include "sysctl/gmon.h"
#include "sysctl/meter.h"
#include "sysctl/model.h"
#include "sysctl/sysctl.h"

#define TICKS_PER_SECOND   100 /* The scheduler's: MICROS_PER_TICK apart. */
#define MICROS_PER_SECOND  1000000
#define LITTLE_ENDIAN_MARK 1234

/* Behind the version, as that of a kernel has it which was built to be profiled. */
#define PROFILED " PROFILE"

static char values_host_name[HOST_NAME_ROOM] = "assay";

/* Where a value is that has no place of its own. */
static union {
	int number;
	struct clockinfo clocks;
	struct loadavg load;
	struct timeval time;
	new_kernel_version_t version;
} values_room;

/* ---------------- Of each type ---------------- */

static int values_give(const void *data, size_t size, struct sysctl_value *value)
{
	*value = (struct sysctl_value){data, size};
	return 0;
}

static int values_give_int(int number, struct sysctl_value *value)
{
	values_room.number = number;
	return values_give(&values_room.number, sizeof values_room.number, value);
}

static int values_string(uintptr_t argument, struct sysctl_value *value)
{
	const char *string = (const char *)argument;

	return values_give(string, strlen(string) + 1, value);
}

static int values_constant(uintptr_t argument, struct sysctl_value *value)
{
	return values_give_int((int)argument, value);
}

/* ---------------- The kernel's ---------------- */

static int values_version(uintptr_t argument, struct sysctl_value *value)
{
	mach_port_t host = mach_host_self();
	kern_return_t result = host_get_kernel_version(host, values_room.version);

	(void)argument;
	syscall_mach_port_deallocate(mach_task_self_cached(), host);
	if (result != KERN_SUCCESS)
		return EIO;
	if (_gmonparam.state == GMON_PROF_ON)
		memcpy(values_room.version + strlen(values_room.version), PROFILED,
		       sizeof PROFILED);
	return values_string((uintptr_t)values_room.version, value);
}

static int values_model(uintptr_t argument, struct sysctl_value *value)
{
	static char text[MODEL_ROOM];

	(void)argument;
	model_describe(text, model_cpuid);
	return values_string((uintptr_t)text, value);
}

/* `argument` is the place of an integer in struct host_basic_info. */
static int values_of_host(uintptr_t argument, struct sysctl_value *value)
{
	struct host_basic_info info;
	mach_msg_type_number_t count = HOST_BASIC_INFO_COUNT;
	mach_port_t host = mach_host_self();
	kern_return_t result = host_info(host, HOST_BASIC_INFO, (host_info_t)&info, &count);

	syscall_mach_port_deallocate(mach_task_self_cached(), host);
	if (result != KERN_SUCCESS)
		return EIO;
	return values_give_int(*(int *)((char *)&info + argument), value);
}

static int values_load(uintptr_t argument, struct sysctl_value *value)
{
	struct host_load_info info;
	mach_msg_type_number_t count = HOST_LOAD_INFO_COUNT;
	mach_port_t host = mach_host_self();
	kern_return_t result = host_info(host, HOST_LOAD_INFO, (host_info_t)&info, &count);

	(void)argument;
	syscall_mach_port_deallocate(mach_task_self_cached(), host);
	if (result != KERN_SUCCESS)
		return EIO;
	values_room.load.fscale = LOAD_SCALE;
	for (int n = 0; n < 3; n++)
		values_room.load.ldavg[n] = (uint32_t)info.avenrun[n];
	return values_give(&values_room.load, sizeof values_room.load, value);
}

/* `argument` is the place of a count in struct vm_statistics. */
static int values_of_memory(uintptr_t argument, struct sysctl_value *value)
{
	struct vm_statistics statistics;

	if (vm_statistics(mach_task_self_cached(), &statistics) != KERN_SUCCESS)
		return EIO;
	return values_give_int(*(int *)((char *)&statistics + argument), value);
}

static int values_user_memory(uintptr_t argument, struct sysctl_value *value)
{
	struct sysctl_value all, wired;
	int error = values_of_host(offsetof(struct host_basic_info, memory_size), &all);
	int bytes = values_room.number;

	(void)argument;
	if (error == 0)
		error = values_of_memory(offsetof(struct vm_statistics, wire_count), &wired);
	return error != 0 ? error : values_give_int(bytes - values_room.number * PAGE_SIZE, value);
}

/* ---------------- Times ---------------- */

static int values_clocks(uintptr_t argument, struct sysctl_value *value)
{
	(void)argument;
	values_room.clocks = (struct clockinfo){
		.hz = TICKS_PER_SECOND,
		.tick = MICROS_PER_SECOND / TICKS_PER_SECOND,
		.stathz = SAMPLE_RATE_DEFAULT,
		.profhz = SAMPLE_RATE_DEFAULT,
	};
	return values_give(&values_room.clocks, sizeof values_room.clocks, value);
}

/* The clock of the day has whole seconds. */
static int values_boot_time(uintptr_t argument, struct sysctl_value *value)
{
	uint64_t up = ux_now();

	(void)argument;
	divide(&up, NANOS_PER_SECOND);
	values_room.time = (struct timeval){.tv_sec = ux_seconds() - (time_t)up};
	return values_give(&values_room.time, sizeof values_room.time, value);
}

/* ---------------- What can be set ---------------- */

/* A name of at least a letter, with or without a zero at its end. */
static int values_set_host_name(uintptr_t argument, const char *data, size_t size)
{
	size_t length = 0;

	(void)argument;
	while (length < size && data[length] != '\0')
		length++;
	if (length == 0 || length >= HOST_NAME_ROOM || length + 1 < size)
		return EINVAL;
	memcpy(values_host_name, data, length);
	values_host_name[length] = '\0';
	return 0;
}

/* ---------------- The table ---------------- */

static int values_host_name_now(uintptr_t argument, struct sysctl_value *value)
{
	(void)argument;
	return values_string((uintptr_t)values_host_name, value);
}

static int values_processes(uintptr_t argument, struct sysctl_value *value)
{
	(void)argument;
	return values_give_int(ux_boot.processes != 0 ? (int)ux_boot.processes : UX_PROCESSES_MAX,
			       value);
}

#define NAME(text, type, ...)                                                            \
	{                                                                                \
		text, {__VA_ARGS__}, sizeof((int[]){__VA_ARGS__}) / sizeof(int), type, 0 \
	}
#define TEXT(path, group, number, text)                                                  \
	{                                                                                \
		.name = NAME(path, CTLTYPE_STRING, group, number), .get = values_string, \
		.argument = (uintptr_t)(text),                                           \
	}
#define NUMBER(path, group, number, constant)                                           \
	{                                                                               \
		.name = NAME(path, CTLTYPE_INT, group, number), .get = values_constant, \
		.argument = (uintptr_t)(constant),                                      \
	}
#define PLACE(path, group, number, getter, structure, member)                  \
	{                                                                      \
		.name = NAME(path, CTLTYPE_INT, group, number), .get = getter, \
		.argument = offsetof(structure, member),                       \
	}
#define MEMORY(path, number, member) \
	PLACE(path, CTL_VM, number, values_of_memory, struct vm_statistics, member)
#define HOST(path, number, member) \
	PLACE(path, CTL_HW, number, values_of_host, struct host_basic_info, member)

#define PROF(path, type, what, setter)                                                \
	{                                                                             \
		.name = NAME(path, type, CTL_KERN, KERN_PROF, what), .get = gmon_get, \
		.set = setter, .argument = (what),                                    \
	}

const struct sysctl_entry sysctl_entries[] = {
	TEXT("kern.ostype", CTL_KERN, KERN_OSTYPE, "Assay"),
	TEXT("kern.osrelease", CTL_KERN, KERN_OSRELEASE, "1"),
	NUMBER("kern.osrevision", CTL_KERN, KERN_OSREV, 1),
	{.name = NAME("kern.version", CTLTYPE_STRING, CTL_KERN, KERN_VERSION),
	 .get = values_version},
	{.name = NAME("kern.maxproc", CTLTYPE_INT, CTL_KERN, KERN_MAXPROC),
	 .get = values_processes},
	NUMBER("kern.argmax", CTL_KERN, KERN_ARGMAX, UX_ARGUMENTS_MAX),
	{.name = NAME("kern.hostname", CTLTYPE_STRING, CTL_KERN, KERN_HOSTNAME),
	 .get = values_host_name_now,
	 .set = values_set_host_name},
	{.name = NAME("kern.clockrate", CTLTYPE_STRUCT, CTL_KERN, KERN_CLOCKRATE),
	 .get = values_clocks},
	PROF("kern.prof.state", CTLTYPE_INT, GPROF_STATE, gmon_set),
	PROF("kern.prof.count", CTLTYPE_STRUCT, GPROF_COUNT, gmon_set),
	PROF("kern.prof.froms", CTLTYPE_STRUCT, GPROF_FROMS, gmon_set),
	PROF("kern.prof.tos", CTLTYPE_STRUCT, GPROF_TOS, gmon_set),
	PROF("kern.prof.gmonparam", CTLTYPE_STRUCT, GPROF_GMONPARAM, NULL),
	PROF("kern.prof.ticks", CTLTYPE_STRUCT, GPROF_TICKS, NULL),
	PROF("kern.prof.account", CTLTYPE_STRUCT, GPROF_ACCOUNT, NULL),
	{.name = NAME("kern.prof.processes", CTLTYPE_STRUCT, CTL_KERN, KERN_PROF, GPROF_PROCESSES),
	 .get = gmon_processes_get,
	 .set = gmon_processes_set},
	{.name = NAME("kern.prof.process", CTLTYPE_NODE, CTL_KERN, KERN_PROF, GPROF_PROCESS),
	 .is_secret = true,
	 .is_made = true,
	 .get = gmon_process_get},
	NUMBER("kern.ngroups", CTL_KERN, KERN_NGROUPS, UX_GROUPS_MAX),
	NUMBER("kern.saved_ids", CTL_KERN, KERN_SAVED_IDS, 1),
	{.name = NAME("kern.boottime", CTLTYPE_STRUCT, CTL_KERN, KERN_BOOTTIME),
	 .get = values_boot_time},

	{.name = NAME("vm.meter", CTLTYPE_STRUCT, CTL_VM, VM_METER), .get = meter_get},
	{.name = NAME("vm.loadavg", CTLTYPE_STRUCT, CTL_VM, VM_LOADAVG), .get = values_load},
	MEMORY("vm.free", VM_FREE, free_count),
	MEMORY("vm.active", VM_ACTIVE, active_count),
	MEMORY("vm.inactive", VM_INACTIVE, inactive_count),
	MEMORY("vm.wired", VM_WIRED, wire_count),
	MEMORY("vm.faults", VM_FAULTS, faults),
	MEMORY("vm.zero_fill", VM_ZERO_FILL, zero_fill_count),
	MEMORY("vm.pageins", VM_PAGEINS, pageins),
	MEMORY("vm.cow_faults", VM_COW_FAULTS, cow_faults),
	MEMORY("vm.reactivations", VM_REACTIVATIONS, reactivations),
	MEMORY("vm.pageouts", VM_PAGEOUTS, pageouts),

	TEXT("hw.machine", CTL_HW, HW_MACHINE, "i386"),
	{.name = NAME("hw.model", CTLTYPE_STRING, CTL_HW, HW_MODEL), .get = values_model},
	HOST("hw.ncpu", HW_NCPU, avail_cpus),
	NUMBER("hw.byteorder", CTL_HW, HW_BYTEORDER, LITTLE_ENDIAN_MARK),
	HOST("hw.physmem", HW_PHYSMEM, memory_size),
	{.name = NAME("hw.usermem", CTLTYPE_INT, CTL_HW, HW_USERMEM), .get = values_user_memory},
	NUMBER("hw.pagesize", CTL_HW, HW_PAGESIZE, PAGE_SIZE),
};

const size_t sysctl_n_entries = sizeof sysctl_entries / sizeof sysctl_entries[0];
