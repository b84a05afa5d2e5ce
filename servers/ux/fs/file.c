/* SPDX-License-Identifier: MIT */
/*
 * Data and attributes of files.
 *
 * Each of these functions is atomic: the node is marked busy while its data or its map of blocks is
 * read or changed.
 */
#include "fs/ext2.h"
#include "paging/paging.h"

#define READ_AHEAD_BYTES 32768u /* Read beyond what is asked for by who reads one after another. */
#define CHANGE_PIECES    64u    /* Blocks that are written in one change (change.c). */

/* A part of a file that lies within one block. */
struct piece {
	uint32_t index; /* The block, */
	uint32_t begin; /* the first byte in it, */
	uint32_t size;  /* and how many. */
};

static struct piece file_piece_at(const struct file_system *fs, off_t offset, size_t left)
{
	uint32_t begin = (uint32_t)offset & (fs->block_size - 1);
	uint32_t room = fs->block_size - begin;

	return (struct piece){
		.index = (uint32_t)(offset >> fs->block_shift),
		.begin = begin,
		.size = left < room ? (uint32_t)left : room,
	};
}

/* The inode as the node has it now; what happened to the file is told where that worked. */
static int file_end_change(struct node *node, int result)
{
	int error = node->is_changed ? inode_write(node) : 0;

	return result != 0 ? result : error;
}

static void file_note_modified(struct node *node)
{
	node->vnode.modified = node->vnode.changed = ux_seconds();
	vnode_note_changed(node);
}

/* ---------------- Reading ---------------- */

/* How many blocks to read at once: what is still asked for, and more of a file read in order. */
static uint32_t file_blocks_worth_reading(const struct node *node, uint32_t index, size_t left)
{
	const struct file_system *fs = node->vnode.file_system;
	uint32_t wanted = (uint32_t)((left + fs->block_size - 1) >> fs->block_shift);
	uint32_t in_file = (uint32_t)((node->vnode.size + fs->block_size - 1) >> fs->block_shift);

	if (index == node->next_read)
		wanted += READ_AHEAD_BYTES >> fs->block_shift;
	return wanted < in_file - index ? wanted : in_file - index;
}

/* How many blocks of the file, `most` at most, lie one after the other on the device too. */
static uint32_t file_run_length(struct node *node, uint32_t index, uint32_t block, uint32_t most)
{
	uint32_t count = 1;
	uint32_t next;

	while (count < most && block_find(node, index + count, &next) == 0 && next == block + count)
		count++;
	return count;
}

/* The buffer of a block of the file; null: a hole. */
static int file_find_buffer(struct node *node, uint32_t index, size_t left, struct buffer **buffer)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t run = 1;
	uint32_t block;
	int error = block_find(node, index, &block);

	*buffer = NULL;
	if (error != 0 || block == 0)
		return error;
	if (!cache_has(&fs->cache, block) && change_is_hidden(fs, block))
		return EIO; /* What the device has there is not the file's. */
	if (!cache_has(&fs->cache, block)) {
		uint32_t most = file_blocks_worth_reading(node, index, left);

		run = file_run_length(node, index, block,
				      most < fs->cache.run ? most : fs->cache.run);
	}
	return cache_read(&fs->cache, block, run, buffer);
}

static int file_read_piece(struct node *node, const struct piece *piece, size_t left, void *to)
{
	struct buffer *buffer;
	int error = file_find_buffer(node, piece->index, left, &buffer);

	if (error != 0)
		return error;
	if (buffer == NULL)
		memset(to, 0, piece->size);
	else
		memcpy(to, (const char *)buffer->data + piece->begin, piece->size);
	node->next_read = piece->index + 1;
	return 0;
}

static size_t file_clip(const struct vnode *vnode, off_t offset, size_t size)
{
	if (offset >= vnode->size)
		return 0;
	return (off_t)size < vnode->size - offset ? size : (size_t)(vnode->size - offset);
}

static int file_read_pieces(struct node *node, off_t offset, char *to, size_t size, size_t *done)
{
	size = file_clip(&node->vnode, offset, size);
	while (*done < size) {
		struct piece piece =
			file_piece_at(node->vnode.file_system, offset + (off_t)*done, size - *done);
		int error = file_read_piece(node, &piece, size - *done, to + *done);

		if (error != 0)
			return *done > 0 ? 0 : error;
		*done += piece.size;
	}
	return 0;
}

int vnode_read(struct vnode *vnode, off_t offset, void *buffer, size_t size, size_t *done)
{
	struct node *node = node_of(vnode);
	int error;

	assert(ux_lock_held());
	*done = 0;
	if (!S_ISREG(vnode->mode))
		return S_ISDIR(vnode->mode) ? EISDIR : EINVAL;
	if (offset < 0 || size > INT32_MAX)
		return EINVAL;
	vnode_begin(vnode);
	error = file_read_pieces(node, offset, buffer, size, done);
	vnode->accessed = ux_seconds();
	vnode_note_changed(node);
	vnode_end(vnode);
	return error;
}

int vnode_read_link(struct vnode *vnode, char *buffer, size_t room, size_t *length)
{
	struct node *node = node_of(vnode);
	size_t size = (size_t)vnode->size < room ? (size_t)vnode->size : room;
	int error = 0;

	*length = 0;
	if (!S_ISLNK(vnode->mode))
		return EINVAL;
	if (inode_has_text(node)) {
		memcpy(buffer, node->map, size);
		*length = size;
		return 0;
	}
	vnode_begin(vnode);
	error = file_read_pieces(node, 0, buffer, size, length);
	vnode_end(vnode);
	return error;
}

/* ---------------- Writing ---------------- */

static int file_vnode_write_piece(struct node *node, const struct piece *piece, const void *from)
{
	struct file_system *fs = node->vnode.file_system;
	struct buffer *buffer;
	uint32_t block;
	bool is_new;
	int error = block_make(node, piece->index, &block, &is_new);

	if (error == 0 && change_is_hidden(fs, block))
		error = block_touch(node, piece->index);
	if (error != 0)
		return error;
	if (is_new || piece->size == fs->block_size)
		buffer = cache_clear(&fs->cache, block, CACHE_LOOSE);
	else
		error = cache_read(&fs->cache, block, 1, &buffer);
	if (error != 0)
		return error;
	memcpy((char *)buffer->data + piece->begin, from, piece->size);
	buffer->owner = node->vnode.number;
	cache_change(&fs->cache, buffer, CACHE_LOOSE);
	return 0;
}

static int file_write_pieces(struct node *node, off_t offset, const char *from, size_t size,
			     size_t *done)
{
	struct vnode *vnode = &node->vnode;

	while (*done < size) {
		struct piece piece =
			file_piece_at(vnode->file_system, offset + (off_t)*done, size - *done);
		int error = file_vnode_write_piece(node, &piece, from + *done);

		if (error != 0)
			return *done > 0 ? 0 : error;
		*done += piece.size;
		if (offset + (off_t)*done > vnode->size)
			vnode->size = offset + (off_t)*done;
		file_note_modified(node);
	}
	return 0;
}

/* In changes of some blocks each, so that none needs more than there is. */
static int file_write_in_changes(struct node *node, off_t offset, const char *from, size_t size,
				 size_t *done)
{
	struct file_system *fs = node->vnode.file_system;
	size_t most = CHANGE_PIECES * (size_t)fs->block_size;
	int error = 0;

	while (error == 0 && *done < size) {
		size_t before = *done;
		size_t end = size - before < most ? size : before + most;

		change_begin(fs);
		error = file_write_pieces(node, offset, from, end, done);
		error = file_end_change(node, error);
		change_end(fs);
		if (*done < end)
			break;
	}
	return error;
}

int vnode_write(struct vnode *vnode, const struct credentials *who, off_t offset,
		const void *buffer, size_t size, size_t *done)
{
	struct node *node = node_of(vnode);
	off_t most = vnode->file_system->size_max;
	int error;

	assert(ux_lock_held());
	*done = 0;
	if (!S_ISREG(vnode->mode))
		return S_ISDIR(vnode->mode) ? EISDIR : EINVAL;
	if (offset < -1 || size > INT32_MAX)
		return EINVAL;
	if (vnode->file_system->is_read_only)
		return EROFS;
	vnode_begin(vnode);
	node->may_use_reserved = super_may_use_reserved(vnode->file_system, who);
	if (offset == -1)
		offset = vnode->size;
	if (offset < most && size > 0 && vnode->object != NULL)
		paging_changed(vnode, offset, (off_t)size);
	if (offset >= most)
		error = size > 0 ? EFBIG : 0;
	else
		error = file_write_in_changes(
			node, offset, buffer,
			(off_t)size < most - offset ? size : (size_t)(most - offset), done);
	vnode_end(vnode);
	return *done > 0 ? 0 : error;
}

/* A short text is where other files have the numbers of their blocks. */
int vnode_set_link(struct vnode *vnode, const char *text)
{
	struct node *node = node_of(vnode);
	size_t size = strlen(text), done = 0;
	int error = 0;

	assert(S_ISLNK(vnode->mode) && size > 0 && size < PATH_MAX);
	vnode_begin(vnode);
	if (size < sizeof node->map) {
		memcpy(node->map, text, size);
		vnode->size = (off_t)size;
		vnode_note_changed(node);
	} else {
		error = file_write_pieces(node, 0, text, size, &done);
		if (error == 0 && done < size)
			error = ENOSPC;
	}
	error = file_end_change(node, error);
	vnode_end(vnode);
	return error;
}

/* ---------------- Truncating ---------------- */

/*
 * Clears what the last block has behind the file's end, so that it is not there if the file grows.
 */
static int file_clear_tail(struct node *node, off_t size)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t begin = (uint32_t)size & (fs->block_size - 1);
	struct buffer *buffer;
	uint32_t block = 0;
	int error = 0;

	if (begin != 0)
		error = block_find(node, (uint32_t)(size >> fs->block_shift), &block);
	if (error != 0 || block == 0)
		return error;
	error = cache_read(&fs->cache, block, 1, &buffer);
	if (error != 0)
		return error;
	memset((char *)buffer->data + begin, 0, fs->block_size - begin);
	buffer->owner = node->vnode.number;
	cache_change(&fs->cache, buffer, CACHE_LOOSE);
	return 0;
}

static int file_shrink(struct node *node, off_t size)
{
	struct vnode *vnode = &node->vnode;
	struct file_system *fs = vnode->file_system;
	uint32_t kept = (uint32_t)((size + fs->block_size - 1) >> fs->block_shift);
	off_t old_size = vnode->size;
	int error;

	if (vnode->object != NULL)
		paging_changed(vnode, size, old_size - size);
	error = file_clear_tail(node, size);
	if (error != 0)
		return error;
	vnode->size = size;
	return blocks_free(node, kept);
}

int vnode_truncate(struct vnode *vnode, off_t size)
{
	struct node *node = node_of(vnode);
	int error = 0;

	assert(ux_lock_held());
	if (!S_ISREG(vnode->mode))
		return S_ISDIR(vnode->mode) ? EISDIR : EINVAL;
	if (size < 0)
		return EINVAL;
	if (vnode->file_system->is_read_only)
		return EROFS;
	if (size > vnode->file_system->size_max)
		return EFBIG;
	vnode_begin(vnode);
	change_begin(vnode->file_system);
	if (size < vnode->size)
		error = file_shrink(node, size);
	else
		vnode->size = size;
	file_note_modified(node);
	error = file_end_change(node, error);
	change_end(vnode->file_system);
	vnode_end(vnode);
	return error;
}

/* ---------------- Attributes ---------------- */

#define ROOT_DEVICE makedev(1, 0)

void vnode_stat(const struct vnode *vnode, struct stat *result)
{
	const struct node *node = (const struct node *)vnode;

	*result = (struct stat){
		.st_dev = ROOT_DEVICE,
		.st_ino = vnode->number,
		.st_mode = vnode->mode,
		.st_nlink = vnode->links,
		.st_uid = vnode->uid,
		.st_gid = vnode->gid,
		.st_rdev = vnode->device,
		.st_blksize = (blksize_t)vnode->file_system->block_size,
		.st_size = vnode->size,
		.st_blocks = node->sectors,
		.st_atime = vnode->accessed,
		.st_mtime = vnode->modified,
		.st_ctime = vnode->changed,
	};
}

static int file_end_attributes(struct vnode *vnode)
{
	vnode->changed = ux_seconds();
	return inode_write_alone(node_of(vnode));
}

int vnode_set_mode(struct vnode *vnode, mode_t mode)
{
	if (vnode->file_system->is_read_only)
		return EROFS;
	vnode->mode = (vnode->mode & S_IFMT) | (mode & 07777);
	return file_end_attributes(vnode);
}

int vnode_set_owner(struct vnode *vnode, uid_t uid, gid_t gid)
{
	if (vnode->file_system->is_read_only)
		return EROFS;
	vnode->uid = uid;
	vnode->gid = gid;
	return file_end_attributes(vnode);
}

int vnode_set_times(struct vnode *vnode, time_t accessed, time_t modified)
{
	if (vnode->file_system->is_read_only)
		return EROFS;
	vnode->accessed = accessed;
	vnode->modified = modified;
	return file_end_attributes(vnode);
}
