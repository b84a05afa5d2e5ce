/* SPDX-License-Identifier: MIT */
/*
 * In which order changes come onto the device, so that it may stop after any write.
 *
 * A commit writes, one after the other:
 *
 *   1. what is loose: data, bitmaps, and blocks of directories that nothing on the device leads to
 *      yet; then indirect blocks of which that holds, the lowest first, so that none leads to what
 *      could not be written;
 *   2. inodes and indirect blocks, with new inodes as if they were deleted, as they were before;
 *   3. entries of directories;
 *   4. new inodes as they are.
 *
 * So whatever leads to something leads to what was written before, and an entry may at most lead to
 * an inode that is deleted, which e2fsck clears without asking.  What was freed is not used again
 * before all of this is done.  No change is under way meanwhile; so there is nothing half done, and
 * no block that is needed in two states.
 *
 * What could not be written stays in memory and is tried with the next commits.  As long as the
 * device has something older nothing that is freed is used again, and whatever depends on what a
 * commit could not write is not done.
 *
 * A journal would take the place of steps 2 to 4.
 */
#include "fs/ext2.h"

#define CHANGE_BLOCKS 10u  /* The most blocks with an order that one change needs. */
#define CHANGE_MOST   512u /* So many of them make a commit, however large the cache is. */
#define CHANGE_SPARE  4u   /* Buffers for those who only read. */
#define CHANGE_ROOM   80u  /* Blocks that one change may allocate. */

int change_open(struct file_system *fs)
{
	bool has_all = numbers_open(&fs->new_inodes, fs->n_inodes + 1) &&
		       numbers_open(&fs->new_blocks, fs->n_blocks) &&
		       numbers_open(&fs->linked, fs->n_inodes + 1) &&
		       numbers_open(&fs->unsure, fs->n_inodes + 1) &&
		       numbers_open(&fs->hidden, fs->n_blocks) &&
		       numbers_open(&fs->untold, fs->n_inodes + 1) &&
		       numbers_open(&fs->free_inodes, fs->n_inodes + 1) &&
		       numbers_open(&fs->free_blocks, fs->n_blocks);

	return has_all ? 0 : ENOMEM;
}

void change_close(struct file_system *fs)
{
	numbers_close(&fs->new_inodes);
	numbers_close(&fs->new_blocks);
	numbers_close(&fs->linked);
	numbers_close(&fs->unsure);
	numbers_close(&fs->hidden);
	numbers_close(&fs->untold);
	numbers_close(&fs->free_inodes);
	numbers_close(&fs->free_blocks);
}

/* ---------------- What a change notes ---------------- */

/* Below what may not be on the device nothing is. */
void change_note_linked(struct file_system *fs, inumber_t directory, inumber_t number)
{
	assert(fs->changes > 0);
	numbers_add(&fs->linked, number);
	if (numbers_have(&fs->unsure, directory))
		numbers_add(&fs->unsure, number);
}

void change_note_new_inode(struct file_system *fs, inumber_t number)
{
	assert(fs->changes > 0);
	numbers_add(&fs->new_inodes, number);
}

void change_note_free_inode(struct file_system *fs, inumber_t number)
{
	assert(fs->changes > 0);
	numbers_add(&fs->free_inodes, number);
}

void change_note_free_block(struct file_system *fs, uint32_t block)
{
	assert(fs->changes > 0);
	numbers_add(&fs->free_blocks, block);
}

void change_note_new_block(struct file_system *fs, uint32_t block)
{
	assert(fs->changes > 0);
	numbers_add(&fs->new_blocks, block);
}

void change_note_written(struct file_system *fs, uint32_t block, int error)
{
	if (error == 0 && fs->hidden.count > 0)
		numbers_remove(&fs->hidden, block);
	if (error == 0 || !numbers_have(&fs->new_blocks, block))
		return;
	numbers_add(&fs->hidden, block);
	(void)damaged(fs, "block %u could not be written: its file has a hole there", block);
}

bool change_is_hidden(const struct file_system *fs, uint32_t block)
{
	return fs->hidden.count > 0 && numbers_have(&fs->hidden, block);
}

bool change_is_new(const struct file_system *fs, inumber_t number)
{
	return numbers_have(&fs->new_inodes, number);
}

bool change_is_free_block(const struct file_system *fs, uint32_t block)
{
	return numbers_have(&fs->free_blocks, block);
}

/* ---------------- Beginning and ending ---------------- */

/* Whether there are buffers for one more change, or it would have to wait for its own commit. */
static bool change_has_buffers(const struct file_system *fs)
{
	uint32_t kept = 1 + fs->n_group_buffers + cache_lost(&fs->cache, CACHE_LOOSE);
	uint32_t most = fs->cache.n_buffers - kept - CHANGE_SPARE;

	return cache_ordered(&fs->cache) + CHANGE_BLOCKS * (fs->changes + 1) <=
	       (most < CHANGE_MOST ? most : CHANGE_MOST);
}

/* Whether one change more, beside those under way, may find no room that a commit would give. */
static bool change_needs_freed(const struct file_system *fs)
{
	uint64_t changes = fs->changes + 1ull;
	uint64_t blocks =
		(uint64_t)fs->super->n_reserved_blocks + fs->kept_blocks + CHANGE_ROOM * changes;
	uint64_t inodes = super_reserved_inodes(fs) + changes; /* Each makes one at most. */

	return (fs->free_blocks.count > 0 && fs->super->n_free_blocks < blocks) ||
	       (fs->free_inodes.count > 0 && fs->super->n_free_inodes < inodes);
}

void change_begin(struct file_system *fs)
{
	assert(ux_lock_held());
	while (fs->is_frozen || !change_has_buffers(fs) || change_needs_freed(fs)) {
		if (fs->is_committing || fs->changes > 0)
			ux_sleep(&fs->changes, NULL);
		else
			change_commit(fs); /* Whoever syncs is told of errors. */
	}
	fs->changes++;
}

void change_end(struct file_system *fs)
{
	assert(ux_lock_held() && fs->changes > 0);
	fs->changes--;
	ux_wakeup(&fs->changes);
}

/* ---------------- A commit ---------------- */

/* What could not be written may lead to anything that was freed: nobody can have that again. */
static void change_keep(struct file_system *fs)
{
	(void)damaged(fs, "what was freed stays in use, as a change could not be written");
	numbers_clear(&fs->free_blocks);
	numbers_clear(&fs->free_inodes);
}

/* Nothing leads to these any more: now others can have them. */
static void change_release(struct file_system *fs)
{
	uint32_t number = 0;

	while (numbers_take(&fs->free_blocks, &number)) {
		numbers_remove(&fs->hidden, number);
		if (block_release(fs, number) != 0)
			ux_log("%s: block %u stays in use", fs->device.name, number);
	}
	number = 0;
	while (numbers_take(&fs->free_inodes, &number)) {
		numbers_remove(&fs->untold, number);
		numbers_remove(&fs->unsure, number);
		if (inode_release(fs, number) != 0)
			ux_log("%s: inode %u stays in use", fs->device.name, number);
	}
}

static void change_write(struct file_system *fs)
{
	struct cache *cache = &fs->cache;

	cache_write(cache, CACHE_LOOSE);
	cache->mask = inode_hide_new;
	for (enum cache_rank rank = CACHE_LEVEL_1; rank <= CACHE_LEVEL_3; rank++)
		cache_write(cache, rank);
	cache_write(cache, CACHE_POINTERS);
	cache_write(cache, CACHE_NAMES);
	numbers_move(&fs->linked, &fs->new_inodes);
	cache_write(cache, CACHE_AGAIN);
	cache->mask = NULL;
	numbers_clear(&fs->new_blocks);
}

/* What leads to a block that is hidden has to be written as well, by who changes it. */
static bool change_may_retry(const void *file_system, uint32_t block)
{
	const struct file_system *fs = file_system;

	return !fs->is_read_only && !change_is_hidden(fs, block);
}

/* Reckons up what a commit could write, and could not. */
static void change_finish(struct file_system *fs)
{
	bool has_failed = fs->lost_writes != fs->lost_reckoned;
	bool has_forgotten = fs->cache.has_forgotten;
	bool is_old = has_forgotten || cache_lost(&fs->cache, CACHE_POINTERS) > 0;

	if (has_failed || (is_old && fs->free_blocks.count + fs->free_inodes.count > 0))
		change_keep(fs);
	change_release(fs);
	if (has_failed)
		numbers_move(&fs->unsure, &fs->linked);
	else if (!has_forgotten && cache_lost(&fs->cache, CACHE_LOOSE) == 0)
		numbers_clear(&fs->unsure);
	numbers_clear(&fs->linked);
	fs->lost_reckoned = fs->lost_writes;
}

void change_commit(struct file_system *fs)
{
	assert(ux_lock_held());
	while (fs->is_committing)
		ux_sleep(&fs->changes, NULL);
	fs->is_committing = true;
	cache_write(&fs->cache, CACHE_LOOSE); /* Most of it, while others go on. */
	fs->is_frozen = true;
	while (fs->changes > 0)
		ux_sleep(&fs->changes, NULL);
	cache_retry(&fs->cache, change_may_retry);
	change_write(fs);
	change_finish(fs);
	fs->is_frozen = false;
	fs->is_committing = false;
	ux_wakeup(&fs->changes);
}

int change_commit_since(struct file_system *fs, unsigned lost_writes)
{
	change_commit(fs);
	return fs->lost_writes != lost_writes ? EIO : 0;
}

int change_settle(struct file_system *fs, inumber_t number)
{
	if (change_is_new(fs, number) || numbers_have(&fs->linked, number) ||
	    numbers_have(&fs->unsure, number))
		change_commit(fs);
	return numbers_have(&fs->unsure, number) ? EIO : 0;
}
