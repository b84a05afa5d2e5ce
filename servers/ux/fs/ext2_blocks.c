/* SPDX-License-Identifier: MIT */
/*
 * Which blocks of the device a file consists of.
 *
 * The first twelve are in the inode; the three words behind them name trees of indirect blocks,
 * one, two and three levels deep.  A zero is a hole.  The map of a file is only changed by who has
 * marked its node busy.
 */
#include "fs/ext2.h"

/* The way to a block: the word of the inode, and then one in each indirect block. */
struct way {
	unsigned levels;
	uint32_t slots[1 + EXT2_LEVELS];
};

static uint32_t blocks_words_shift(const struct file_system *fs)
{
	return fs->block_shift - 2;
}

uint64_t blocks_max(uint32_t block_size)
{
	uint64_t words = block_size / sizeof(uint32_t);

	return EXT2_DIRECT + words + words * words + words * words * words;
}

/* False if no map reaches so far. */
static bool blocks_way_to(const struct file_system *fs, uint32_t index, struct way *way)
{
	uint32_t shift = blocks_words_shift(fs);
	uint32_t left = index - EXT2_DIRECT;
	unsigned levels = 1;

	*way = (struct way){.slots = {index}};
	if (index < EXT2_DIRECT)
		return true;
	while (levels <= EXT2_LEVELS && levels * shift < 32 && left >> levels * shift != 0)
		left -= 1u << levels++ * shift;
	if (levels > EXT2_LEVELS)
		return false;
	way->levels = levels;
	way->slots[0] = EXT2_DIRECT + levels - 1;
	for (unsigned level = 1; level <= levels; level++)
		way->slots[level] = left >> (levels - level) * shift & ((1u << shift) - 1);
	return true;
}

static int blocks_check_block(struct node *node, uint32_t block)
{
	struct file_system *fs = node->vnode.file_system;

	if (block == 0 || is_data_block(fs, block))
		return 0;
	return damaged(fs, "inode %u has block %u, which is no file's", node->vnode.number, block);
}

/* ---------------- Finding ---------------- */

/* Goes along the way until its end or the first hole; *level is how far that was. */
static int blocks_walk(struct node *node, const struct way *way, unsigned *level, uint32_t *block)
{
	struct file_system *fs = node->vnode.file_system;
	struct buffer *buffer;
	int error;

	*level = 0;
	*block = node->map[way->slots[0]];
	error = blocks_check_block(node, *block);
	while (error == 0 && *block != 0 && *level < way->levels) {
		error = cache_read(&fs->cache, *block, 1, &buffer);
		if (error != 0)
			return error;
		++*level;
		*block = ((uint32_t *)buffer->data)[way->slots[*level]];
		error = blocks_check_block(node, *block);
	}
	return error;
}

int block_find(struct node *node, uint32_t index, uint32_t *block)
{
	struct way way;
	unsigned level;

	if (!blocks_way_to(node->vnode.file_system, index, &way))
		return EFBIG;
	return blocks_walk(node, &way, &level, block);
}

int block_touch(struct node *node, uint32_t index)
{
	struct cache *cache = &node->vnode.file_system->cache;
	struct way way;
	struct buffer *buffer;
	uint32_t parent;
	unsigned level;
	int error = 0;

	vnode_note_changed(node);
	if (!blocks_way_to(node->vnode.file_system, index, &way))
		return 0;
	while (error == 0 && way.levels-- > 0) {
		error = blocks_walk(node, &way, &level, &parent);
		if (error == 0)
			error = cache_read(cache, parent, 1, &buffer);
		if (error == 0)
			cache_change(cache, buffer, CACHE_POINTERS);
	}
	return error;
}

/* ---------------- Making ---------------- */

/* Whom an error of an indirect block concerns: a directory is everybody's. */
static uint32_t blocks_owner_of(const struct node *node)
{
	return S_ISDIR(node->vnode.mode) ? 0 : node->vnode.number;
}

/* Behind the file's block before this one; else in the group of its inode. */
static uint32_t blocks_goal_of(struct node *node, uint32_t index)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t group = (node->vnode.number - 1) / fs->inodes_per_group;
	uint32_t before = 0;

	if (index > 0 && block_find(node, index - 1, &before) == 0 && before != 0)
		return before + 1;
	return fs->first_data_block + group * fs->blocks_per_group;
}

static void blocks_free_all(struct file_system *fs, const uint32_t *blocks, unsigned count)
{
	for (unsigned i = 0; i < count; i++) {
		if (block_free(fs, blocks[i]) != 0)
			ux_log("%s: block %u stays in use", fs->device.name, blocks[i]);
	}
}

/* Free blocks that are for others: the last ones are one file's, those before them root's. */
static uint64_t blocks_kept_from(const struct node *node)
{
	const struct file_system *fs = node->vnode.file_system;
	uint64_t kept = node->may_use_reserved ? 0 : fs->super->n_reserved_blocks;

	return fs->keeper == &node->vnode ? kept : kept + fs->kept_blocks;
}

/* All or none. */
static int blocks_allocate_all(const struct node *node, uint32_t goal, uint32_t *blocks,
			       unsigned count)
{
	struct file_system *fs = node->vnode.file_system;

	if (fs->super->n_free_blocks < blocks_kept_from(node) + count)
		return ENOSPC;
	for (unsigned i = 0; i < count; i++) {
		int error = block_allocate(fs, i == 0 ? goal : blocks[i - 1] + 1, &blocks[i]);

		if (error != 0) {
			blocks_free_all(fs, blocks, i);
			return error;
		}
	}
	return 0;
}

/* Makes all but the last of new blocks indirect ones, each naming the next. */
static void blocks_chain_up(const struct node *node, const struct way *way, unsigned level,
			    const uint32_t *blocks, unsigned count)
{
	struct file_system *fs = node->vnode.file_system;

	for (unsigned i = 0; i + 1 < count; i++) {
		unsigned below = way->levels - level - i;
		enum cache_rank rank = CACHE_LEVEL_1 + below - 1;
		struct buffer *buffer = cache_clear(&fs->cache, blocks[i], rank);

		buffer->owner = blocks_owner_of(node);
		((uint32_t *)buffer->data)[way->slots[level + i + 1]] = blocks[i + 1];
	}
}

/* Puts a block where the way ended in a hole. */
static int blocks_attach(struct node *node, const struct way *way, unsigned level, uint32_t block)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t parent = 0;
	unsigned reached;
	struct way above = *way;
	struct buffer *buffer;
	int error;

	if (level == 0) {
		node->map[way->slots[0]] = block;
		return 0;
	}
	above.levels = level - 1;
	error = blocks_walk(node, &above, &reached, &parent);
	if (error == 0)
		error = cache_read(&fs->cache, parent, 1, &buffer);
	if (error != 0)
		return error;
	((uint32_t *)buffer->data)[way->slots[level]] = block;
	buffer->owner = blocks_owner_of(node);
	cache_change(&fs->cache, buffer, CACHE_POINTERS);
	return 0;
}

int block_make(struct node *node, uint32_t index, uint32_t *block, bool *is_new)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t blocks[1 + EXT2_LEVELS];
	struct way way;
	unsigned level, count;
	int error;

	*is_new = false;
	if (!blocks_way_to(fs, index, &way))
		return EFBIG;
	error = blocks_walk(node, &way, &level, block);
	if (error != 0 || *block != 0)
		return error;
	count = way.levels - level + 1;
	error = blocks_allocate_all(node, blocks_goal_of(node, index), blocks, count);
	if (error != 0)
		return error;
	blocks_chain_up(node, &way, level, blocks, count);
	error = blocks_attach(node, &way, level, blocks[0]);
	if (error != 0) {
		blocks_free_all(fs, blocks, count);
		return error;
	}
	node->sectors += count * (fs->block_size / SECTOR);
	vnode_note_changed(node);
	*block = blocks[count - 1];
	*is_new = true;
	return 0;
}

/* ---------------- Freeing ---------------- */

static int blocks_free_one(struct node *node, uint32_t block)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t sectors = fs->block_size / SECTOR;

	node->sectors -= node->sectors < sectors ? node->sectors : sectors;
	vnode_note_changed(node);
	return block_free(fs, block);
}

/*
 * Takes the next block out of an indirect one, from *slot on; 0 if there is none.  It stays named
 * there if some of what is below it is to stay, that is if `keeps`.
 */
static int blocks_take_next(struct file_system *fs, uint32_t indirect, uint32_t *slot, bool keeps,
			    uint32_t *child)
{
	uint32_t words = 1u << blocks_words_shift(fs);
	struct buffer *buffer;
	uint32_t *map;
	int error = cache_read(&fs->cache, indirect, 1, &buffer);

	*child = 0;
	if (error != 0)
		return error;
	map = buffer->data;
	while (*slot < words && map[*slot] == 0 && !keeps)
		++*slot;
	if (*slot == words)
		return 0;
	*child = map[*slot];
	if (!keeps && *child != 0) {
		map[*slot] = 0;
		cache_change(&fs->cache, buffer, CACHE_POINTERS);
	}
	return 0;
}

/*
 * Frees what is below an indirect block from the block `from` on, counted from the first that it
 * leads to.  Calls itself for the levels below, of which there are at most two: a block that comes
 * twice has been freed by its first time, and is not looked at again.
 */
static int blocks_free_below(struct node *node, uint32_t indirect, unsigned levels, uint32_t from)
{
	struct file_system *fs = node->vnode.file_system;
	uint32_t shift = (levels - 1) * blocks_words_shift(fs);
	uint32_t words = 1u << blocks_words_shift(fs);
	uint32_t rest = from & ((1u << shift) - 1);
	int result = block_check_used(fs, indirect);

	if (result != 0)
		return result;
	for (uint32_t slot = from >> shift; slot < words; slot++, rest = 0) {
		uint32_t child;
		int error = blocks_take_next(fs, indirect, &slot, rest != 0, &child);

		if (error != 0)
			return error;
		if (child != 0 && levels > 1)
			error = blocks_free_below(node, child, levels - 1, rest);
		if (error == 0 && child != 0 && rest == 0)
			error = blocks_free_one(node, child);
		if (error != 0)
			result = error;
	}
	return result;
}

/* Frees a tree from the block `from` on: of all of it nothing remains, of a part its beginning. */
static int blocks_free_tree(struct node *node, unsigned levels, uint32_t from)
{
	uint32_t *word = &node->map[EXT2_DIRECT + levels - 1];
	int error, error_of_root = 0;

	if (*word == 0)
		return 0;
	error = blocks_free_below(node, *word, levels, from);
	if (from == 0) {
		error_of_root = blocks_free_one(node, *word);
		*word = 0;
	}
	return error != 0 ? error : error_of_root;
}

static int blocks_free_direct(struct node *node, uint32_t from)
{
	int result = 0;

	for (uint32_t index = from; index < EXT2_DIRECT; index++) {
		int error = node->map[index] != 0 ? blocks_free_one(node, node->map[index]) : 0;

		node->map[index] = 0;
		if (error != 0)
			result = error;
	}
	return result;
}

int blocks_free(struct node *node, uint32_t index)
{
	uint32_t shift = blocks_words_shift(node->vnode.file_system);
	uint64_t begin = EXT2_DIRECT;
	int result = blocks_free_direct(node, index);

	for (unsigned levels = 1; levels <= EXT2_LEVELS; levels++) {
		uint64_t end = begin + (1ull << levels * shift);
		uint32_t from = index > begin ? (uint32_t)(index - begin) : 0;
		int error = index < end ? blocks_free_tree(node, levels, from) : 0;

		if (error != 0)
			result = error;
		begin = end;
	}
	return result;
}
