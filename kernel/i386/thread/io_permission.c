/* SPDX-License-Identifier: MIT */
/* I/O ports for user mode: see io_permission.h.  Guarded by the kernel lock. */
#include "i386/thread/io_permission.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/string.h"
#include "base/zone.h"
#include "i386/mmu/pmap.h"
#include "i386/thread/extra.h"
#include "ipc/port.h"
#include "mach/mach_i386_server.h"
#include "task/task.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/map.h"

#define BITMAP_BYTES (IO_PORTS / 8)
#define HALF_BYTES   (BITMAP_BYTES / 2)

/* A task's map as the CPU wants it: a bit for each port, 1 where it is forbidden; in two halves. */
struct io_permissions {
	uint8_t *half[2];
};

static struct zone permissions_zone, half_zone;

void io_permissions_module_init(void)
{
	zone_init(&permissions_zone, "I/O permissions", sizeof(struct io_permissions), 4);
	zone_init(&half_zone, "I/O bitmaps", HALF_BYTES, 4);
}

/* ---------------- A task's bitmap ---------------- */

void io_permissions_free(struct io_permissions *io)
{
	if (io == NULL)
		return;
	for (uint32_t n = 0; n < n_cpus; n++)
		if (cpus[n].machine.io_kept == io)
			cpus[n].machine.io_kept = NULL;
	for (unsigned n = 0; n < 2; n++)
		if (io->half[n] != NULL)
			zone_free(&half_zone, io->half[n]);
	zone_free(&permissions_zone, io);
}

/* Permissions for no port at all; NULL when there is no memory. */
static struct io_permissions *permissions_create(void)
{
	struct io_permissions *io = zone_alloc(&permissions_zone);

	if (io == NULL)
		return NULL;
	*io = (struct io_permissions){{NULL, NULL}};
	for (unsigned n = 0; n < 2; n++) {
		io->half[n] = zone_alloc(&half_zone);
		if (io->half[n] == NULL) {
			io_permissions_free(io);
			return NULL;
		}
		memset(io->half[n], 0xff, HALF_BYTES);
	}
	return io;
}

/* NULL also for a task whose memory is gone, and whose last threads are on their way out. */
static struct io_permissions *permissions_of(const struct task *task)
{
	return task->map != NULL && task->map->active ? task->map->pmap->io : NULL;
}

void io_permissions_show(const struct thread *thread, uint8_t *bits, uint32_t bytes)
{
	const struct io_permissions *io = permissions_of(thread->task);

	assert(bytes <= HALF_BYTES);
	if (io == NULL)
		memset(bits, 0xff, bytes);
	else
		memcpy(bits, io->half[0], bytes);
}

static void io_permission_change(struct io_permissions *io, uint32_t from, uint32_t to, bool enable)
{
	for (uint32_t port = from; port <= to; port++) {
		uint8_t *byte = &io->half[port / 8 / HALF_BYTES][port / 8 % HALF_BYTES];
		uint8_t bit = (uint8_t)(1u << port % 8);

		*byte = (uint8_t)(enable ? *byte & ~bit : *byte | bit);
		pause_each();
	}
}

/* ---------------- CPUs ---------------- */

static void io_permission_copy_to_cpu(struct cpu *cpu, const struct io_permissions *io)
{
	memcpy(cpu->machine.io_bitmap, io->half[0], HALF_BYTES);
	memcpy(cpu->machine.io_bitmap + HALF_BYTES, io->half[1], HALF_BYTES);
	cpu->machine.io_bitmap[BITMAP_BYTES] = 0xff;
	cpu->machine.io_kept = io;
}

/* The CPU keeps the last bitmap: mostly it is the only one that comes back. */
void io_permissions_load(struct cpu *cpu, const struct thread *thread)
{
	const struct io_permissions *io = thread != NULL ? permissions_of(thread->task) : NULL;

	cpu->machine.tss.io_map = TSS_NO_PORTS;
	if (io != NULL) {
		if (cpu->machine.io_kept != io)
			io_permission_copy_to_cpu(cpu, io);
		cpu->machine.tss.io_map = sizeof(struct tss);
	}
}

bool io_permissions_fault(struct thread *thread)
{
	struct thread_extra *extra;

	if (permissions_of(thread->task) == NULL)
		return false;
	extra = extra_of(thread);
	if (extra == NULL || extra->uses_ports)
		return false;
	extra->uses_ports = true;
	extra_load(cpu_self(), thread);
	return true;
}

/*
 * Threads of the task may be in user mode on other CPUs with the bitmap loaded.  A CPU reads it
 * with each instruction, so what is written there holds at once.
 */
static void io_permission_update_cpus(const struct io_permissions *io)
{
	for (uint32_t n = 0; n < n_cpus; n++)
		if (cpus[n].machine.io_kept == io)
			io_permission_copy_to_cpu(&cpus[n], io);
}

/* ---------------- Routines ---------------- */

static uint32_t io_permission_range_first(const struct port *io_perm)
{
	return (uint16_t)(uint32_t)io_perm->object;
}

static uint32_t io_permission_range_last(const struct port *io_perm)
{
	return (uint32_t)io_perm->object >> 16;
}

/*
 * The right to the master port, which the request was sent to, stays the dispatcher's.  *io_perm is
 * a send right for the caller, and the last of its kind takes the port with it (port_release_send).
 */
kern_return_t i386_io_perm_create(ipc_port_t master_port, io_port_t from, io_port_t to,
				  ipc_port_t *io_perm)
{
	struct port *port;

	if (!port_is_valid(master_port) || master_port->kind != OBJECT_DEVICE_MASTER || from > to)
		return KERN_INVALID_ARGUMENT;
	port = port_create(OBJECT_IO_PERM, (void *)((uint32_t)to << 16 | from), NULL);
	if (port == NULL)
		return KERN_RESOURCE_SHORTAGE;
	*io_perm = port_make_send(port);
	return KERN_SUCCESS;
}

/* Takes the right to `io_perm` when it succeeds. */
kern_return_t i386_io_perm_modify(struct task *task, ipc_port_t io_perm, boolean_t enable)
{
	struct pmap *pmap;

	if (task == NULL || task->map == NULL || !task->map->active || !port_is_valid(io_perm) ||
	    io_perm->kind != OBJECT_IO_PERM)
		return KERN_INVALID_ARGUMENT;
	pmap = task->map->pmap;
	if (pmap->io == NULL && enable)
		pmap->io = permissions_create();
	if (pmap->io == NULL && enable)
		return KERN_RESOURCE_SHORTAGE;
	if (pmap->io != NULL) {
		io_permission_change(pmap->io, io_permission_range_first(io_perm),
				     io_permission_range_last(io_perm), enable);
		io_permission_update_cpus(pmap->io);
	}
	port_release_send(io_perm);
	return KERN_SUCCESS;
}
