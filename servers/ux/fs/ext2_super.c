/* SPDX-License-Identifier: MIT */
/*
 * The superblock and the descriptors of the groups: checked when the file system is mounted, and
 * then kept in the cache, where they are the only ones.
 *
 * Every field that others lean on is checked here: after super_open() sizes and counts fit together
 * and the groups' own blocks lie within their groups, whatever the device said.
 */
#include "fs/ext2.h"

#define BLOCK_SHIFT_LEAST 10u
#define BLOCK_SHIFT_MOST  12u
#define INODE_SIZE_LEAST  128u
#define INODE_SIZE_MOST   256u
#define FIRST_INODE       11u          /* Of file systems that do not say. */
#define FILE_SIZE_MOST    (1ull << 41) /* Sectors are counted by 32 bits. */

static int super_refuse(const struct file_system *fs, const char *why)
{
	ux_log("%s: not mounted: %s", fs->device.name, why);
	return EINVAL;
}

static int super_refuse_features(const struct file_system *fs, uint32_t incompatible,
				 uint32_t read_only)
{
	ux_log("%s: not mounted: it has features that we do not know (%#x, %#x)", fs->device.name,
	       incompatible, read_only);
	return EINVAL;
}

static int super_check_features(struct file_system *fs, const struct ext2_super *super)
{
	uint32_t incompatible = super->incompatible & ~EXT2_INCOMPATIBLE_TYPES;
	uint32_t read_only =
		super->read_only & ~(EXT2_READ_ONLY_SPARSE_SUPER | EXT2_READ_ONLY_LARGE_FILE);

	fs->inode_size = INODE_SIZE_LEAST;
	fs->first_inode = FIRST_INODE;
	if (super->revision == 0)
		return 0;
	if (incompatible != 0 || read_only != 0)
		return super_refuse_features(fs, incompatible, read_only);
	fs->has_types = (super->incompatible & EXT2_INCOMPATIBLE_TYPES) != 0;
	fs->has_sparse_super = (super->read_only & EXT2_READ_ONLY_SPARSE_SUPER) != 0;
	fs->inode_size = super->inode_size;
	fs->first_inode = super->first_inode;
	if (fs->inode_size != INODE_SIZE_LEAST && fs->inode_size != INODE_SIZE_MOST)
		return super_refuse(fs, "its inodes have an odd size");
	if (fs->first_inode < FIRST_INODE)
		return super_refuse(fs, "its first inode is a reserved one");
	return 0;
}

static int super_check_blocks(struct file_system *fs, const struct ext2_super *super)
{
	fs->block_shift = BLOCK_SHIFT_LEAST + super->log_block_size;
	fs->block_size = 1u << fs->block_shift;
	fs->n_blocks = super->n_blocks;
	fs->first_data_block = super->first_data_block;
	fs->blocks_per_group = super->blocks_per_group;
	if (fs->first_data_block != (fs->block_shift == BLOCK_SHIFT_LEAST ? 1 : 0))
		return super_refuse(fs, "its first block is at an odd place");
	if (fs->n_blocks <= fs->first_data_block + 1 ||
	    (uint64_t)fs->n_blocks << fs->block_shift > block_device_size(&fs->device))
		return super_refuse(fs, "it does not fit onto its device");
	if (fs->blocks_per_group < 8 || fs->blocks_per_group > fs->block_size * 8)
		return super_refuse(fs, "its groups have an odd size");
	fs->n_groups = (fs->n_blocks - fs->first_data_block - 1) / fs->blocks_per_group + 1;
	return 0;
}

static int super_check_inodes(struct file_system *fs, const struct ext2_super *super)
{
	uint32_t inodes_per_block = fs->block_size / fs->inode_size;

	fs->n_inodes = super->n_inodes;
	fs->inodes_per_group = super->inodes_per_group;
	if (fs->inodes_per_group == 0 || fs->inodes_per_group > fs->block_size * 8 ||
	    fs->n_inodes != (uint64_t)fs->inodes_per_group * fs->n_groups ||
	    fs->n_inodes < fs->first_inode)
		return super_refuse(fs, "its inodes do not fit into its groups");
	fs->table_blocks = (fs->inodes_per_group + inodes_per_block - 1) / inodes_per_block;
	if (super->n_free_blocks > fs->n_blocks || super->n_free_inodes > fs->n_inodes)
		return super_refuse(fs, "it has more free than there is");
	return 0;
}

/* Reads the superblock before there is a cache, and with it the size of blocks. */
static int super_read_shape(struct file_system *fs, struct ext2_super *super)
{
	void *places[] = {super};
	int error;

	ux_unlock();
	error = block_device_read(&fs->device, 1, 1, places);
	ux_lock();
	if (error != 0)
		return error;
	if (super->magic != EXT2_MAGIC)
		return super_refuse(fs, "it is no ext2");
	if (super->revision > 1 || super->log_block_size > BLOCK_SHIFT_MOST - BLOCK_SHIFT_LEAST)
		return super_refuse(fs, "its revision or its block size is none that we know");
	error = super_check_features(fs, super);
	if (error == 0)
		error = super_check_blocks(fs, super);
	if (error == 0)
		error = super_check_inodes(fs, super);
	if (error == 0 && !block_device_set_block_size(&fs->device, fs->block_size))
		error = super_refuse(fs, "the device has larger records");
	if (error == 0 && block_device_size(&fs->device) < EXT2_SUPER_OFFSET * 2)
		error = super_refuse(fs, "the device is too small");
	fs->size_max = (off_t)(blocks_max(fs->block_size) << fs->block_shift);
	if (fs->size_max > (off_t)FILE_SIZE_MOST)
		fs->size_max = (off_t)FILE_SIZE_MOST;
	return error;
}

/* ---------------- Groups ---------------- */

void group_change(struct file_system *fs, uint32_t group)
{
	cache_change(&fs->cache, fs->group_buffers[group >> (fs->block_shift - 5)], CACHE_LOOSE);
	super_change(fs);
}

void super_change(struct file_system *fs)
{
	assert(!fs->is_read_only);
	cache_change(&fs->cache, fs->super_buffer, CACHE_LOOSE);
}

bool super_may_use_reserved(const struct file_system *fs, const struct credentials *who)
{
	return who->euid == 0 || who->euid == fs->super->reserved_uid ||
	       (fs->super->reserved_gid != 0 && is_in_group(who, fs->super->reserved_gid));
}

uint32_t super_reserved_inodes(const struct file_system *fs)
{
	uint32_t blocks = fs->super->n_reserved_blocks;

	return blocks == 0 || blocks > fs->n_blocks ? 0 : fs->n_inodes / (fs->n_blocks / blocks);
}

uint32_t group_blocks(const struct file_system *fs, uint32_t group)
{
	uint32_t before = fs->first_data_block + group * fs->blocks_per_group;
	uint32_t left = fs->n_blocks - before;

	return left < fs->blocks_per_group ? left : fs->blocks_per_group;
}

static bool super_is_power_of(uint32_t number, uint32_t base)
{
	while (number % base == 0)
		number /= base;
	return number == 1;
}

/* Whether the group begins with a copy of superblock and descriptors. */
static bool super_has_super(const struct file_system *fs, uint32_t group)
{
	return !fs->has_sparse_super || group <= 1 || super_is_power_of(group, 3) ||
	       super_is_power_of(group, 5) || super_is_power_of(group, 7);
}

/* How many blocks at the beginning of a group files never have. */
static bool super_is_in_super(const struct file_system *fs, uint32_t group, uint32_t offset)
{
	return offset <= fs->n_group_buffers && super_has_super(fs, group);
}

bool is_data_block(const struct file_system *fs, uint32_t block)
{
	uint32_t group = (block - fs->first_data_block) / fs->blocks_per_group;
	uint32_t offset = (block - fs->first_data_block) % fs->blocks_per_group;
	const struct ext2_group *own;

	if (block < fs->first_data_block || block >= fs->n_blocks)
		return false;
	own = group_of(fs, group);
	return block != own->block_bitmap && block != own->inode_bitmap &&
	       block - own->inode_table >= fs->table_blocks &&
	       !super_is_in_super(fs, group, offset);
}

/* Whether blocks lie within a group, behind its copy of the superblock. */
static bool super_is_inside(const struct file_system *fs, uint32_t group, uint32_t block,
			    uint32_t count)
{
	uint32_t offset = block - (fs->first_data_block + group * fs->blocks_per_group);
	uint32_t blocks = group_blocks(fs, group);

	return offset < blocks && count <= blocks - offset && !super_is_in_super(fs, group, offset);
}

static bool super_is_sound_group(const struct file_system *fs, uint32_t group)
{
	const struct ext2_group *own = group_of(fs, group);

	return super_is_inside(fs, group, own->block_bitmap, 1) &&
	       super_is_inside(fs, group, own->inode_bitmap, 1) &&
	       super_is_inside(fs, group, own->inode_table, fs->table_blocks) &&
	       own->block_bitmap != own->inode_bitmap &&
	       own->block_bitmap - own->inode_table >= fs->table_blocks &&
	       own->inode_bitmap - own->inode_table >= fs->table_blocks &&
	       own->n_free_blocks <= group_blocks(fs, group) &&
	       own->n_free_inodes <= fs->inodes_per_group &&
	       own->n_directories <= fs->inodes_per_group;
}

static int super_check_groups(struct file_system *fs)
{
	for (uint32_t group = 0; group < fs->n_groups; group++) {
		if (!super_is_sound_group(fs, group)) {
			ux_log("%s: not mounted: the descriptor of group %u cannot be",
			       fs->device.name, group);
			return EINVAL;
		}
	}
	return 0;
}

/* A block that stays in the cache. */
static int super_keep(struct file_system *fs, uint32_t block, struct buffer **buffer)
{
	int error = cache_read(&fs->cache, block, 1, buffer);

	if (error == 0)
		(*buffer)->is_kept = true;
	return error;
}

static int super_keep_groups(struct file_system *fs)
{
	uint32_t first = fs->first_data_block + 1;
	int error = 0;

	fs->group_buffers = ux_allocate(fs->n_group_buffers * sizeof(struct buffer *));
	if (fs->group_buffers == NULL)
		return ENOMEM;
	for (uint32_t i = 0; error == 0 && i < fs->n_group_buffers; i++)
		error = super_keep(fs, first + i, &fs->group_buffers[i]);
	return error;
}

int super_open(struct file_system *fs, size_t cache_size)
{
	struct ext2_super shape;
	int error = super_read_shape(fs, &shape);

	if (error != 0)
		return error;
	fs->n_group_buffers = ((fs->n_groups - 1) >> (fs->block_shift - 5)) + 1;
	error = cache_open(&fs->cache, &fs->device, cache_size);
	if (error != 0)
		return error;
	if (fs->n_group_buffers > fs->cache.n_buffers / 4)
		return super_refuse(fs, "it is too large for the memory that there is");
	error = super_keep(fs, fs->first_data_block, &fs->super_buffer);
	if (error != 0)
		return error;
	fs->super = (struct ext2_super *)((char *)fs->super_buffer->data +
					  (fs->first_data_block == 0 ? EXT2_SUPER_OFFSET : 0));
	error = super_keep_groups(fs);
	return error != 0 ? error : super_check_groups(fs);
}

/* ---------------- The mark of a mount ---------------- */

/* The first write finds out whether the device can be written. */
static int super_begin_writing(struct file_system *fs)
{
	int error;

	cache_write(&fs->cache, CACHE_LOOSE);
	error = cache_take_error(&fs->cache);
	if (error != EROFS)
		return error;
	fs->is_read_only = true;
	ux_log("%s: mounted read-only, as it cannot be written", fs->device.name);
	return 0;
}

int super_begin(struct file_system *fs)
{
	fs->was_valid = fs->super->state == EXT2_STATE_VALID;
	if (!fs->was_valid)
		ux_log("%s: was not unmounted, or has errors: e2fsck should see it",
		       fs->device.name);
	fs->super->state &= (uint16_t)~EXT2_STATE_VALID;
	fs->super->mounted = (uint32_t)ux_seconds();
	fs->super->mounts++;
	super_change(fs);
	return super_begin_writing(fs);
}

void super_end(struct file_system *fs)
{
	if (fs->is_read_only)
		return;
	if (fs->was_valid)
		fs->super->state |= EXT2_STATE_VALID;
	fs->super->written = (uint32_t)ux_seconds();
	super_change(fs);
}
