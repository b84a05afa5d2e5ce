/* SPDX-License-Identifier: MIT */
/*
 * A file system on a device that cannot be written: whatever would change it is EROFS and changes
 * nothing, in memory neither, and reading goes on.
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
#include <sys/unistd.h>

#include "fs/ext2.h"
#include "server.h"

#define KINDS "-b 1024 -I 128 -m 0 -O none,filetype,sparse_super,large_file"
#define KIB   8192

#define TEXT "what is in it"

static struct vnode *root, *folder, *file, *pipe_file, *device;
static uint8_t *before;

static struct vnode *make(const char *name, mode_t mode)
{
	struct vnode *made = NULL;

	EXPECT_EQ(directory_create(root, name, mode, &host_root, &made), 0);
	return made;
}

static struct vnode *find(const char *name)
{
	struct vnode *found = NULL;

	EXPECT_EQ(directory_lookup(root, name, &found), 0);
	return found;
}

/* One of each, as long as it can be written. */
static bool make_image(void)
{
	size_t done;

	if (!host_mount_new(KINDS, KIB))
		return false;
	root = fs_root();
	file = make("file", S_IFREG | 0644);
	EXPECT_EQ(vnode_write(file, &host_root, 0, TEXT, sizeof TEXT, &done), 0);
	vnode_release(file);
	vnode_release(make("folder", S_IFDIR | 0755));
	vnode_release(make("pipe", S_IFIFO | 0666));
	vnode_release(make("device", S_IFCHR | 0666));
	vnode_release(root);
	host_unmount();
	return true;
}

static bool begin(void)
{
	if (!make_image())
		return false;
	before = malloc(image_size);
	memcpy(before, image_bytes, image_size);
	image_is_read_only = true;
	if (!EXPECT_EQ(host_mount(), 0))
		return false;
	root = fs_root();
	folder = find("folder");
	file = find("file");
	pipe_file = find("pipe");
	device = find("device");
	return true;
}

static void end(void)
{
	vnode_release(folder);
	vnode_release(file);
	vnode_release(pipe_file);
	vnode_release(device);
	vnode_release(root);
	host_unmount();
	EXPECT(memcmp(before, image_bytes, image_size) == 0);
	free(before);
	image_free();
}

static void expect_as_it_was(const struct vnode *vnode, mode_t mode, off_t size)
{
	EXPECT_EQ(vnode->mode, mode);
	EXPECT_EQ(vnode->uid, 0);
	EXPECT_EQ(vnode->gid, 0);
	EXPECT_EQ(vnode->size, size);
	EXPECT_EQ(vnode->modified, host_seconds);
}

TEST(fs_read_only_names)
{
	struct vnode *made = NULL;

	if (!begin())
		return;
	EXPECT_EQ(directory_create(root, "new", S_IFREG | 0644, &host_root, &made), EROFS);
	EXPECT_EQ(directory_create(folder, "new", S_IFDIR | 0755, &host_root, &made), EROFS);
	EXPECT_EQ(directory_symlink(root, "new", "file", &host_root, &made), EROFS);
	EXPECT_EQ(directory_link(root, "new", file, &host_root), EROFS);
	EXPECT_EQ(directory_unlink(root, "file"), EROFS);
	EXPECT_EQ(directory_remove(root, "folder"), EROFS);
	EXPECT_EQ(directory_rename(root, "file", folder, "file", &host_root), EROFS);
	EXPECT(made == NULL);
	EXPECT_EQ(directory_lookup(root, "new", &made), ENOENT);
	EXPECT_EQ(directory_lookup(folder, "file", &made), ENOENT);
	EXPECT_EQ(file->links, 1);
	end();
}

TEST(fs_read_only_files)
{
	char text[sizeof TEXT];
	size_t done = 1;

	if (!begin())
		return;
	EXPECT_EQ(vnode_write(file, &host_root, 0, "no", 2, &done), EROFS);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(vnode_truncate(file, 0), EROFS);
	EXPECT_EQ(vnode_set_mode(file, 0600), EROFS);
	EXPECT_EQ(vnode_set_owner(file, 7, 9), EROFS);
	EXPECT_EQ(vnode_set_times(file, 1, 2), EROFS);
	expect_as_it_was(file, S_IFREG | 0644, sizeof TEXT);
	EXPECT_EQ(vnode_read(file, 0, text, sizeof text, &done), 0);
	EXPECT_EQ(done, sizeof TEXT);
	EXPECT(memcmp(text, TEXT, sizeof TEXT) == 0);
	EXPECT_EQ(fs_sync(), 0); /* There is nothing that would have to be written. */
	end();
}

/* Nobody may write, root neither; a pipe and a device are not on the disk. */
TEST(fs_read_only_access)
{
	if (!begin())
		return;
	EXPECT_EQ(vnode_access(file, &host_root, W_OK), EROFS);
	EXPECT_EQ(vnode_access(file, &host_root, R_OK | W_OK), EROFS);
	EXPECT_EQ(vnode_access(file, &host_user, W_OK), EROFS);
	EXPECT_EQ(vnode_access(folder, &host_root, W_OK | X_OK), EROFS);
	EXPECT_EQ(vnode_access(file, &host_root, R_OK), 0);
	EXPECT_EQ(vnode_access(file, &host_user, R_OK), 0);
	EXPECT_EQ(vnode_access(folder, &host_user, R_OK | X_OK), 0);
	EXPECT_EQ(vnode_access(pipe_file, &host_user, R_OK | W_OK), 0);
	EXPECT_EQ(vnode_access(device, &host_user, R_OK | W_OK), 0);
	end();
}

/* That it can be written is tried once, and told of. */
TEST(fs_read_only_is_told_of)
{
	unsigned lines = host_log_lines;

	if (!begin())
		return;
	EXPECT_EQ(host_log_lines, lines + 1);
	EXPECT(strcmp(host_log_line, "image: mounted read-only, as it cannot be written") == 0);
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_EQ(host_log_lines, lines + 1);
	end();
}
