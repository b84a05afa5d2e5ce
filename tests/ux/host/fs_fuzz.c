/* SPDX-License-Identifier: MIT */
/*
 * Images with flipped bytes: whatever they say, nothing beyond the device is touched (server.c
 * looks), nobody waits for ever, and memory stays whole (the sanitizers look).
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

#define ROUNDS 1500 /* Of each kind, unless the command line says `rounds=`; and `seed=`. */
#define MOST   12   /* Bytes flipped at a time. */
#define DEPTH  6

static uint8_t *sound_bytes;
static struct process process;

/* ---------------- A file system with something of everything ---------------- */

static void write_all(const char *name, off_t offset, size_t size)
{
	char *buffer = calloc(1, size);
	struct vnode *root = fs_root();
	struct vnode *vnode;
	size_t done;

	EXPECT_EQ(directory_create(root, name, S_IFREG | 0644, &host_root, &vnode), 0);
	EXPECT_EQ(vnode_write(vnode, &host_root, offset, buffer, size, &done), 0);
	vnode_release(vnode);
	vnode_release(root);
	free(buffer);
}

static void make_tree(void)
{
	static const char *const names[] = {"one", "two", "three", "file", "more", "again"};
	struct vnode *place = fs_root();

	for (unsigned i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct vnode *made;

		EXPECT_EQ(directory_create(place, names[i], S_IFDIR | 0755, &host_root, &made), 0);
		if (i % 2 == 1) {
			vnode_release(made);
			continue;
		}
		vnode_release(place);
		place = made;
	}
	vnode_release(place);
	write_all("small", 0, 3000);
	write_all("large", 0, 400000);
	write_all("sparse", 70 << 20, 5000);
}

static bool make_sound(const char *options)
{
	if (!host_mount_new(options, 2048))
		return false;
	make_tree();
	host_unmount();
	if (!image_debugfs("symlink link one/three") || !image_debugfs("symlink circle circle"))
		return false;
	sound_bytes = malloc(image_size);
	memcpy(sound_bytes, image_bytes, image_size);
	return true;
}

/* ---------------- Everything that can be done with it ---------------- */

static void use_file(struct vnode *vnode)
{
	static char buffer[20000];
	off_t size = vnode->size;
	size_t done;

	vnode_read(vnode, 0, buffer, sizeof buffer, &done);
	vnode_read(vnode, size - (off_t)sizeof buffer, buffer, sizeof buffer, &done);
	vnode_write(vnode, &host_root, -1, buffer, 5000, &done);
	vnode_write(vnode, &host_root, 300000, buffer, 2000, &done);
	vnode_truncate(vnode, size / 2);
	vnode_set_mode(vnode, 0600);
	vnode_read_link(vnode, buffer, 100, &done);
}

static void use_names(struct vnode *directory)
{
	struct vnode *made = NULL;
	char path[PATH_MAX];

	if (directory_create(directory, "new", S_IFREG | 0644, &host_root, &made) == 0) {
		use_file(made);
		directory_link(directory, "new-too", made, &host_root);
		vnode_release(made);
	}
	if (directory_create(directory, "folder", S_IFDIR | 0755, &host_root, &made) == 0)
		vnode_release(made);
	directory_rename(directory, "folder", directory, "moved", &host_root);
	directory_rename(directory, "new", directory, "moved", &host_root);
	directory_unlink(directory, "new");
	directory_remove(directory, "moved");
	path_of_directory(directory, path, sizeof path);
}

/* What is in a directory is used and taken away; folders are looked into. */
static void use_directory(struct vnode *directory, unsigned depth)
{
	char buffer[1024];
	off_t cookie = 0;
	size_t used;
	unsigned rounds = 0;

	while (directory_read(directory, &cookie, buffer, sizeof buffer, &used) == 0 && used > 0 &&
	       rounds++ < 20) {
		const struct dirent *entry;

		for (size_t at = 0; at < used; at += entry->d_reclen) {
			struct vnode *vnode;

			entry = (const struct dirent *)(buffer + at);
			if (directory_lookup(directory, entry->d_name, &vnode) != 0)
				continue;
			if (S_ISDIR(vnode->mode) && depth < DEPTH && entry->d_name[0] != '.')
				use_directory(vnode, depth + 1);
			else
				use_file(vnode);
			vnode_release(vnode);
			if (depth % 2 == 0 && directory_unlink(directory, entry->d_name) != 0)
				directory_remove(directory, entry->d_name);
		}
	}
	use_names(directory);
}

static void use_paths(void)
{
	static const char *const paths[] = {
		"/one/three/more",         "/link/more", "/circle", "/large",
		"/one/three/../../small/", "/one/two/"};

	for (unsigned i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		struct vnode *vnode;

		if (path_lookup(&process, paths[i], true, &vnode) == 0)
			vnode_release(vnode);
	}
}

static void use(void)
{
	struct vnode *root = fs_root();
	struct vnode *one, *three;

	process = (struct process){.credentials = host_root, .directory = root};
	use_paths();
	if (path_lookup(&process, "/one", true, &one) == 0) {
		directory_rename(root, "large", one, "larger", &host_root);
		directory_rename(one, "three", root, "four", &host_root);
		if (path_lookup(&process, "/four/more", true, &three) == 0) {
			directory_rename(root, "one", three, "below", &host_root);
			directory_rename(root, "four", three, "below", &host_root);
			vnode_release(three);
		}
		vnode_release(one);
	}
	use_directory(root, 0);
	fs_sync();
	vnode_release(root);
}

/* ---------------- Flipping ---------------- */

/* Mostly where the file system keeps its own, or in directories and maps of files. */
static size_t somewhere(uint32_t *state)
{
	switch (host_random(state, 4)) {
	case 0:
		return EXT2_SUPER_OFFSET + host_random(state, 128);
	case 1:
		return host_random(state, (uint32_t)image_size);
	default:
		return EXT2_SUPER_OFFSET + host_random(state, 64 << 10);
	}
}

static void flip(uint32_t *state)
{
	unsigned n = 1 + host_random(state, MOST);

	for (unsigned i = 0; i < n; i++) {
		size_t place = somewhere(state);

		if (host_random(state, 2) == 0)
			image_bytes[place] ^= (uint8_t)(1u << host_random(state, 8));
		else
			image_bytes[place] = (uint8_t)host_random(state, 256);
	}
}

/* Words where blocks, inodes and sizes are told, taken from one another: they look right. */
static void swap_words(uint32_t *state)
{
	for (unsigned i = host_random(state, MOST); i > 0; i--) {
		size_t from = somewhere(state) & ~3ul;
		size_t to = somewhere(state) & ~3ul;

		memcpy(image_bytes + to, image_bytes + from, 4);
	}
}

static void run(const char *options, uint32_t seed)
{
	unsigned rounds = check_parameter("rounds", ROUNDS);
	uint32_t state = check_parameter("seed", seed);
	unsigned mounted = 0;

	if (!EXPECT(make_sound(options)))
		return;
	host_cache_size = 64 << 10;
	for (unsigned round = 0; round < rounds; round++) {
		memcpy(image_bytes, sound_bytes, image_size);
		if (host_random(&state, 3) == 0)
			swap_words(&state);
		else
			flip(&state);
		if (host_mount() != 0)
			continue;
		mounted++;
		use();
		host_unmount_unchecked();
	}
	EXPECT_LT(rounds / 4, mounted);
	free(sound_bytes);
	image_free();
}

TEST(fs_flipped_bytes)
{
	run("-b 1024 -g 512 -N 128 -m 0 -O none,filetype,sparse_super,large_file", 1);
}

TEST(fs_flipped_bytes_in_large_blocks)
{
	run("-b 4096 -I 256 -N 128 -m 0 -O none,filetype,sparse_super,large_file", 2);
}
