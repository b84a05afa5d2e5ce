/* SPDX-License-Identifier: MIT */
/* What the server's parts call, on the host (server.h). */
#include "server.h"

#include <stdarg.h>
#include <stdlib.h>

#include "fs/block_device.h"
#include "fs/ext2.h"
#include "paging/paging.h"
#include "trace/trace.h"

#define RECORD 512u

time_t host_seconds = 1000000000;
size_t host_cache_size = 1 << 20;
bool host_log_is_shown;
unsigned host_log_lines;
char host_log_line[256];
struct vnode *host_changed_vnode;
off_t host_changed_offset, host_changed_size;
unsigned host_changes, host_forgets;
_Thread_local uint32_t host_served;
bool host_all_are_gone;
unsigned host_requests_for[HOST_CLIENTS], host_blocks_for[HOST_CLIENTS];

const struct credentials host_root = {.n_groups = 0};
const struct credentials host_user = {.uid = 7, .euid = 7, .suid = 7, .gid = 8, .egid = 8};

/* ---------------- The server ---------------- */

void ux_lock(void)
{
	host_lock();
}

void ux_unlock(void)
{
	host_unlock();
}

bool ux_lock_held(void)
{
	return host_lock_held();
}

int ux_sleep(const void *channel, struct thread *thread)
{
	(void)thread;
	assert(ux_lock_held());
	if (!host_wait(channel))
		ux_panic(__FILE__, __LINE__, "everybody waits");
	return 0;
}

int ux_sleep_until(const void *channel, uint64_t deadline)
{
	(void)deadline;
	return ux_sleep(channel, NULL);
}

void ux_wakeup(const void *channel)
{
	host_wake(channel);
}

uint64_t ux_now(void)
{
	static uint64_t now;

	return ++now;
}

time_t ux_seconds(void)
{
	return host_seconds;
}

void *ux_allocate(size_t size)
{
	return calloc(1, size);
}

void ux_free(void *memory)
{
	free(memory);
}

void *ux_allocate_pages(size_t size)
{
	return calloc(1, size);
}

void ux_free_pages(void *memory, size_t size)
{
	(void)size;
	free(memory);
}

/* No thread writes back by itself here: a test knows what is on the device. */
bool ux_start_thread(void (*run)(void *), void *argument)
{
	return run != NULL && argument != NULL;
}

void ux_log(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	format_list(host_log_line, sizeof host_log_line, format, arguments);
	va_end(arguments);
	host_log_lines++;
	if (host_log_is_shown)
		print("# %s\n", host_log_line);
}

size_t format(char *buffer, size_t room, const char *format, ...)
{
	va_list arguments;
	size_t length;

	va_start(arguments, format);
	length = format_list(buffer, room, format, arguments);
	va_end(arguments);
	return length;
}

void ux_panic(const char *file, int line, const char *what)
{
	print("# %s:%d: %s\n", file, line, what);
	abort();
}

void paging_changed(struct vnode *vnode, off_t offset, off_t size)
{
	host_changed_vnode = vnode;
	host_changed_offset = offset;
	host_changed_size = size;
	host_changes++;
}

void paging_forget(struct vnode *vnode)
{
	host_forgets++;
	vnode->object = NULL;
	vnode_release(vnode);
}

/* Nobody is. */
void trace_path(struct process *process, const char *path)
{
	(void)process;
	(void)path;
	abort();
}

bool is_in_group(const struct credentials *credentials, gid_t group)
{
	for (unsigned i = 0; i < credentials->n_groups; i++) {
		if (credentials->groups[i] == group)
			return true;
	}
	return credentials->egid == group;
}

/* ---------------- For whom ---------------- */

uint32_t served_now(void)
{
	return host_served;
}

bool served_nobody(void)
{
	return host_served == 0;
}

uint32_t served_living(uint32_t whom)
{
	return host_all_are_gone ? 0 : whom;
}

void served_begin(uint32_t whom)
{
	assert(ux_lock_held() && served_nobody());
	host_served = served_living(whom);
}

void served_end(void)
{
	host_served = 0;
}

/* ---------------- The device ---------------- */

int block_device_open(struct block_device *device, mach_port_t master, const char *name)
{
	*device = (struct block_device){.port = master, .record_size = RECORD};
	memcpy(device->name, name, strlen(name) + 1);
	device->records = (uint32_t)(image_size / RECORD);
	device->block_size = 1024;
	return 0;
}

void block_device_close(struct block_device *device)
{
	device->port = MACH_PORT_NULL;
}

bool block_device_set_block_size(struct block_device *device, uint32_t size)
{
	device->block_size = size;
	return true;
}

uint64_t block_device_size(const struct block_device *device)
{
	return (uint64_t)device->records * device->record_size;
}

/* Whoever waits for the device has not the lock, and asks for nothing beyond its end. */
static void check_request(const struct block_device *device, uint32_t first, uint32_t count)
{
	assert(!ux_lock_held() && count > 0);
	assert(((uint64_t)first + count) * device->block_size <= block_device_size(device));
	host_yield();
}

int block_device_read(const struct block_device *device, uint32_t first, uint32_t count,
		      void *const places[])
{
	size_t size = device->block_size;

	check_request(device, first, count);
	__atomic_add_fetch(&image_reads, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&image_blocks_read, count, __ATOMIC_RELAXED);
	for (uint32_t i = 0; i < count; i++) {
		if (!image_read((size_t)(first + i) * size, size, places[i]))
			return EIO;
	}
	return 0;
}

int block_device_write(const struct block_device *device, uint32_t first, uint32_t count,
		       const void *data)
{
	size_t size = device->block_size;

	check_request(device, first, count);
	__atomic_add_fetch(&image_writes, 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&image_blocks_written, count, __ATOMIC_RELAXED);
	__atomic_add_fetch(&host_requests_for[host_served], 1, __ATOMIC_RELAXED);
	__atomic_add_fetch(&host_blocks_for[host_served], count, __ATOMIC_RELAXED);
	if (image_is_read_only)
		return EROFS;
	return image_write(first * size, count * size, data) ? 0 : EIO;
}

size_t block_device_cache_size(void)
{
	return host_cache_size;
}

/* ---------------- Mounting ---------------- */

int host_mount(void)
{
	int error;

	ux_lock();
	error = fs_mount_root(1, "image");
	if (error != 0)
		ux_unlock();
	return error;
}

bool host_mount_new(const char *options, unsigned kib)
{
	if (!EXPECT(image_make(options, kib)))
		return false;
	return EXPECT_EQ(host_mount(), 0);
}

void host_unmount_unchecked(void)
{
	struct vnode *root = fs_root();
	struct file_system *fs = root->file_system;

	vnode_release(root);
	fs_unmount();
	fs_discard(fs);
	ux_unlock();
}

void host_unmount(void)
{
	host_unmount_unchecked();
	EXPECT(image_is_clean());
}

uint32_t host_random(uint32_t *state, uint32_t n)
{
	*state ^= *state << 13;
	*state ^= *state >> 17;
	*state ^= *state << 5;
	return (uint32_t)((uint64_t)*state * n >> 32);
}
