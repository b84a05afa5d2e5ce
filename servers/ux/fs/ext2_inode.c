/* SPDX-License-Identifier: MIT */
/*
 * Inodes, between the cache and nodes.
 *
 * A node is read once, when somebody begins to use the file, and is from then on what counts.  It
 * is written into the cache's block as a whole, between two points where the lock may be given up.
 */
#include "fs/ext2.h"

#define ATTRIBUTES_MAGIC 0xea020000u

/* The beginning of a block with extended attributes, which files may share. */
struct attributes {
	uint32_t magic;
	uint32_t references;
};

/* ---------------- Where an inode is ---------------- */

static int inode_find_raw(struct node *node, struct buffer **buffer, struct ext2_inode **raw)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t group = (node->vnode.number - 1) / fs->inodes_per_group;
	uint32_t index = (node->vnode.number - 1) % fs->inodes_per_group;
	uint32_t per_block = fs->block_size / fs->inode_size;
	uint32_t block = group_of(fs, group)->inode_table + index / per_block;
	int error = cache_read(&fs->cache, block, 1, buffer);

	if (error == 0)
		*raw = (struct ext2_inode *)((char *)(*buffer)->data +
					     index % per_block * fs->inode_size);
	return error;
}

/* ---------------- Reading ---------------- */

static bool inode_is_known_type(mode_t mode)
{
	return S_ISREG(mode) || S_ISDIR(mode) || S_ISLNK(mode) || S_ISCHR(mode) || S_ISBLK(mode) ||
	       S_ISFIFO(mode) || S_ISSOCK(mode);
}

/* Devices are in the first word as of old, or in the second if they are too large for that. */
static dev_t inode_device_of(const struct ext2_inode *raw)
{
	return raw->map[0] != 0 ? (uint16_t)raw->map[0] : raw->map[1];
}

static void inode_read_attributes(struct node *node, const struct ext2_inode *raw)
{
	struct vnode *vnode = &node->vnode;

	vnode->mode = raw->mode;
	vnode->links = raw->links;
	vnode->uid = raw->uid | (uid_t)raw->uid_high << 16;
	vnode->gid = raw->gid | (gid_t)raw->gid_high << 16;
	vnode->size = raw->size;
	if (S_ISREG(vnode->mode))
		vnode->size |= (off_t)((uint64_t)raw->size_high << 32);
	vnode->accessed = (time_t)raw->accessed;
	vnode->modified = (time_t)raw->modified;
	vnode->changed = (time_t)raw->changed;
	if (S_ISCHR(vnode->mode) || S_ISBLK(vnode->mode))
		vnode->device = inode_device_of(raw);
	node->sectors = raw->sectors;
	node->flags = raw->flags;
	node->attributes = raw->attributes;
	node->generation = raw->generation;
	memcpy(node->map, raw->map, sizeof node->map);
}

bool inode_has_text(const struct node *node)
{
	uint32_t other = node->attributes != 0 ? node->vnode.file_system->block_size / SECTOR : 0;

	return node->sectors == other;
}

/* A directory without holes has at most as many blocks as there are. */
static bool inode_is_sound_size(const struct node *node)
{
	const struct vnode *vnode = &node->vnode;
	const struct file_system *fs = vnode->file_system;

	if (S_ISDIR(vnode->mode))
		return vnode->size > 0 && (vnode->size & (fs->block_size - 1)) == 0 &&
		       (uint32_t)vnode->size >> fs->block_shift <= fs->n_blocks;
	if (S_ISLNK(vnode->mode))
		return vnode->size > 0 &&
		       vnode->size < (inode_has_text(node) ? (off_t)sizeof node->map : PATH_MAX);
	return vnode->size >= 0 && vnode->size <= fs->size_max;
}

static int inode_check(const struct node *node)
{
	const struct vnode *vnode = &node->vnode;
	struct file_system *fs = vnode->file_system;

	if (vnode->links == 0)
		return damaged(fs, "inode %u has a name, and is deleted", vnode->number);
	if (!inode_is_known_type(vnode->mode) || (node->flags & EXT2_FLAGS_UNKNOWN) != 0)
		return damaged(fs, "inode %u has an odd type (mode %#o, flags %#x)", vnode->number,
			       vnode->mode, node->flags);
	if (!inode_is_sound_size(node))
		return damaged(fs, "inode %u has an odd size", vnode->number);
	return 0;
}

int inode_read(struct node *node)
{
	struct file_system *fs = node->vnode.file_system;
	inumber_t number = node->vnode.number;
	struct buffer *buffer;
	struct ext2_inode *raw;
	int error;

	if (number != EXT2_ROOT && (number < fs->first_inode || number > fs->n_inodes))
		return damaged(fs, "there is no inode %u for a file", number);
	error = inode_find_raw(node, &buffer, &raw);
	if (error != 0)
		return error;
	inode_read_attributes(node, raw);
	return inode_check(node);
}

/* ---------------- Writing ---------------- */

static void inode_write_attributes(const struct node *node, struct ext2_inode *raw)
{
	const struct vnode *vnode = &node->vnode;

	raw->mode = (uint16_t)vnode->mode;
	raw->links = (uint16_t)vnode->links;
	raw->uid = (uint16_t)vnode->uid;
	raw->uid_high = (uint16_t)(vnode->uid >> 16);
	raw->gid = (uint16_t)vnode->gid;
	raw->gid_high = (uint16_t)(vnode->gid >> 16);
	raw->size = (uint32_t)vnode->size;
	if (S_ISREG(vnode->mode))
		raw->size_high = (uint32_t)((uint64_t)vnode->size >> 32);
	raw->accessed = (uint32_t)vnode->accessed;
	raw->modified = (uint32_t)vnode->modified;
	raw->changed = (uint32_t)vnode->changed;
	raw->deleted = 0;
	raw->sectors = node->sectors;
	raw->flags = node->flags;
	raw->attributes = node->attributes;
	raw->generation = node->generation;
	memcpy(raw->map, node->map, sizeof raw->map);
	if (S_ISCHR(vnode->mode) || S_ISBLK(vnode->mode))
		raw->map[0] = vnode->device;
}

/* A file from 2 GiB on is something that the superblock must tell of. */
static void inode_note_large_file(const struct vnode *vnode)
{
	struct file_system *fs = vnode->file_system;

	if (!S_ISREG(vnode->mode) || vnode->size <= INT32_MAX || fs->super->revision == 0 ||
	    (fs->super->read_only & EXT2_READ_ONLY_LARGE_FILE) != 0)
		return;
	fs->super->read_only |= EXT2_READ_ONLY_LARGE_FILE;
	super_change(fs);
}

int inode_write(struct node *node)
{
	struct file_system *fs = node->vnode.file_system;
	struct buffer *buffer;
	struct ext2_inode *raw;
	int error = 0;

	node->is_changed = false;
	if (fs->is_read_only)
		return 0; /* It was a time of reading: nothing else is changed. */
	error = inode_find_raw(node, &buffer, &raw);
	if (error != 0)
		return error;
	if (node->is_new)
		memset(raw, 0, fs->inode_size);
	node->is_new = false;
	inode_write_attributes(node, raw);
	inode_note_large_file(&node->vnode);
	cache_change(&fs->cache, buffer, CACHE_POINTERS);
	return 0;
}

uint32_t inodes_of_block(const struct file_system *fs, uint32_t block, inumber_t *first)
{
	uint32_t group = (block - fs->first_data_block) / fs->blocks_per_group;
	uint32_t per_block = fs->block_size / fs->inode_size;
	uint32_t index = (block - group_of(fs, group)->inode_table);
	uint32_t left = fs->inodes_per_group - index * per_block;

	if (index >= fs->table_blocks)
		return 0;
	*first = group * fs->inodes_per_group + index * per_block + 1;
	return left < per_block ? left : per_block;
}

/* Holes in the place of hidden blocks, if there are any. */
static void inode_hide_blocks(const struct file_system *fs, uint32_t *map, uint32_t count)
{
	for (uint32_t i = 0; fs->hidden.count > 0 && i < count; i++) {
		if (map[i] < fs->n_blocks && change_is_hidden(fs, map[i]))
			map[i] = 0;
	}
}

/* Whether the inode is new, and was made one that is deleted. */
static bool inode_hide(const struct file_system *fs, inumber_t number, struct ext2_inode *raw)
{
	if (S_ISREG(raw->mode) || S_ISDIR(raw->mode))
		inode_hide_blocks(fs, raw->map, EXT2_MAP_WORDS);
	if (!change_is_new(fs, number))
		return false;
	raw->links = 0;
	raw->deleted = (uint32_t)ux_seconds();
	return true;
}

bool inode_hide_new(void *file_system, uint32_t block, void *copy)
{
	struct file_system *fs = file_system;
	inumber_t first;
	uint32_t count = inodes_of_block(fs, block, &first);
	bool has_any = false;

	if (count == 0)
		inode_hide_blocks(fs, copy, fs->block_size / sizeof(uint32_t));
	for (uint32_t i = 0; i < count; i++)
		has_any |= inode_hide(fs, first + i,
				      (struct ext2_inode *)((char *)copy + i * fs->inode_size));
	return has_any;
}

int inode_write_alone(struct node *node)
{
	struct file_system *fs = node->vnode.file_system;
	int error;

	change_begin(fs);
	error = inode_write(node);
	change_end(fs);
	return error;
}

/* ---------------- Deleting ---------------- */

/* Gives up the block with extended attributes, which other files may share. */
static int inode_free_attributes(struct node *node)
{
	struct file_system *fs = node->vnode.file_system;
	struct buffer *buffer;
	struct attributes *header;
	uint32_t block = node->attributes;
	int error = block == 0 ? 0 : block_check_used(fs, block);

	if (block == 0 || error != 0)
		return error;
	error = cache_read(&fs->cache, block, 1, &buffer);
	if (error != 0)
		return error;
	header = buffer->data;
	if (header->magic != ATTRIBUTES_MAGIC)
		return damaged(fs, "block %u holds no attributes", block);
	if (header->references <= 1)
		return block_free(fs, block);
	header->references--;
	cache_change(&fs->cache, buffer, CACHE_NAMES); /* After inodes that it is no more of. */
	return 0;
}

int inode_delete(struct node *node)
{
	struct file_system *fs = node->vnode.file_system;
	int attributes_error = inode_free_attributes(node);
	struct buffer *buffer;
	struct ext2_inode *raw;
	int error = inode_find_raw(node, &buffer, &raw);

	node->is_changed = false;
	if (error != 0)
		return error;
	raw->links = 0;
	raw->size = 0;
	raw->size_high = 0;
	raw->sectors = 0;
	raw->attributes = 0;
	raw->deleted = (uint32_t)ux_seconds();
	memset(raw->map, 0, sizeof raw->map);
	cache_change(&fs->cache, buffer, CACHE_POINTERS);
	error = inode_free(fs, node->vnode.number, node->vnode.mode);
	return error != 0 ? error : attributes_error;
}
