/* SPDX-License-Identifier: MIT */
/*
 * The root's file system: mounting it, writing back what was changed, unmounting it.
 *
 * Owns the one file system that there is, from fs_mount_root() on, and the thread that writes back
 * about every second.
 */
#include "fs/ext2.h"

#define WRITE_BACK_INTERVAL 1000000000ull /* Nanoseconds. */
#define COMPLAINTS_MAX      50            /* Damage told of; who has seen so many has seen it. */

static struct file_system *root_file_system;

/* ---------------- Mounting ---------------- */

static int mount_root_directory(struct file_system *fs)
{
	int error = vnode_get(fs, EXT2_ROOT, &fs->root);

	if (error != 0 || S_ISDIR(fs->root->mode))
		return error;
	return damaged(fs, "the root is no directory, but has the mode %#o", fs->root->mode);
}

static int mount_open_all(struct file_system *fs, size_t cache_size)
{
	int error = super_open(fs, cache_size);

	if (error == 0)
		error = change_open(fs);
	if (error == 0)
		error = mount_root_directory(fs);
	if (error == 0)
		error = super_begin(fs);
	return error;
}

void fs_discard(struct file_system *fs)
{
	if (fs->root != NULL)
		vnode_release(fs->root);
	if (fs->cache.buffers != NULL)
		cache_close(&fs->cache);
	change_close(fs);
	block_device_close(&fs->device);
	ux_free(fs->group_buffers);
	ux_free(fs);
}

int fs_mount(mach_port_t master, const char *name, size_t cache_size, struct file_system **mounted)
{
	struct file_system *fs = ux_allocate(sizeof *fs);
	int error;

	assert(ux_lock_held());
	if (fs == NULL)
		return ENOMEM;
	for (unsigned i = 0; i < VNODE_CHAINS; i++)
		list_init(&fs->nodes[i]);
	error = block_device_open(&fs->device, master, name);
	if (error != 0) {
		ux_free(fs);
		return error;
	}
	error = mount_open_all(fs, cache_size);
	if (error != 0) {
		fs_discard(fs);
		return error;
	}
	fs->is_mounted = true;
	fs->cache.owner = fs;
	fs->cache.written = vnodes_note_written;
	*mounted = fs;
	return 0;
}

bool fs_note_damage(struct file_system *fs)
{
	if (fs->is_mounted && !fs->is_read_only && (fs->super->state & EXT2_STATE_ERROR) == 0) {
		fs->super->state |= EXT2_STATE_ERROR;
		super_change(fs);
	}
	return fs->complaints++ < COMPLAINTS_MAX;
}

/* ---------------- Writing back ---------------- */

/* All that was changed goes to the device; errors are left for who asks for them. */
static int mount_write_back(struct file_system *fs)
{
	int error = vnodes_write(fs);

	change_commit(fs);
	return error;
}

static void mount_write_back_for_ever(void *argument)
{
	struct file_system *fs = argument;

	ux_lock();
	for (;;) {
		ux_sleep_until(&fs->is_mounted, ux_now() + WRITE_BACK_INTERVAL);
		if (fs->is_mounted)
			mount_write_back(fs);
	}
}

int fs_sync(void)
{
	struct file_system *fs = root_file_system;
	int error = mount_write_back(fs);
	int write_error = cache_take_error(&fs->cache);

	return error != 0 ? error : write_error;
}

/* A file is not there without its names and all that leads to them: everything goes. */
int vnode_sync(struct vnode *vnode, unsigned *seen)
{
	unsigned before = *seen;
	int error = mount_write_back(vnode->file_system);

	assert(vnode->file_system == root_file_system);
	*seen = vnode_write_errors(vnode);
	numbers_remove(&vnode->file_system->untold, vnode->number);
	return *seen != before ? EIO : error;
}

/* ---------------- The root ---------------- */

int fs_mount_root(mach_port_t device_master, const char *name)
{
	int error = fs_mount(device_master, name, block_device_cache_size(), &root_file_system);

	if (error != 0)
		return error;
	return ux_start_thread(mount_write_back_for_ever, root_file_system) ? 0 : EAGAIN;
}

struct vnode *fs_root(void)
{
	return vnode_reference(root_file_system->root);
}

unsigned fs_free_percent(void)
{
	const struct ext2_super *super = root_file_system->super;
	uint32_t hundredth = super->n_blocks / 100, reserved = super->n_reserved_blocks;

	if (super->n_free_blocks <= reserved || hundredth == 0)
		return 0;
	return (super->n_free_blocks - reserved) / hundredth;
}

/* Beside the bytes, indirect blocks that the way to them may need. */
void fs_keep_room(const struct vnode *vnode, size_t bytes)
{
	struct file_system *fs = root_file_system;

	assert(ux_lock_held() && (vnode == NULL || vnode->file_system == fs));
	fs->keeper = vnode;
	fs->kept_blocks = vnode == NULL ? 0 : (bytes >> fs->block_shift) + 2 * EXT2_LEVELS;
}

bool fs_kept_room_is_used(void)
{
	return root_file_system->super->n_free_blocks < root_file_system->kept_blocks;
}

void fs_unmount(void)
{
	struct file_system *fs = root_file_system;

	vnodes_delete_orphans(fs);
	mount_write_back(fs);
	super_end(fs);
	cache_write(&fs->cache, CACHE_LOOSE);
	fs->is_mounted = false;
}
