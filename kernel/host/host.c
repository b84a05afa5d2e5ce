/* SPDX-License-Identifier: MIT */
/* The host: see host.h.  Routines of defs/mach/mach_host.defs.  Guarded by the kernel lock. */
#include "host/host.h"

#include <mach/mach_types.h>

#include "base/assert.h"
#include "base/machine.h"
#include "base/string.h"
#include "ipc/port.h"
#include "mach/mach_host_server.h"
#include "thread/load.h"
#include "vm/page/page.h"

/* Bits of host_reboot()'s options. */
#define REBOOT_HALT 0x08 /* Stand still instead of starting again. */

#define MS_PER_TICK (1000 / TICK_HZ)

static const char version[] = "Assay 0.3: a kernel that samples, Mach 3.0 for i386";

struct host the_host;

/* Bytes of memory that the kernel uses. */
static uint32_t host_memory_size(void)
{
	return page_count_all() * PAGE_SIZE;
}

static struct port *host_port_of(enum object_kind kind, void *object)
{
	struct port *port = port_create(kind, object, NULL);

	if (port == NULL)
		panic("no memory for the ports of the host");
	return port;
}

void host_module_init(void)
{
	the_host.port = host_port_of(OBJECT_HOST, &the_host);
	the_host.priv_port = host_port_of(OBJECT_HOST_PRIV, &the_host);
	the_host.device_port = host_port_of(OBJECT_DEVICE_MASTER, &the_host);
	default_set.port = host_port_of(OBJECT_PSET, &default_set);
	default_set.name_port = host_port_of(OBJECT_PSET_NAME, &default_set);
	for (uint32_t n = 0; n < MAX_CPUS; n++)
		processors[n].port = host_port_of(OBJECT_PROCESSOR, &processors[n]);
}

/* ---------------- What there is ---------------- */

kern_return_t host_give_info(integer_t *out, mach_msg_type_number_t *count, const void *info,
			     uint32_t words)
{
	if (*count < words)
		return KERN_FAILURE;
	memcpy(out, info, words * sizeof *out);
	*count = words;
	return KERN_SUCCESS;
}

static kern_return_t host_info_basic(host_info_t out, mach_msg_type_number_t *count)
{
	struct host_basic_info info = {
		.max_cpus = MAX_CPUS,
		.avail_cpus = (integer_t)n_cpus,
		.memory_size = host_memory_size(),
		.cpu_type = PROCESSOR_TYPE,
		.cpu_subtype = CPU_SUBTYPE_AT386,
	};

	return host_give_info(out, count, &info, HOST_BASIC_INFO_COUNT);
}

static kern_return_t host_processor_slots(host_info_t out, mach_msg_type_number_t *count)
{
	if (*count < MAX_CPUS)
		return KERN_INVALID_ARGUMENT;
	for (uint32_t n = 0; n < n_cpus; n++)
		out[n] = (integer_t)n;
	*count = n_cpus;
	return KERN_SUCCESS;
}

static kern_return_t host_info_sched(host_info_t out, mach_msg_type_number_t *count)
{
	struct host_sched_info info = {
		.min_timeout = MS_PER_TICK,
		.min_quantum = MS_PER_TICK * QUANTUM,
	};

	return host_give_info(out, count, &info, HOST_SCHED_INFO_COUNT);
}

static kern_return_t host_load_info(host_info_t out, mach_msg_type_number_t *count)
{
	struct host_load_info info;

	load_read(&info);
	return host_give_info(out, count, &info, HOST_LOAD_INFO_COUNT);
}

kern_return_t host_info(host_t host, int flavor, host_info_t out, mach_msg_type_number_t *count)
{
	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	switch (flavor) {
	case HOST_BASIC_INFO:
		return host_info_basic(out, count);
	case HOST_PROCESSOR_SLOTS:
		return host_processor_slots(out, count);
	case HOST_SCHED_INFO:
		return host_info_sched(out, count);
	case HOST_LOAD_INFO:
		return host_load_info(out, count);
	default:
		return KERN_INVALID_ARGUMENT;
	}
}

/* The whole array is sent: what is behind the string is cleared. */
static kern_return_t host_give_version(host_t host, char out[KERNEL_VERSION_MAX])
{
	if (host == NULL)
		return KERN_INVALID_ARGUMENT;
	memset(out, 0, KERNEL_VERSION_MAX);
	memcpy(out, version, sizeof version);
	return KERN_SUCCESS;
}

kern_return_t host_kernel_version(host_t host, kernel_version_t out)
{
	return host_give_version(host, out);
}

kern_return_t host_get_kernel_version(host_t host, new_kernel_version_t out)
{
	return host_give_version(host, out);
}

/* ---------------- The machine ---------------- */

kern_return_t host_reboot(host_t host, int options)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if ((options & REBOOT_HALT) != 0)
		machine_exit(0);
	machine_reboot();
}
