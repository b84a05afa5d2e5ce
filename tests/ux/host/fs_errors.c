/* SPDX-License-Identifier: MIT */
/*
 * Writes that fail: who is told, and what the file system makes of it.
 *
 * links: servers/ux/fs/cache.c servers/ux/fs/vnode.c servers/ux/fs/mount.c servers/ux/fs/change.c
 * links: servers/ux/fs/numbers.c servers/ux/fs/access.c
 * links: servers/ux/fs/file.c servers/ux/fs/ext2_super.c servers/ux/fs/ext2_allocate.c
 * links: servers/ux/fs/ext2_inode.c servers/ux/fs/ext2_blocks.c servers/ux/fs/ext2_entry.c
 * links: servers/ux/fs/ext2_directory.c servers/ux/fs/path.c
 * links: tests/lib/host/ux/threads.c tests/lib/host/ux/image.c tests/lib/host/ux/server.c
 * flags: -D_POSIX_C_SOURCE=200809L -isystem include -DUX_SERVER -Itests/lib/host/ux -Iservers/ux
 */
#include <stdlib.h>

#include "fs/ext2.h"
#include "server.h"

#define ONE_KIB  "-b 1024 -I 128 -m 0 -O none,filetype,sparse_super,large_file"
#define FOUR_KIB "-b 4096 -I 128 -m 0 -O none,filetype,sparse_super,large_file"
#define MIB      1024 /* Images are measured in KiB. */

/* ---------------- Helpers ---------------- */

static struct vnode *create(const char *name, mode_t mode)
{
	struct vnode *root = fs_root();
	struct vnode *made = NULL;

	EXPECT_EQ(directory_create(root, name, mode, &host_root, &made), 0);
	vnode_release(root);
	return made;
}

static struct vnode *look_up(const char *name)
{
	struct vnode *root = fs_root();
	struct vnode *found = NULL;

	EXPECT_EQ(directory_lookup(root, name, &found), 0);
	vnode_release(root);
	return found;
}

/* Bytes that tell where in which file they are. */
static char pattern(unsigned seed, off_t offset)
{
	return (char)(seed * 31 + (unsigned)(offset >> 9) * 7 + (unsigned)offset + 1);
}

static size_t write_pattern(struct vnode *vnode, unsigned seed, off_t offset, size_t size)
{
	char *buffer = malloc(size);
	size_t done;

	for (size_t i = 0; i < size; i++)
		buffer[i] = pattern(seed, offset + (off_t)i);
	vnode_write(vnode, &host_root, offset, buffer, size, &done);
	free(buffer);
	return done;
}

/* Whether a part of a file has its pattern; or zeros, if `seed` is 0. */
static bool has_pattern(struct vnode *vnode, unsigned seed, off_t offset, size_t size)
{
	char *buffer = malloc(size);
	size_t done;
	bool is_good = vnode_read(vnode, offset, buffer, size, &done) == 0 && done == size;

	for (size_t i = 0; is_good && i < size; i++)
		is_good = buffer[i] == (seed == 0 ? 0 : pattern(seed, offset + (off_t)i));
	free(buffer);
	return is_good;
}

/* ---------------- Tests ---------------- */

TEST(fs_a_bad_disk_is_told_of_once)
{
	struct vnode *vnode;
	unsigned seen = 0;
	uint32_t block;
	char byte;
	size_t done;

	if (!host_mount_new(FOUR_KIB, 8 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 8, 0, 20000);
	EXPECT_EQ(block_find(node_of(vnode), 2, &block), 0);
	image_fail_writes(block * 4096, 4096);
	EXPECT_EQ(vnode_sync(vnode, &seen), EIO);
	EXPECT_EQ(vnode_sync(vnode, &seen), 0);
	image_fail_writes(0, 0);
	write_pattern(vnode, 8, 0, 20000);
	vnode_release(vnode);
	host_unmount();
	EXPECT_EQ(host_mount(), 0);
	vnode = look_up("file");
	image_fail_reads(block * 4096, 4096);
	EXPECT(has_pattern(vnode, 8, 0, 8192)); /* What is beside the bad block can be read. */
	EXPECT_EQ(vnode_read(vnode, 8192, &byte, 1, &done), EIO);
	EXPECT(has_pattern(vnode, 8, 12288, 20000 - 12288));
	image_fail_reads(0, 0);
	EXPECT(has_pattern(vnode, 8, 0, 20000));
	vnode_release(vnode);
	host_unmount();
	image_free();
}

/* One request writes blocks of both files; each opening of the one that is hit is told once. */
TEST(fs_an_error_is_of_the_file_that_it_hits)
{
	struct vnode *bad, *good, *after;
	unsigned one = 0, other = 0, good_seen = 0;
	char bytes[4096];
	size_t done;
	uint32_t block;

	if (!host_mount_new(FOUR_KIB, 8 * MIB))
		return;
	good = create("good", S_IFREG | 0644);
	write_pattern(good, 1, 0, 4096);
	bad = create("bad", S_IFREG | 0644);
	write_pattern(bad, 2, 0, 8192);
	after = create("after", S_IFREG | 0644);
	write_pattern(after, 3, 0, 4096);
	EXPECT_EQ(block_find(node_of(bad), 1, &block), 0);
	image_fail_writes(block * 4096, 4096);
	EXPECT_EQ(vnode_sync(good, &good_seen), 0);
	EXPECT_EQ(vnode_sync(bad, &one), EIO);
	EXPECT_EQ(vnode_sync(bad, &one), 0);
	EXPECT_EQ(vnode_sync(bad, &other), EIO);
	EXPECT_EQ(vnode_sync(good, &good_seen), 0);
	image_fail_writes(0, 0);
	vnode_release(bad);
	vnode_release(good);
	vnode_release(after);
	host_unmount_unchecked();
	EXPECT_EQ(host_mount(), 0);
	good = look_up("good");
	EXPECT(has_pattern(good, 1, 0, 4096));
	after = look_up("after");
	EXPECT(has_pattern(after, 3, 0, 4096));
	bad = look_up("bad");
	EXPECT(has_pattern(bad, 2, 0, 4096));
	EXPECT_EQ(vnode_read(bad, 4096, bytes, sizeof bytes, &done), 0);
	for (unsigned i = 0; i < sizeof bytes; i++)
		EXPECT_EQ(bytes[i], 0); /* Not what another left there. */
	vnode_release(bad);
	vnode_release(good);
	vnode_release(after);
	host_unmount_unchecked();
	image_free();
}

/* An indirect block that is new is on the device already when the block that it leads to fails. */
TEST(fs_what_another_left_is_not_below_a_new_indirect_block)
{
	struct vnode *vnode, *root;
	unsigned seen = 0;
	uint32_t block;

	if (!host_mount_new(FOUR_KIB, 8 * MIB))
		return;
	root = fs_root();
	vnode = create("another", S_IFREG | 0600);
	write_pattern(vnode, 1, 0, 200000);
	EXPECT_EQ(vnode_sync(vnode, &seen), 0);
	EXPECT_EQ(directory_unlink(root, "another"), 0);
	vnode_release(vnode);
	vnode_release(root);
	EXPECT_EQ(fs_sync(), 0);
	vnode = create("file", S_IFREG | 0644);
	EXPECT_EQ(write_pattern(vnode, 2, 0, 120000), 120000);
	EXPECT_EQ(block_find(node_of(vnode), 20, &block), 0);
	image_fail_writes(block * 4096, 4096);
	seen = vnode_errors_at_open(vnode);
	EXPECT_EQ(vnode_sync(vnode, &seen), EIO);
	image_fail_writes(0, 0);
	EXPECT_EQ(fs_sync(), EIO);
	vnode_release(vnode);
	host_unmount_unchecked();
	EXPECT_EQ(host_mount(), 0);
	vnode = look_up("file");
	EXPECT(has_pattern(vnode, 2, 0, 20 * 4096));
	EXPECT(has_pattern(vnode, 0, 20 * 4096, 4096));
	EXPECT(has_pattern(vnode, 2, 21 * 4096, 120000 - 21 * 4096));
	vnode_release(vnode);
	host_unmount_unchecked();
	image_free();
}

/* Nor is what another left taken for numbers of blocks: the lower of two new ones fails. */
TEST(fs_no_new_indirect_block_leads_to_one_that_failed)
{
	struct vnode *vnode, *root;
	unsigned seen = 0;
	uint32_t block;

	if (!host_mount_new(ONE_KIB, 8 * MIB))
		return;
	root = fs_root();
	vnode = create("another", S_IFREG | 0600);
	write_pattern(vnode, 1, 0, 200000);
	EXPECT_EQ(vnode_sync(vnode, &seen), 0);
	EXPECT_EQ(directory_unlink(root, "another"), 0);
	vnode_release(vnode);
	vnode_release(root);
	EXPECT_EQ(fs_sync(), 0);
	vnode = create("file", S_IFREG | 0644);
	EXPECT_EQ(write_pattern(vnode, 2, 300 * 1024, 1024), 1024);
	EXPECT_EQ(block_find(node_of(vnode), 300, &block), 0);
	image_fail_writes((block - 1) * 1024, 1024);
	EXPECT_EQ(vnode_sync(vnode, &seen), EIO);
	image_fail_writes(0, 0);
	EXPECT_EQ(fs_sync(), EIO);
	vnode_release(vnode);
	host_unmount_unchecked();
	EXPECT_EQ(host_mount(), 0);
	vnode = look_up("file");
	EXPECT(has_pattern(vnode, 0, 0, 301 * 1024));
	vnode_release(vnode);
	host_unmount_unchecked();
	image_free();
}

/* A file that nobody had open is one whose next user is told; written again it is there. */
TEST(fs_an_error_waits_for_who_opens_the_file)
{
	struct vnode *vnode;
	unsigned seen;
	uint32_t block;

	if (!host_mount_new(FOUR_KIB, 8 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 2, 0, 4096);
	EXPECT_EQ(block_find(node_of(vnode), 0, &block), 0);
	vnode_release(vnode);
	image_fail_writes(block * 4096, 4096);
	EXPECT_EQ(fs_sync(), EIO);
	image_fail_writes(0, 0);
	vnode = look_up("file");
	seen = vnode_errors_at_open(vnode);
	EXPECT_EQ(vnode_sync(vnode, &seen), EIO);
	seen = vnode_errors_at_open(vnode);
	EXPECT_EQ(vnode_sync(vnode, &seen), 0);
	write_pattern(vnode, 2, 0, 4096);
	EXPECT_EQ(vnode_sync(vnode, &seen), 0);
	vnode_release(vnode);
	host_unmount_unchecked();
	EXPECT_EQ(host_mount(), 0);
	vnode = look_up("file");
	EXPECT(has_pattern(vnode, 2, 0, 4096));
	vnode_release(vnode);
	host_unmount_unchecked();
	image_free();
}

/* What was freed by a change that is not on the device is nobody's from then on. */
TEST(fs_what_a_lost_change_freed_is_not_used_again)
{
	struct vnode *vnode;
	uint32_t block, again;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 8, 0, 1024);
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_EQ(block_find(node_of(vnode), 0, &block), 0);
	image_fail_writes(5 * 1024, 40 * 1024); /* The inodes. */
	EXPECT_EQ(vnode_truncate(vnode, 0), 0);
	EXPECT_EQ(fs_sync(), EIO);
	image_fail_writes(0, 0);
	write_pattern(vnode, 8, 0, 1024);
	EXPECT_EQ(block_find(node_of(vnode), 0, &again), 0);
	EXPECT(again != block);
	vnode_release(vnode);
	host_unmount_unchecked();
	image_free();
}

/* Not by a later commit either, as long as an entry on the device may lead there. */
TEST(fs_what_a_lost_name_leads_to_is_not_used_again)
{
	struct vnode *vnode, *root;
	uint32_t block, free;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	root = fs_root();
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 8, 0, 1024);
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_EQ(block_find(node_of(root), 0, &block), 0);
	image_fail_writes(block * 1024, 1024);
	EXPECT_EQ(directory_unlink(root, "file"), 0);
	EXPECT_EQ(fs_sync(), EIO);
	free = root->file_system->super->n_free_inodes;
	vnode_release(vnode);
	(void)fs_sync();
	EXPECT_EQ(root->file_system->super->n_free_inodes, free);
	image_fail_writes(0, 0);
	EXPECT_EQ(fs_sync(), 0);
	free = root->file_system->super->n_free_inodes;
	vnode_release(create("other", S_IFREG | 0644));
	EXPECT_EQ(directory_unlink(root, "other"), 0);
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_EQ(root->file_system->super->n_free_inodes, free); /* All is as it was. */
	vnode_release(root);
	host_unmount_unchecked();
	image_free();
}

/* What is in use is known in memory, if the disk does not take it. */
TEST(fs_a_bitmap_that_was_lost_is_not_read_again)
{
	static char many[300 * 1024];
	struct vnode *vnode, *large;
	struct file_system *fs;
	uint32_t block, again;
	size_t done, size = host_cache_size;

	host_cache_size = 0;
	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	large = create("large", S_IFREG | 0644);
	EXPECT_EQ(write_pattern(large, 1, 0, sizeof many), sizeof many);
	EXPECT_EQ(fs_sync(), 0);
	fs = large->file_system;
	image_fail_writes(group_of(fs, 0)->block_bitmap * 1024, 1024);
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 2, 0, 1024);
	EXPECT_EQ(fs_sync(), EIO);
	EXPECT_EQ(block_find(node_of(vnode), 0, &block), 0);
	vnode_release(vnode);
	for (unsigned i = 0; i < 10; i++) {
		EXPECT_EQ(vnode_read(large, 0, many, sizeof many, &done), 0);
		(void)fs_sync();
	}
	vnode = create("after", S_IFREG | 0644);
	write_pattern(vnode, 3, 0, 1024);
	EXPECT_EQ(block_find(node_of(vnode), 0, &again), 0);
	EXPECT(again != 0 && again != block);
	vnode_release(vnode);
	vnode_release(large);
	host_unmount_unchecked();
	host_cache_size = size;
	image_free();
}

/* Of a disk on which a file and a directory have the same block: it was sound when it was read. */
TEST(fs_a_directory_that_is_written_over_is_looked_at_anew)
{
	struct vnode *root, *vnode, *found = NULL;
	char bytes[1024];
	size_t done;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	root = fs_root();
	EXPECT_EQ(block_find(node_of(root), 0, &node_of(vnode)->map[0]), 0);
	node_of(vnode)->vnode.size = sizeof bytes;
	vnode_release(look_up("file"));
	for (size_t i = 0; i < sizeof bytes; i++)
		bytes[i] = (char)0xff;
	EXPECT_EQ(vnode_write(vnode, &host_root, 0, bytes, sizeof bytes, &done), 0);
	EXPECT_EQ(directory_lookup(root, "file", &found), EIO);
	vnode_release(root);
	vnode_release(vnode);
	host_unmount_unchecked();
	image_free();
}
