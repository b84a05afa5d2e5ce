/* SPDX-License-Identifier: MIT */
/*
 * For whom blocks are written that were changed before: for whoever writes, or for who changed them
 * first if he works for nobody.
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

#define ONE_KIB "-b 1024 -I 128 -m 0 -O none,filetype,sparse_super,large_file"
#define MIB     1024 /* Images are measured in KiB. */
#define BLOCK   1024u
#define BLOCKS  8u

enum {
	NOBODY,
	ONE,
	OTHER,
	WHO_ASKS
};

/* A file of so many blocks, all of it on the device; nothing has been written for anybody since. */
static struct vnode *begin(void)
{
	static const char zeros[BLOCKS * BLOCK];
	struct vnode *root, *vnode = NULL;
	size_t done = 0;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return NULL;
	root = fs_root();
	EXPECT_EQ(directory_create(root, "file", S_IFREG | 0644, &host_root, &vnode), 0);
	vnode_release(root);
	EXPECT_EQ(vnode_write(vnode, &host_root, 0, zeros, sizeof zeros, &done), 0);
	EXPECT_EQ(fs_sync(), 0);
	memset(host_requests_for, 0, sizeof host_requests_for);
	memset(host_blocks_for, 0, sizeof host_blocks_for);
	return vnode;
}

static void end(struct vnode *vnode)
{
	host_served = NOBODY;
	host_all_are_gone = false;
	vnode_release(vnode);
	host_unmount();
	image_free();
}

static void change_block(struct vnode *vnode, uint32_t whom, uint32_t index)
{
	char block[BLOCK] = {1};
	size_t done;

	host_served = whom;
	EXPECT_EQ(vnode_write(vnode, &host_root, index * BLOCK, block, BLOCK, &done), 0);
}

/* All blocks, first for one, then for the other; and then each once more for another. */
static void change_by_turns(struct vnode *vnode)
{
	for (uint32_t n = 0; n < BLOCKS; n++)
		change_block(vnode, n % 2 == 0 ? ONE : OTHER, n);
	for (uint32_t n = 0; n < BLOCKS; n++)
		change_block(vnode, WHO_ASKS, n);
}

static void sync_for(uint32_t whom)
{
	host_served = whom;
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_EQ(host_served, whom);
}

/* One changed the inode, too. */
TEST(fs_blocks_are_for_who_changed_them_first)
{
	struct vnode *vnode = begin();

	REQUIRE(vnode != NULL);
	change_by_turns(vnode);
	sync_for(NOBODY);
	EXPECT_EQ(host_blocks_for[ONE], BLOCKS / 2 + 1);
	EXPECT_EQ(host_blocks_for[OTHER], BLOCKS / 2);
	EXPECT_EQ(host_blocks_for[NOBODY] + host_blocks_for[WHO_ASKS], 0);
	end(vnode);
}

/* Who reads a file has changed the time of that, which is in the inode, and that in a block. */
TEST(fs_inodes_are_for_who_changed_them_first)
{
	struct vnode *vnode = begin();
	char byte;
	size_t done;

	REQUIRE(vnode != NULL);
	for (host_served = ONE; host_served <= WHO_ASKS; host_served++)
		EXPECT_EQ(vnode_read(vnode, 0, &byte, 1, &done), 0);
	sync_for(NOBODY);
	EXPECT_EQ(host_blocks_for[ONE], 1);
	EXPECT_EQ(host_blocks_for[NOBODY] + host_blocks_for[OTHER] + host_blocks_for[WHO_ASKS], 0);
	end(vnode);
}

/* What has been written is nobody's any more: the next to change it is the first. */
TEST(fs_blocks_are_for_who_changed_them_since)
{
	struct vnode *vnode = begin();

	REQUIRE(vnode != NULL);
	change_by_turns(vnode);
	sync_for(NOBODY);
	change_block(vnode, WHO_ASKS, 0);
	sync_for(NOBODY);
	EXPECT_EQ(host_blocks_for[WHO_ASKS], 2);
	end(vnode);
}

/* And are written together then, whosever they are. */
TEST(fs_blocks_are_for_who_asks)
{
	struct vnode *vnode = begin();

	REQUIRE(vnode != NULL);
	change_by_turns(vnode);
	sync_for(WHO_ASKS);
	EXPECT_EQ(host_blocks_for[WHO_ASKS], BLOCKS + 1);
	EXPECT_EQ(host_requests_for[WHO_ASKS], 2);
	EXPECT_EQ(host_blocks_for[NOBODY] + host_blocks_for[ONE] + host_blocks_for[OTHER], 0);
	end(vnode);
}

/* Many processes that each write a little and end cost no more requests than one. */
TEST(fs_blocks_of_who_is_gone_go_together)
{
	struct vnode *vnode = begin();

	REQUIRE(vnode != NULL);
	change_by_turns(vnode);
	host_all_are_gone = true;
	sync_for(NOBODY);
	EXPECT_EQ(host_blocks_for[NOBODY], BLOCKS + 1);
	EXPECT_EQ(host_requests_for[NOBODY], 2);
	end(vnode);
}
