/* SPDX-License-Identifier: MIT */
/*
 * Which blocks and inodes are in use: a bitmap of each in every group, and counts in the groups'
 * descriptors and in the superblock.
 *
 * A bit and the counts that go with it change together, without the lock being given up.  What is
 * freed stays in use here until nothing on the device leads to it any more (change.c).
 */
#include "fs/ext2.h"

#define BITS 32u
#define NONE 0xffffffffu

/* ---------------- Bits ---------------- */

static bool ext2_is_set(const uint32_t *bits, uint32_t bit)
{
	return (bits[bit / BITS] >> bit % BITS & 1) != 0;
}

/* The first bit that is clear, of those from `from` on and before `end`; NONE. */
static uint32_t ext2_find_clear(const uint32_t *bits, uint32_t from, uint32_t end)
{
	for (uint32_t bit = from; bit < end; bit = (bit | (BITS - 1)) + 1) {
		uint32_t clear = ~bits[bit / BITS] & ~0u << bit % BITS;

		if (clear != 0) {
			bit = (bit & ~(BITS - 1)) + (uint32_t)__builtin_ctz(clear);
			return bit < end ? bit : NONE;
		}
	}
	return NONE;
}

/* From `from` on, and then those before it. */
static uint32_t ext2_find_clear_around(const uint32_t *bits, uint32_t from, uint32_t end)
{
	uint32_t bit = ext2_find_clear(bits, from, end);

	return bit != NONE ? bit : ext2_find_clear(bits, 0, from);
}

/* ---------------- Blocks ---------------- */

static uint32_t ext2_group_of_block(const struct file_system *fs, uint32_t block)
{
	return (block - fs->first_data_block) / fs->blocks_per_group;
}

static uint32_t ext2_first_of_group(const struct file_system *fs, uint32_t group)
{
	return fs->first_data_block + group * fs->blocks_per_group;
}

static void ext2_count_block(struct file_system *fs, uint32_t group)
{
	struct ext2_group *own = group_of(fs, group);

	own->n_free_blocks -= own->n_free_blocks > 0;
	fs->super->n_free_blocks -= fs->super->n_free_blocks > 0;
	group_change(fs, group);
}

/* Bits of blocks that no file may have, although they are clear, are set and passed over. */
static int allocate_in_group(struct file_system *fs, uint32_t group, uint32_t from, uint32_t *block)
{
	uint32_t blocks = group_blocks(fs, group);
	struct buffer *bitmap;
	int error = cache_read(&fs->cache, group_of(fs, group)->block_bitmap, 1, &bitmap);
	uint32_t *bits;

	if (error != 0)
		return error;
	bits = bitmap->data;
	for (int result = ENOSPC;;) {
		uint32_t bit = ext2_find_clear_around(bits, from < blocks ? from : 0, blocks);

		if (bit == NONE)
			return result;
		bits[bit / BITS] |= 1u << bit % BITS;
		cache_change(&fs->cache, bitmap, CACHE_LOOSE);
		*block = ext2_first_of_group(fs, group) + bit;
		if (is_data_block(fs, *block)) {
			change_note_new_block(fs, *block);
			ext2_count_block(fs, group);
			return 0;
		}
		result = damaged(fs, "block %u is the file system's own, and free", *block);
	}
}

int block_allocate(struct file_system *fs, uint32_t goal, uint32_t *block)
{
	bool is_good = goal >= fs->first_data_block && goal < fs->n_blocks;
	uint32_t near = is_good ? goal : fs->first_data_block;
	uint32_t first = ext2_group_of_block(fs, near);
	uint32_t from = near - ext2_first_of_group(fs, first);
	int result = ENOSPC;

	for (uint32_t i = 0; i < fs->n_groups && fs->super->n_free_blocks > 0; i++) {
		uint32_t group = (first + i) % fs->n_groups;
		int error;

		if (group_of(fs, group)->n_free_blocks == 0)
			continue;
		error = allocate_in_group(fs, group, i == 0 ? from : 0, block);
		if (error == 0)
			return 0;
		if (error != ENOSPC)
			result = error;
	}
	return result;
}

/* The bitmap in which a file's block is noted, and its bit; EIO unless that is set. */
static int ext2_find_used(struct file_system *fs, uint32_t block, struct buffer **bitmap,
			  uint32_t *bit)
{
	uint32_t group;
	int error;

	if (!is_data_block(fs, block))
		return damaged(fs, "block %u is no block of a file's", block);
	group = ext2_group_of_block(fs, block);
	*bit = block - ext2_first_of_group(fs, group);
	error = cache_read(&fs->cache, group_of(fs, group)->block_bitmap, 1, bitmap);
	if (error != 0)
		return error;
	if (!ext2_is_set((*bitmap)->data, *bit))
		return damaged(fs, "block %u is in use, and free", block);
	return 0;
}

int block_check_used(struct file_system *fs, uint32_t block)
{
	struct buffer *bitmap;
	uint32_t bit;
	int error = ext2_find_used(fs, block, &bitmap, &bit);

	if (error == 0 && change_is_free_block(fs, block))
		error = damaged(fs, "block %u is in use, and free", block);
	return error;
}

int block_free(struct file_system *fs, uint32_t block)
{
	int error = block_check_used(fs, block);

	if (error != 0)
		return error;
	change_note_free_block(fs, block);
	cache_forget(&fs->cache, block);
	return 0;
}

int block_release(struct file_system *fs, uint32_t block)
{
	struct buffer *bitmap;
	uint32_t bit;
	int error = ext2_find_used(fs, block, &bitmap, &bit);
	uint32_t group;

	if (error != 0)
		return error;
	group = ext2_group_of_block(fs, block);
	((uint32_t *)bitmap->data)[bit / BITS] &= ~(1u << bit % BITS);
	cache_change(&fs->cache, bitmap, CACHE_LOOSE);
	group_of(fs, group)->n_free_blocks++;
	fs->super->n_free_blocks++;
	group_change(fs, group);
	return 0;
}

/* ---------------- Inodes ---------------- */

/* Directories spread over the groups: to the one with most room for what they will hold. */
static uint32_t ext2_roomiest_group(const struct file_system *fs, uint32_t first)
{
	uint32_t best = first;

	for (uint32_t i = 0; i < fs->n_groups; i++) {
		uint32_t group = (first + i) % fs->n_groups;
		const struct ext2_group *own = group_of(fs, group);

		if (own->n_free_inodes > 0 &&
		    (group_of(fs, best)->n_free_inodes == 0 ||
		     own->n_free_blocks > group_of(fs, best)->n_free_blocks))
			best = group;
	}
	return best;
}

static int allocate_inode_in_group(struct file_system *fs, uint32_t group, mode_t mode,
				   inumber_t *number)
{
	uint32_t reserved = group == 0 ? fs->first_inode - 1 : 0;
	struct ext2_group *own = group_of(fs, group);
	struct buffer *bitmap;
	int error = cache_read(&fs->cache, own->inode_bitmap, 1, &bitmap);
	uint32_t bit;

	if (error != 0)
		return error;
	bit = ext2_find_clear(bitmap->data, reserved, fs->inodes_per_group);
	if (bit == NONE)
		return ENOSPC;
	((uint32_t *)bitmap->data)[bit / BITS] |= 1u << bit % BITS;
	cache_change(&fs->cache, bitmap, CACHE_LOOSE);
	own->n_free_inodes -= own->n_free_inodes > 0;
	own->n_directories += S_ISDIR(mode);
	fs->super->n_free_inodes -= fs->super->n_free_inodes > 0;
	group_change(fs, group);
	*number = group * fs->inodes_per_group + bit + 1;
	change_note_new_inode(fs, *number);
	return 0;
}

int inode_allocate(struct file_system *fs, inumber_t directory, mode_t mode, bool may_use_reserved,
		   inumber_t *number)
{
	uint32_t first = (directory - 1) / fs->inodes_per_group;
	int result = ENOSPC;

	if (!may_use_reserved && fs->super->n_free_inodes <= super_reserved_inodes(fs))
		return ENOSPC;
	if (S_ISDIR(mode))
		first = ext2_roomiest_group(fs, first);
	for (uint32_t i = 0; i < fs->n_groups; i++) {
		uint32_t group = (first + i) % fs->n_groups;
		int error;

		if (group_of(fs, group)->n_free_inodes == 0)
			continue;
		error = allocate_inode_in_group(fs, group, mode, number);
		if (error == 0)
			return 0;
		if (error != ENOSPC)
			result = error;
	}
	return result;
}

/* The bitmap in which an inode is noted, and its bit; EIO unless that is set. */
static int ext2_find_used_inode(struct file_system *fs, inumber_t number, struct buffer **bitmap,
				uint32_t *bit)
{
	uint32_t group = (number - 1) / fs->inodes_per_group;
	int error = cache_read(&fs->cache, group_of(fs, group)->inode_bitmap, 1, bitmap);

	*bit = (number - 1) % fs->inodes_per_group;
	if (error == 0 && !ext2_is_set((*bitmap)->data, *bit))
		error = damaged(fs, "inode %u is in use, and free", number);
	return error;
}

int inode_free(struct file_system *fs, inumber_t number, mode_t mode)
{
	struct ext2_group *own = group_of(fs, (number - 1) / fs->inodes_per_group);
	struct buffer *bitmap;
	uint32_t bit;
	int error = ext2_find_used_inode(fs, number, &bitmap, &bit);

	if (error != 0)
		return error;
	own->n_directories -= S_ISDIR(mode) && own->n_directories > 0;
	change_note_free_inode(fs, number);
	return 0;
}

int inode_release(struct file_system *fs, inumber_t number)
{
	uint32_t group = (number - 1) / fs->inodes_per_group;
	struct buffer *bitmap;
	uint32_t bit;
	int error = ext2_find_used_inode(fs, number, &bitmap, &bit);

	if (error != 0)
		return error;
	((uint32_t *)bitmap->data)[bit / BITS] &= ~(1u << bit % BITS);
	cache_change(&fs->cache, bitmap, CACHE_LOOSE);
	group_of(fs, group)->n_free_inodes++;
	fs->super->n_free_inodes++;
	group_change(fs, group);
	return 0;
}
