/* SPDX-License-Identifier: MIT */
/*
 * Names on ext2: directories, links, renaming, paths, symbolic links, permissions.
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

#define ONE_KIB  "-b 1024 -I 128 -m 0 -O none,filetype,sparse_super,large_file"
#define FOUR_KIB "-b 4096 -I 256 -m 0 -O none,filetype,sparse_super,large_file"
#define MIB      1024

static struct process process; /* The caller of paths: root, or somebody. */

/* ---------------- Helpers, all by paths ---------------- */

static bool begin(const char *options)
{
	if (!host_mount_new(options, 8 * MIB))
		return false;
	process = (struct process){.credentials = host_root, .directory = fs_root()};
	return true;
}

static void end(void)
{
	vnode_release(process.directory);
	host_unmount();
	image_free();
}

static int make(const char *path, mode_t mode)
{
	char name[NAME_MAX + 1];
	struct vnode *directory, *made;
	int error = path_parent(&process, path, &directory, name);

	if (error != 0)
		return error;
	error = directory_create(directory, name, mode, &process.credentials, &made);
	if (error == 0)
		vnode_release(made);
	vnode_release(directory);
	return error;
}

static int make_folder(const char *path)
{
	return make(path, S_IFDIR | 0755);
}

static int make_file(const char *path)
{
	return make(path, S_IFREG | 0644);
}

static int take_away(const char *path, int (*how)(struct vnode *, const char *))
{
	char name[NAME_MAX + 1];
	struct vnode *directory;
	int error = path_parent(&process, path, &directory, name);

	if (error != 0)
		return error;
	error = how(directory, name);
	vnode_release(directory);
	return error;
}

static int unlink_path(const char *path)
{
	return take_away(path, directory_unlink);
}

static int remove_path(const char *path)
{
	return take_away(path, directory_remove);
}

static int rename_path(const char *from, const char *to)
{
	char old_name[NAME_MAX + 1], new_name[NAME_MAX + 1];
	struct vnode *one, *other;
	int error = path_parent(&process, from, &one, old_name);

	if (error != 0)
		return error;
	error = path_parent(&process, to, &other, new_name);
	if (error == 0) {
		error = directory_rename(one, old_name, other, new_name, &host_root);
		vnode_release(other);
	}
	vnode_release(one);
	return error;
}

/* The number of the file, or 0 minus the error. */
static int64_t number_of(const char *path, bool follow)
{
	struct vnode *vnode;
	int error = path_lookup(&process, path, follow, &vnode);
	int64_t number;

	if (error != 0)
		return -error;
	number = vnode->number;
	vnode_release(vnode);
	return number;
}

static int look_up(const char *path)
{
	int64_t number = number_of(path, true);

	return number < 0 ? (int)-number : 0;
}

static nlink_t links_of(const char *path)
{
	struct vnode *vnode = NULL;
	nlink_t links;

	if (!EXPECT_EQ(path_lookup(&process, path, true, &vnode), 0))
		return 0;
	links = vnode->links;
	vnode_release(vnode);
	return links;
}

static int link_path(const char *file, const char *path)
{
	char name[NAME_MAX + 1];
	struct vnode *vnode, *directory;
	int error = path_lookup(&process, file, true, &vnode);

	if (error != 0)
		return error;
	error = path_parent(&process, path, &directory, name);
	if (error == 0) {
		error = directory_link(directory, name, vnode, &host_root);
		vnode_release(directory);
	}
	vnode_release(vnode);
	return error;
}

static void go_to(const char *path)
{
	struct vnode *vnode;

	if (!EXPECT_EQ(path_lookup(&process, path, true, &vnode), 0))
		return;
	vnode_release(process.directory);
	process.directory = vnode;
}

/* ---------------- Directories ---------------- */

TEST(fs_names_come_and_go)
{
	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_folder("/a/b"), 0);
	EXPECT_EQ(make_folder("/a/b"), EEXIST);
	EXPECT_EQ(make_file("/a/b/c"), 0);
	EXPECT_EQ(make_file("/a/b/c"), EEXIST);
	EXPECT_EQ(make_folder("/a/b/."), EEXIST);
	EXPECT_EQ(make_folder("/a/b/.."), EEXIST);
	EXPECT_EQ(make_folder("/"), EEXIST);
	EXPECT_EQ(make_file("/a/none/c"), ENOENT);
	EXPECT_EQ(make_file("/a/b/c/d"), ENOTDIR);
	EXPECT_EQ(links_of("/a"), 3);
	EXPECT_EQ(remove_path("/a"), ENOTEMPTY);
	EXPECT_EQ(remove_path("/a/b/c"), ENOTDIR);
	EXPECT_EQ(unlink_path("/a/b"), EPERM);
	EXPECT_EQ(unlink_path("/a/b/none"), ENOENT);
	EXPECT_EQ(unlink_path("/a/b/c"), 0);
	EXPECT_EQ(remove_path("/a/b/."), EINVAL);
	EXPECT_EQ(remove_path("/a/b/.."), ENOTEMPTY);
	EXPECT_EQ(remove_path("/"), EINVAL);
	EXPECT_EQ(remove_path("/a/b/"), 0);
	EXPECT_EQ(links_of("/a"), 2);
	EXPECT_EQ(look_up("/a/b"), ENOENT);
	end();
}

TEST(fs_links)
{
	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_file("/one"), 0);
	EXPECT_EQ(make_folder("/folder"), 0);
	EXPECT_EQ(link_path("/one", "/folder/two"), 0);
	EXPECT_EQ(link_path("/one", "/folder/two"), EEXIST);
	EXPECT_EQ(link_path("/folder", "/other"), EPERM);
	EXPECT_EQ(number_of("/one", true), number_of("/folder/two", true));
	EXPECT_EQ(links_of("/one"), 2);
	EXPECT_EQ(unlink_path("/one"), 0);
	EXPECT_EQ(links_of("/folder/two"), 1);
	end();
}

TEST(fs_a_removed_directory_is_empty_for_ever)
{
	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/gone"), 0);
	go_to("/gone");
	EXPECT_EQ(remove_path("/gone"), 0);
	EXPECT_EQ(make_file("file"), ENOENT);
	EXPECT_EQ(look_up(".."), ENOENT);
	go_to("/");
	end();
}

TEST(fs_long_names_and_many_entries)
{
	enum {
		MANY = 900
	};
	char path[NAME_MAX + 3];

	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/d"), 0);
	go_to("/d");
	for (unsigned i = 0; i < MANY; i++) {
		format(path, sizeof path, "%0*u", 8 + (int)(i % 248), i);
		REQUIRE(make_file(path) == 0);
	}
	memset(path, 'x', NAME_MAX + 1);
	path[NAME_MAX + 1] = '\0';
	EXPECT_EQ(make_file(path), ENAMETOOLONG);
	EXPECT_EQ(look_up(path), ENAMETOOLONG);
	path[NAME_MAX] = '\0';
	EXPECT_EQ(make_file(path), 0);
	EXPECT_EQ(look_up(path), 0);
	for (unsigned i = 0; i < MANY; i++) {
		format(path, sizeof path, "%0*u", 8 + (int)(i % 248), i);
		EXPECT_EQ(look_up(path), 0);
		if (i % 3 != 0)
			REQUIRE(unlink_path(path) == 0);
	}
	end();
}

/* Reads a directory in small pieces, and takes an entry away after each. */
static unsigned count_entries(struct vnode *directory, size_t room, bool removes)
{
	char *buffer = malloc(room);
	off_t cookie = 0;
	size_t used;
	unsigned n = 0;

	while (directory_read(directory, &cookie, buffer, room, &used) == 0 && used > 0) {
		struct dirent *entry = NULL;

		for (size_t at = 0; at < used; at += entry->d_reclen, n++)
			entry = (struct dirent *)(buffer + at);
		if (removes && entry->d_type == DT_REG)
			EXPECT_EQ(directory_unlink(directory, entry->d_name), 0);
	}
	free(buffer);
	return n;
}

TEST(fs_reading_directories)
{
	char path[32];
	struct vnode *root;
	off_t cookie = 0;
	size_t used;

	if (!begin(ONE_KIB))
		return;
	root = fs_root();
	for (unsigned i = 0; i < 100; i++) {
		format(path, sizeof path, "/file-%u", i);
		EXPECT_EQ(make_file(path), 0);
	}
	EXPECT_EQ(count_entries(root, 4096, false), 103);
	EXPECT_EQ(count_entries(root, 300, false), 103);
	EXPECT_EQ(directory_read(root, &cookie, path, 4, &used), EINVAL);
	EXPECT_EQ(count_entries(root, 300, true), 103);
	EXPECT_LT(count_entries(root, 300, false), 100);
	vnode_release(root);
	end();
}

/* ---------------- Renaming ---------------- */

TEST(fs_renaming_files)
{
	int64_t number;

	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_file("/one"), 0);
	EXPECT_EQ(make_file("/two"), 0);
	number = number_of("/one", true);
	EXPECT_EQ(rename_path("/one", "/a/three"), 0);
	EXPECT_EQ(number_of("/a/three", true), number);
	EXPECT_EQ(look_up("/one"), ENOENT);
	EXPECT_EQ(rename_path("/a/three", "/two"), 0);
	EXPECT_EQ(number_of("/two", true), number);
	EXPECT_EQ(rename_path("/two", "/two"), 0);
	EXPECT_EQ(link_path("/two", "/same"), 0);
	EXPECT_EQ(rename_path("/two", "/same"), 0);
	EXPECT_EQ(look_up("/two"), 0);
	EXPECT_EQ(rename_path("/two", "/a"), EISDIR);
	EXPECT_EQ(rename_path("/none", "/x"), ENOENT);
	EXPECT_EQ(rename_path("/two", "/a/."), EINVAL);
	EXPECT_EQ(rename_path("/two", "/none/x"), ENOENT);
	end();
}

TEST(fs_renaming_directories)
{
	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_folder("/a/b"), 0);
	EXPECT_EQ(make_folder("/a/b/c"), 0);
	EXPECT_EQ(make_folder("/empty"), 0);
	EXPECT_EQ(make_file("/file"), 0);
	EXPECT_EQ(rename_path("/a", "/a/b/d"), EINVAL);
	EXPECT_EQ(rename_path("/a", "/a/b/c"), EINVAL);
	EXPECT_EQ(rename_path("/a", "/a/x"), EINVAL);
	EXPECT_EQ(rename_path("/a/b", "/file"), ENOTDIR);
	EXPECT_EQ(rename_path("/empty", "/a"), ENOTEMPTY);
	EXPECT_EQ(rename_path("/a/b", "/b"), 0);
	EXPECT_EQ(number_of("/b/..", true), EXT2_ROOT);
	EXPECT_EQ(links_of("/a"), 2);
	EXPECT_EQ(links_of("/"), 6);
	EXPECT_EQ(rename_path("/b", "/empty"), 0);
	EXPECT_EQ(links_of("/"), 5);
	EXPECT_EQ(look_up("/empty/c"), 0);
	EXPECT_EQ(rename_path("/empty", "/a/empty"), 0);
	EXPECT_EQ(rename_path("/a/empty", "/a/full"), 0);
	EXPECT_EQ(links_of("/a"), 3);
	end();
}

TEST(fs_links_of_a_directory_are_limited)
{
	struct vnode *root;
	nlink_t links;

	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_folder("/a/b"), 0);
	root = fs_root();
	links = root->links;
	root->links = EXT2_LINKS_MAX;
	EXPECT_EQ(make_folder("/x"), EMLINK);
	EXPECT_EQ(rename_path("/a/b", "/b"), EMLINK);
	EXPECT_EQ(make_file("/file"), 0);
	root->links = links;
	node_of(root)->is_changed = true;
	vnode_release(root);
	end();
}

/* ---------------- Paths ---------------- */

TEST(fs_paths)
{
	char path[PATH_MAX + 10];
	char name[NAME_MAX + 1];
	struct vnode *directory;

	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_file("/a/f"), 0);
	EXPECT_EQ(look_up(""), ENOENT);
	EXPECT_EQ(number_of("/", true), EXT2_ROOT);
	EXPECT_EQ(number_of("///", true), EXT2_ROOT);
	EXPECT_EQ(number_of("/../..", true), EXT2_ROOT);
	EXPECT_EQ(number_of("/../../a", true), number_of("a/.", true));
	EXPECT_EQ(look_up("/a//f"), 0);
	EXPECT_EQ(look_up("/a/f/"), ENOTDIR);
	EXPECT_EQ(look_up("/a/f/x"), ENOTDIR);
	EXPECT_EQ(look_up("/a/"), 0);
	EXPECT_EQ(path_parent(&process, "/a//g///", &directory, name), 0);
	EXPECT_STREQ(name, "g");
	EXPECT_EQ(directory->number, number_of("/a", true));
	vnode_release(directory);
	EXPECT_EQ(path_parent(&process, "/", &directory, name), 0);
	EXPECT_STREQ(name, ".");
	vnode_release(directory);
	memset(path, '/', sizeof path);
	path[PATH_MAX] = '\0';
	EXPECT_EQ(look_up(path), ENAMETOOLONG);
	path[PATH_MAX - 1] = '\0';
	EXPECT_EQ(look_up(path), 0);
	end();
}

TEST(fs_the_path_of_a_directory)
{
	char path[PATH_MAX];
	struct vnode *vnode;

	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_folder("/a/long-name"), 0);
	EXPECT_EQ(path_of_directory(process.directory, path, sizeof path), 0);
	EXPECT_STREQ(path, "/");
	REQUIRE(path_lookup(&process, "/a/long-name", true, &vnode) == 0);
	EXPECT_EQ(path_of_directory(vnode, path, sizeof path), 0);
	EXPECT_STREQ(path, "/a/long-name");
	EXPECT_EQ(path_of_directory(vnode, path, 13), 0);
	EXPECT_STREQ(path, "/a/long-name");
	EXPECT_EQ(path_of_directory(vnode, path, 12), ERANGE);
	EXPECT_EQ(remove_path("/a/long-name"), 0);
	EXPECT_EQ(path_of_directory(vnode, path, sizeof path), ENOENT);
	vnode_release(vnode);
	end();
}

static const char far_path[] = "/a/./././././././././././././././././././././././././././././././f";

TEST(fs_symbolic_links)
{
	char request[256];
	char name[NAME_MAX + 1];
	struct vnode *vnode;
	size_t length;
	int64_t file;

	REQUIRE(image_make(FOUR_KIB, 8 * MIB));
	format(request, sizeof request, "symlink far %s", far_path);
	REQUIRE(image_debugfs(request) && image_debugfs("symlink to-f a/f"));
	REQUIRE(image_debugfs("symlink to-a /a/") && image_debugfs("symlink circle circle"));
	REQUIRE(image_debugfs("symlink back to-a/../to-f") && image_debugfs("symlink none nobody"));
	REQUIRE(host_mount() == 0);
	process = (struct process){.credentials = host_root, .directory = fs_root()};
	EXPECT_EQ(make_folder("/a"), 0);
	EXPECT_EQ(make_file("/a/f"), 0);
	file = number_of("/a/f", true);
	EXPECT_EQ(number_of("/to-f", true), file);
	EXPECT_EQ(number_of("/far", true), file);
	EXPECT_EQ(number_of("/to-a/f", true), file);
	EXPECT_EQ(number_of("back", true), file);
	EXPECT_NE(number_of("/to-f", false), file);
	EXPECT_EQ(number_of("/to-a/", false), number_of("/a", true));
	EXPECT_EQ(look_up("/to-f/"), ENOTDIR);
	EXPECT_EQ(look_up("/none"), ENOENT);
	EXPECT_EQ(look_up("/circle"), ELOOP);
	EXPECT_EQ(look_up("/circle/x"), ELOOP);
	EXPECT_EQ(make_file("/to-a/g"), 0);
	EXPECT_EQ(look_up("/a/g"), 0);
	EXPECT_EQ(path_lookup(&process, "/far", false, &vnode), 0);
	EXPECT_EQ(vnode_read_link(vnode, name, sizeof name, &length), 0);
	EXPECT_EQ(length, sizeof far_path - 1);
	EXPECT_EQ(memcmp(name, far_path, length), 0);
	vnode_release(vnode);
	EXPECT_EQ(unlink_path("/far"), 0);
	EXPECT_EQ(unlink_path("/to-a"), 0);
	EXPECT_EQ(look_up("/a"), 0);
	end();
}

/* ---------------- Permissions ---------------- */

TEST(fs_who_may_what)
{
	struct file_system fs = {0};
	struct vnode vnode = {.file_system = &fs, .mode = S_IFREG | 0640, .uid = 7, .gid = 9};
	struct vnode directory = {.file_system = &fs, .mode = S_IFDIR | 01777};
	struct credentials other = host_user;

	EXPECT_EQ(vnode_access(&vnode, &host_user, R_OK | W_OK), 0);
	EXPECT_EQ(vnode_access(&vnode, &host_user, X_OK), EACCES);
	EXPECT_EQ(vnode_access(&vnode, &host_root, R_OK | W_OK), 0);
	EXPECT_EQ(vnode_access(&vnode, &host_root, X_OK), EACCES);
	other.euid = 12;
	EXPECT_EQ(vnode_access(&vnode, &other, R_OK), EACCES);
	other.n_groups = 1;
	other.groups[0] = 9;
	EXPECT_EQ(vnode_access(&vnode, &other, R_OK), 0);
	EXPECT_EQ(vnode_access(&vnode, &other, W_OK), EACCES);
	vnode.mode = S_IFREG | 0007;
	EXPECT_EQ(vnode_access(&vnode, &host_user, R_OK), EACCES); /* The owner has the owner's. */
	EXPECT_EQ(vnode_access(&vnode, &host_root, X_OK), 0);
	EXPECT_EQ(vnode_may_remove(&directory, &vnode, &host_user), 0);
	EXPECT_EQ(vnode_may_remove(&directory, &vnode, &other), EPERM);
	directory.mode = S_IFDIR | 0755;
	EXPECT_EQ(vnode_may_remove(&directory, &vnode, &host_user), EACCES);
}

TEST(fs_the_way_must_be_open)
{
	if (!begin(ONE_KIB))
		return;
	EXPECT_EQ(make("/closed", S_IFDIR | 0700), 0);
	EXPECT_EQ(make_file("/closed/file"), 0);
	process.credentials = host_user;
	EXPECT_EQ(look_up("/closed"), 0);
	EXPECT_EQ(look_up("/closed/file"), EACCES);
	EXPECT_EQ(look_up("/closed/.."), EACCES);
	EXPECT_EQ(make_file("/closed/other"), EACCES);
	end();
}
