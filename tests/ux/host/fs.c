/* SPDX-License-Identifier: MIT */
/*
 * Files on ext2: data, sizes, times, full disks, what is refused.
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

static const char *const all_kinds[] = {
	ONE_KIB,
	FOUR_KIB,
	"-b 2048 -I 256 -m 0 -O none,filetype,sparse_super,large_file",
	"-b 1024 -I 256 -m 0 -O none,sparse_super,large_file",
	"-b 4096 -I 256 -m 0 -O none,filetype,dir_index,ext_attr,resize_inode,sparse_super",
	"-b 1024 -m 0 -r 0 -O none",
};

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

static int unlink_it(const char *name)
{
	struct vnode *root = fs_root();
	int error = directory_unlink(root, name);

	vnode_release(root);
	return error;
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

static void unmount_and_free(void)
{
	host_unmount();
	image_free();
}

/* All that is in memory only is lost, as if the server had just started. */
static void mount_again(void)
{
	host_unmount();
	EXPECT_EQ(host_mount(), 0);
}

static void release_and_mount_again(struct vnode *vnode)
{
	vnode_release(vnode);
	mount_again();
}

static uint32_t free_blocks(void)
{
	struct vnode *root = fs_root();
	uint32_t blocks;

	EXPECT_EQ(fs_sync(), 0);
	blocks = root->file_system->super->n_free_blocks;

	vnode_release(root);
	return blocks;
}

/* ---------------- Files ---------------- */

TEST(fs_files_stay_on_every_kind_of_image)
{
	for (size_t i = 0; i < sizeof all_kinds / sizeof all_kinds[0]; i++) {
		struct vnode *vnode;

		if (!host_mount_new(all_kinds[i], 8 * MIB))
			return;
		vnode = create("file", S_IFREG | 0644);
		EXPECT_EQ(write_pattern(vnode, 3, 0, 100000), 100000);
		vnode_release(vnode);
		vnode_release(create("folder", S_IFDIR | 0755));
		mount_again();
		vnode = look_up("file");
		EXPECT_EQ(vnode->size, 100000);
		EXPECT(has_pattern(vnode, 3, 0, 100000));
		vnode_release(vnode);
		unmount_and_free();
	}
}

TEST(fs_reads_what_others_wrote)
{
	char buffer[64];
	struct vnode *vnode;
	size_t done;

	REQUIRE(image_make(FOUR_KIB, 8 * MIB));
	REQUIRE(image_debugfs("write /etc/passwd name"));
	REQUIRE(image_debugfs("mknod console c 5 1"));
	REQUIRE(host_mount() == 0);
	vnode = look_up("name");
	EXPECT_EQ(vnode_read(vnode, 0, buffer, sizeof buffer, &done), 0);
	EXPECT_EQ(done, vnode->size < (off_t)sizeof buffer ? (size_t)vnode->size : sizeof buffer);
	vnode_release(vnode);
	vnode = look_up("console");
	EXPECT(S_ISCHR(vnode->mode));
	EXPECT_EQ(vnode->device, makedev(5, 1));
	vnode_release(vnode);
	unmount_and_free();
}

TEST(fs_reading_ends_at_the_end)
{
	char buffer[16];
	struct vnode *vnode;
	size_t done;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 1, 0, 10);
	EXPECT_EQ(vnode_read(vnode, 4, buffer, 16, &done), 0);
	EXPECT_EQ(done, 6);
	EXPECT_EQ(vnode_read(vnode, 10, buffer, 16, &done), 0);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(vnode_read(vnode, 1ll << 40, buffer, 16, &done), 0);
	EXPECT_EQ(done, 0);
	EXPECT_EQ(vnode_read(vnode, -1, buffer, 16, &done), EINVAL);
	EXPECT_EQ(vnode_write(vnode, &host_root, -2, buffer, 1, &done), EINVAL);
	EXPECT_EQ(write_pattern(vnode, 1, -1, 5), 5);
	EXPECT_EQ(vnode->size, 15);
	vnode_release(vnode);
	unmount_and_free();
}

TEST(fs_three_levels_of_indirect_blocks)
{
	enum {
		SIZE = 70 << 20,
		STEP = 1 << 20
	}; /* The third level begins at 65,804 KiB. */
	struct vnode *vnode;
	uint32_t free_before;

	if (!host_mount_new(ONE_KIB, 80 * MIB))
		return;
	free_before = free_blocks();
	vnode = create("big", S_IFREG | 0644);
	for (off_t offset = 0; offset < SIZE; offset += STEP)
		REQUIRE(write_pattern(vnode, 5, offset, STEP) == STEP);
	vnode_release(vnode);
	mount_again();
	vnode = look_up("big");
	for (off_t offset = 0; offset < SIZE; offset += STEP)
		REQUIRE(has_pattern(vnode, 5, offset, STEP));
	EXPECT_EQ(vnode_truncate(vnode, SIZE - 1000), 0);
	EXPECT_EQ(vnode_truncate(vnode, 5 << 20), 0);
	EXPECT(has_pattern(vnode, 5, 4 << 20, 1 << 20));
	release_and_mount_again(vnode);
	EXPECT_EQ(unlink_it("big"), 0);
	EXPECT_EQ(free_blocks(), free_before);
	unmount_and_free();
}

TEST(fs_holes_take_no_room)
{
	const off_t far = (3ll << 30) + 123;
	struct vnode *vnode;
	struct stat status;
	uint32_t free_before;

	for (unsigned i = 0; i < 2; i++) {
		if (!host_mount_new(i == 0 ? ONE_KIB : FOUR_KIB, 8 * MIB))
			return;
		free_before = free_blocks();
		vnode = create("sparse", S_IFREG | 0644);
		EXPECT_EQ(write_pattern(vnode, 9, far, 5000), 5000);
		EXPECT_EQ(write_pattern(vnode, 9, 300 << 10, 10), 10);
		EXPECT(has_pattern(vnode, 0, far - 5000, 5000));
		EXPECT(has_pattern(vnode, 9, far, 5000));
		vnode_stat(vnode, &status);
		EXPECT_EQ(status.st_size, far + 5000);
		EXPECT_LT(status.st_blocks, 100);
		vnode_release(vnode);
		mount_again();
		vnode = look_up("sparse");
		EXPECT_EQ(vnode->size, far + 5000);
		EXPECT(has_pattern(vnode, 9, far, 5000));
		EXPECT(has_pattern(vnode, 0, 1 << 20, 5000));
		EXPECT_EQ(vnode_truncate(vnode, far + 1), 0);
		EXPECT_EQ(vnode_truncate(vnode, far + 100), 0);
		EXPECT(has_pattern(vnode, 0, far + 1, 99));
		vnode_release(vnode);
		EXPECT_EQ(unlink_it("sparse"), 0);
		EXPECT_EQ(free_blocks(), free_before);
		unmount_and_free();
	}
}

TEST(fs_no_file_is_larger_than_its_map)
{
	struct vnode *vnode;
	size_t done;
	off_t most;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	most = vnode->file_system->size_max;
	EXPECT_EQ(most, (off_t)(12 + 256 + 65536 + 16777216) << 10);
	EXPECT_EQ(vnode_write(vnode, &host_root, most, "x", 1, &done), EFBIG);
	EXPECT_EQ(vnode_write(vnode, &host_root, INT64_MAX, "x", 1, &done), EFBIG);
	EXPECT_EQ(write_pattern(vnode, 1, most - 3, 10), 3);
	EXPECT_EQ(vnode->size, most);
	EXPECT_EQ(vnode_truncate(vnode, most + 1), EFBIG);
	EXPECT_EQ(vnode_truncate(vnode, -1), EINVAL);
	EXPECT_EQ(vnode_truncate(vnode, 0), 0);
	EXPECT_EQ(vnode_truncate(vnode, most), 0);
	vnode_release(vnode);
	unmount_and_free();
}

TEST(fs_times)
{
	struct vnode *vnode, *root;
	char byte;
	size_t done;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	root = fs_root();
	host_seconds = 1000;
	vnode = create("file", S_IFREG | 0644);
	EXPECT_EQ(vnode->accessed, 1000);
	EXPECT_EQ(root->modified, 1000);
	host_seconds = 1001;
	write_pattern(vnode, 1, 0, 10);
	host_seconds = 1002;
	vnode_read(vnode, 0, &byte, 1, &done);
	host_seconds = 1003;
	vnode_set_mode(vnode, 0600);
	vnode_release(vnode);
	release_and_mount_again(root);
	vnode = look_up("file");
	EXPECT_EQ(vnode->modified, 1001);
	EXPECT_EQ(vnode->accessed, 1002);
	EXPECT_EQ(vnode->changed, 1003);
	EXPECT_EQ(vnode->mode, S_IFREG | 0600);
	EXPECT_EQ(vnode_set_times(vnode, 5, -7), 0);
	host_seconds = 1004;
	EXPECT_EQ(vnode_set_owner(vnode, 70000, 80000), 0);
	vnode_release(vnode);
	mount_again();
	vnode = look_up("file");
	EXPECT_EQ(vnode->accessed, 5);
	EXPECT_EQ(vnode->modified, -7);
	EXPECT_EQ(vnode->changed, 1004);
	EXPECT_EQ(vnode->uid, 70000);
	EXPECT_EQ(vnode->gid, 80000);
	vnode_release(vnode);
	host_seconds = 1000000000;
	unmount_and_free();
}

TEST(fs_an_unlinked_file_lives_until_nobody_uses_it)
{
	struct vnode *vnode;
	uint32_t free_before;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	free_before = free_blocks();
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 1, 0, 50000);
	EXPECT_EQ(unlink_it("file"), 0);
	EXPECT(has_pattern(vnode, 1, 0, 50000));
	EXPECT_LT(free_blocks(), free_before);
	vnode_release(vnode);
	EXPECT_EQ(free_blocks(), free_before);
	vnode = create("other", S_IFREG | 0644);
	write_pattern(vnode, 1, 0, 50000);
	EXPECT_EQ(unlink_it("other"), 0);
	fs_unmount(); /* While it is in use: its blocks are freed nevertheless. */
	EXPECT_EQ(free_blocks(), free_before);
	vnode_release(vnode);
	unmount_and_free();
}

TEST(fs_a_deleted_file_s_attributes_go_too)
{
	REQUIRE(image_make(ONE_KIB ",ext_attr", 4 * MIB));
	REQUIRE(image_debugfs("write /etc/passwd one") && image_debugfs("ea_set one user.a b"));
	REQUIRE(image_debugfs("write /etc/passwd two"));
	REQUIRE(host_mount() == 0);
	EXPECT_EQ(unlink_it("one"), 0);
	EXPECT_EQ(unlink_it("two"), 0);
	unmount_and_free();
}

TEST(fs_maps_are_told_before_a_file_changes)
{
	struct vnode *vnode;
	unsigned before;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	before = host_changes;
	write_pattern(vnode, 1, 0, 5000);
	EXPECT_EQ(host_changes, before);
	vnode->object = (struct memory_object *)vnode_reference(vnode); /* Anything but null. */
	write_pattern(vnode, 2, 100, 50);
	EXPECT_EQ(host_changes, before + 1);
	EXPECT(host_changed_vnode == vnode && host_changed_offset == 100 &&
	       host_changed_size == 50);
	EXPECT_EQ(vnode_truncate(vnode, 1234), 0);
	EXPECT(host_changed_offset == 1234 && host_changed_size == 5000 - 1234);
	before = host_forgets;
	vnode_release(vnode);
	EXPECT_EQ(host_forgets, before + 1);
	unmount_and_free();
}

/* ---------------- Full disks ---------------- */

TEST(fs_full_disk)
{
	struct vnode *vnode, *other;
	off_t size = 0;
	size_t done;

	for (unsigned i = 0; i < 2; i++) {
		if (!host_mount_new(i == 0 ? ONE_KIB : FOUR_KIB, 4 * MIB))
			return;
		size = 0;
		vnode = create("file", S_IFREG | 0644);
		other = create("other", S_IFREG | 0644);
		while ((done = write_pattern(vnode, 4, size, 10000)) > 0)
			size += (off_t)done;
		EXPECT_EQ(vnode_write(vnode, &host_root, size, "x", 1, &done), ENOSPC);
		EXPECT_EQ(vnode_write(other, &host_root, 1 << 30, "x", 1, &done), ENOSPC);
		EXPECT_EQ(other->size, 0);
		EXPECT_EQ(node_of(other)->sectors, 0);
		EXPECT_EQ(vnode->size, size);
		EXPECT_EQ(free_blocks(), 0);
		EXPECT(has_pattern(vnode, 4, 0, (size_t)size));
		vnode_release(vnode);
		vnode_release(other);
		mount_again();
		vnode = look_up("file");
		EXPECT(has_pattern(vnode, 4, 0, (size_t)size));
		EXPECT_EQ(vnode_truncate(vnode, 100), 0);
		EXPECT_EQ(write_pattern(vnode, 4, 100, 10000), 10000);
		vnode_release(vnode);
		unmount_and_free();
	}
}

/* What needs a block more for the directory alone: so long are the names that none fits twice. */
static void fs_try_names_in_a_full_directory(struct vnode *root, struct vnode *folder,
					     struct vnode *file)
{
	char name[NAME_MAX + 1] = "", text[PATH_MAX] = "";
	struct vnode *made;
	int error = 0;

	memset(name, 'n', NAME_MAX);
	memset(text, 't', 200);
	while ((error = directory_link(folder, name, file, &host_user)) == 0)
		name[0]++;
	EXPECT_EQ(error, ENOSPC);
	EXPECT_EQ(directory_rename(root, "file", folder, name, &host_user), ENOSPC);
	EXPECT_EQ(directory_symlink(folder, "s", text, &host_user, &made), ENOSPC);
	EXPECT_EQ(directory_symlink(folder, "s", text, &host_root, &made), 0);
	vnode_release(made);
	EXPECT_EQ(directory_link(folder, name, file, &host_root), 0);
	do
		name[0]++;
	while (directory_link(folder, name, file, &host_user) == 0);
	EXPECT_EQ(directory_rename(root, "file", folder, name, &host_root), 0);
	EXPECT_EQ(directory_rename(folder, name, root, "file", &host_user), 0);
}

/* Others than root have ENOSPC while there is room for root, until something is freed. */
TEST(fs_the_last_blocks_are_roots)
{
	struct vnode *root, *vnode, *made;
	off_t size = 0;
	size_t done;
	static char text[1024];

	if (!host_mount_new(ONE_KIB " -m 10", 4 * MIB))
		return;
	root = fs_root();
	vnode = create("file", S_IFREG | 0644);
	while (vnode_write(vnode, &host_user, size, text, sizeof text, &done) == 0)
		size += (off_t)done;
	EXPECT_EQ(root->file_system->super->n_reserved_blocks, 409);
	EXPECT_LT(free_blocks() - 409, 3); /* A block with one that leads to it did not fit. */
	while (directory_create(root, "folder", S_IFDIR | 0755, &host_user, &made) == 0)
		vnode_release(made);
	EXPECT_EQ(directory_lookup(root, "folder", &made), ENOENT);
	EXPECT_EQ(directory_create(root, "folder", S_IFDIR | 0755, &host_root, &made), 0);
	fs_try_names_in_a_full_directory(root, made, vnode);
	vnode_release(made);
	EXPECT_EQ(vnode_write(vnode, &host_root, size, text, sizeof text, &done), 0);
	EXPECT_EQ(vnode_truncate(vnode, size - 100 * 1024), 0);
	EXPECT_EQ(vnode_write(vnode, &host_user, 0, text, sizeof text, &done), 0);
	EXPECT_EQ(vnode_write(vnode, &host_user, vnode->size, text, sizeof text, &done), 0);
	vnode_release(vnode);
	vnode_release(root);
	unmount_and_free();
}

TEST(fs_full_disk_has_no_room_for_directories)
{
	struct vnode *root, *vnode, *made;
	off_t size = 0;
	size_t done;

	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	root = fs_root();
	vnode = create("file", S_IFREG | 0644);
	while ((done = write_pattern(vnode, 4, size, 10000)) > 0)
		size += (off_t)done;
	EXPECT_EQ(directory_create(root, "folder", S_IFDIR | 0755, &host_root, &made), ENOSPC);
	EXPECT_EQ(root->links, 3); /* With lost+found. */
	vnode_release(vnode);
	vnode_release(root);
	unmount_and_free();
}

/* Of 64 inodes three, as a twentieth of the blocks is. */
static void expect_last_inodes_are_roots(struct vnode *root)
{
	char name[16] = "file-?a";
	struct vnode *made;

	for (char letter = 'b'; letter <= 'e'; letter++) {
		name[5] = letter;
		EXPECT_EQ(directory_create(root, "mine", S_IFREG | 0644, &host_user, &made),
			  ENOSPC);
		EXPECT_EQ(directory_unlink(root, name), 0);
	}
	EXPECT_EQ(directory_create(root, "mine", S_IFREG | 0644, &host_user, &made), 0);
	vnode_release(made);
	EXPECT_EQ(directory_create(root, "mine-too", S_IFREG | 0644, &host_user, &made), ENOSPC);
}

TEST(fs_no_inodes)
{
	struct vnode *root, *made;
	char name[16] = "file-";
	unsigned n = 0;
	int error = 0;

	if (!host_mount_new(ONE_KIB " -N 64 -m 5", 4 * MIB))
		return;
	root = fs_root();
	for (; error == 0 && n < 1000; n++) {
		name[5] = (char)('a' + n % 26);
		name[6] = (char)('a' + n / 26);
		error = directory_create(root, name, S_IFREG | 0644, &host_root, &made);
		if (error == 0)
			vnode_release(made);
	}
	EXPECT_EQ(error, ENOSPC);
	EXPECT_EQ(n, 64 - 11 + 1);
	EXPECT_EQ(directory_unlink(root, "file-aa"), 0);
	vnode_release(create("again", S_IFREG | 0644));
	expect_last_inodes_are_roots(root);
	vnode_release(root);
	unmount_and_free();
}

/* ---------------- The cache ---------------- */

TEST(fs_a_small_cache_is_enough)
{
	size_t size = host_cache_size;
	struct vnode *vnode;

	host_cache_size = 0; /* The fewest buffers that there may be. */
	if (!host_mount_new(FOUR_KIB, 16 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	EXPECT_EQ(write_pattern(vnode, 8, 0, 6 << 20), 6 << 20);
	EXPECT(has_pattern(vnode, 8, 0, 6 << 20));
	vnode_release(vnode);
	unmount_and_free();
	host_cache_size = size;
}

/* What is only told of files, such as times of reading, must not fill the cache between commits. */
TEST(fs_attributes_of_many_files_fit_into_a_small_cache)
{
	size_t size = host_cache_size;
	struct vnode *root;
	char name[] = "file-??";

	host_cache_size = 0;
	if (!host_mount_new(ONE_KIB " -I 256", 8 * MIB))
		return;
	root = fs_root();
	for (unsigned i = 0; i < 200; i++) {
		name[5] = (char)('a' + i % 26);
		name[6] = (char)('a' + i / 26);
		vnode_release(create(name, S_IFREG | 0644));
	}
	for (unsigned i = 0; i < 200; i++) {
		struct vnode *vnode;

		name[5] = (char)('a' + i % 26);
		name[6] = (char)('a' + i / 26);
		vnode = look_up(name);
		EXPECT_EQ(vnode_set_mode(vnode, 0600), 0);
		vnode_release(vnode);
	}
	vnode_release(root);
	unmount_and_free();
	host_cache_size = size;
}

TEST(fs_neighbours_travel_together)
{
	struct vnode *vnode;
	unsigned reads, writes;

	if (!host_mount_new(FOUR_KIB, 16 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	writes = image_writes;
	write_pattern(vnode, 8, 0, 512 << 10);
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_LT(image_writes - writes, 20);
	vnode_release(vnode);
	mount_again();
	vnode = look_up("file");
	reads = image_reads;
	for (off_t offset = 0; offset < 512 << 10; offset += 4096)
		EXPECT(has_pattern(vnode, 8, offset, 4096));
	EXPECT_LT(image_reads - reads, 25);
	reads = image_reads;
	EXPECT(has_pattern(vnode, 8, 0, 512 << 10));
	EXPECT_EQ(image_reads, reads);
	vnode_release(vnode);
	unmount_and_free();
}

TEST(fs_nothing_is_written_twice)
{
	struct vnode *vnode;
	unsigned writes, seen = 0;

	if (!host_mount_new(FOUR_KIB, 8 * MIB))
		return;
	vnode = create("file", S_IFREG | 0644);
	write_pattern(vnode, 8, 0, 10000);
	EXPECT_EQ(vnode_sync(vnode, &seen), 0);
	writes = image_writes;
	EXPECT_EQ(fs_sync(), 0);
	EXPECT_EQ(image_writes, writes);
	vnode_release(vnode);
	unmount_and_free();
}

/* ---------------- Mounting ---------------- */

static struct ext2_super *super_of_image(void)
{
	return (struct ext2_super *)(image_bytes + EXT2_SUPER_OFFSET);
}

TEST(fs_the_mark_of_a_mount)
{
	if (!host_mount_new(ONE_KIB, 4 * MIB))
		return;
	EXPECT_EQ(super_of_image()->state, 0);
	host_unmount();
	EXPECT_EQ(super_of_image()->state, EXT2_STATE_VALID);
	EXPECT_EQ(super_of_image()->written, host_seconds);
	super_of_image()->state = 0;
	EXPECT_EQ(host_mount(), 0);
	EXPECT(strstr(host_log_line, "was not unmounted") != NULL);
	host_unmount();
	EXPECT_EQ(super_of_image()->state, 0);
	image_free();
}

TEST(fs_unknown_features_are_refused)
{
	static const char *const kinds[] = {"-O extents", "-O flex_bg", "-O huge_file",
					    "-O 64bit,extents", "-O metadata_csum"};

	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++) {
		REQUIRE(image_make(kinds[i], 8 * MIB));
		EXPECT_EQ(host_mount(), EINVAL);
		EXPECT(strstr(host_log_line, "not mounted: it has features") != NULL);
		image_free();
	}
}

TEST(fs_no_file_system_is_refused)
{
	REQUIRE(image_make(ONE_KIB, 4 * MIB));
	memset(image_bytes, 0, image_size);
	EXPECT_EQ(host_mount(), EINVAL);
	EXPECT(strstr(host_log_line, "no ext2") != NULL);
	image_free();
	REQUIRE(image_make(ONE_KIB, 4 * MIB));
	image_size /= 2; /* The device is shorter than its file system. */
	EXPECT_EQ(host_mount(), EINVAL);
	EXPECT(strstr(host_log_line, "does not fit") != NULL);
	image_free();
}
