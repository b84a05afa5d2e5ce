/* SPDX-License-Identifier: MIT */
/*
 * Random steps on ext2: against a model in memory, one after the other; and in threads that get
 * into each other's way.  Each ends with e2fsck.
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

#define FOLDERS          4
#define NAMES            12
#define FILES            (FOLDERS * NAMES)
#define SIZE_MAX_OF_FILE (400 << 10)
#define THREADS          6

/* ---------------- The model ---------------- */

struct model {
	unsigned links; /* Names that it has; 0: there is no such file. */
	size_t size;
	char *data;
};

static struct model models[FILES];
static struct model *names[FOLDERS][NAMES]; /* Null: no such name. */
static struct vnode *folders[FOLDERS];
static uint32_t state;

static struct model *free_model(void)
{
	for (unsigned i = 0; i < FILES; i++) {
		if (models[i].links == 0)
			return &models[i];
	}
	return NULL;
}

static const char *name_of(unsigned name)
{
	static const char *const texts[NAMES] = {
		"a",   "bb",   "file-with-a-name-of-some-length",
		"ccc", "dddd", "another",
		"x",   "yy",   "a-name-that-is-rather-long-so-that-blocks-of-the-directory-fill",
		"zzz", "it",   "that"};

	return texts[name];
}

static void find_folders(void)
{
	struct vnode *root = fs_root();
	char folder[8];

	for (unsigned i = 0; i < FOLDERS; i++) {
		format(folder, sizeof folder, "d%u", i);
		if (directory_lookup(root, folder, &folders[i]) == ENOENT)
			EXPECT_EQ(directory_create(root, folder, S_IFDIR | 0755, &host_root,
						   &folders[i]),
				  0);
	}
	vnode_release(root);
}

static void release_folders(void)
{
	for (unsigned i = 0; i < FOLDERS; i++)
		vnode_release(folders[i]);
}

static bool begin(const char *options, unsigned kib)
{
	if (!host_mount_new(options, kib))
		return false;
	find_folders();
	return true;
}

static void end(void)
{
	release_folders();
	host_unmount();
	image_free();
}

/* ---------------- Steps, each on the file system and on the model ---------------- */

static void step_create(unsigned folder, unsigned name)
{
	struct model *model = free_model();
	struct vnode *vnode;
	int error = directory_create(folders[folder], name_of(name), S_IFREG | 0644, &host_root,
				     &vnode);

	if (names[folder][name] != NULL) {
		EXPECT_EQ(error, EEXIST);
		return;
	}
	if (error == ENOSPC)
		return;
	if (!EXPECT_EQ(error, 0))
		return;
	vnode_release(vnode);
	*model = (struct model){.links = 1, .data = calloc(1, SIZE_MAX_OF_FILE)};
	names[folder][name] = model;
}

static void forget(unsigned folder, unsigned name)
{
	struct model *model = names[folder][name];

	names[folder][name] = NULL;
	if (--model->links == 0)
		free(model->data);
}

static void step_unlink(unsigned folder, unsigned name)
{
	int error = directory_unlink(folders[folder], name_of(name));

	EXPECT_EQ(error, names[folder][name] != NULL ? 0 : ENOENT);
	if (names[folder][name] != NULL)
		forget(folder, name);
}

static void step_rename(unsigned folder, unsigned name)
{
	unsigned to_folder = host_random(&state, FOLDERS);
	unsigned to_name = host_random(&state, NAMES);
	struct model *moved = names[folder][name];
	int error = directory_rename(folders[folder], name_of(name), folders[to_folder],
				     name_of(to_name), &host_root);

	if (moved == NULL || error == ENOSPC) {
		EXPECT(moved != NULL || error == ENOENT);
		return;
	}
	EXPECT_EQ(error, 0);
	if (moved == names[to_folder][to_name])
		return;
	if (names[to_folder][to_name] != NULL)
		forget(to_folder, to_name);
	names[to_folder][to_name] = moved;
	names[folder][name] = NULL;
}

static void step_link(unsigned folder, unsigned name, struct vnode *vnode, struct model *model)
{
	int error = directory_link(folders[folder], name_of(name), vnode, &host_root);

	EXPECT(error == ENOSPC || (error == 0) == (names[folder][name] == NULL));
	if (error == 0) {
		names[folder][name] = model;
		model->links++;
	}
}

static void step_write(struct vnode *vnode, struct model *model)
{
	static char buffer[40000];
	size_t size = host_random(&state, host_random(&state, 2) ? sizeof buffer : 300);
	size_t offset = host_random(&state, SIZE_MAX_OF_FILE - sizeof buffer);
	size_t done;
	int error;

	for (size_t i = 0; i < size; i++)
		buffer[i] = (char)host_random(&state, 256);
	error = vnode_write(vnode, &host_root, (off_t)offset, buffer, size, &done);
	EXPECT(error == 0 ? size == 0 || done > 0 : error == ENOSPC && done == 0);
	memcpy(model->data + offset, buffer, done);
	if (done > 0 && offset + done > model->size)
		model->size = offset + done;
}

static void step_truncate(struct vnode *vnode, struct model *model)
{
	size_t size = host_random(&state, SIZE_MAX_OF_FILE);

	EXPECT_EQ(vnode_truncate(vnode, (off_t)size), 0);
	if (size < model->size)
		memset(model->data + size, 0, model->size - size);
	model->size = size;
}

static void step_read(struct vnode *vnode, const struct model *model)
{
	static char buffer[SIZE_MAX_OF_FILE];
	size_t offset = host_random(&state, SIZE_MAX_OF_FILE);
	size_t size = host_random(&state, 60000);
	size_t left = offset < model->size ? model->size - offset : 0;
	size_t done;

	EXPECT_EQ(vnode->size, model->size);
	EXPECT_EQ(vnode->links, model->links);
	EXPECT_EQ(vnode_read(vnode, (off_t)offset, buffer, size, &done), 0);
	EXPECT_EQ(done, size < left ? size : left);
	EXPECT_EQ(memcmp(buffer, model->data + offset, done), 0);
}

static void step_in_file(unsigned folder, unsigned name)
{
	struct model *model = names[folder][name];
	struct vnode *vnode;
	int error = directory_lookup(folders[folder], name_of(name), &vnode);

	EXPECT_EQ(error, model != NULL ? 0 : ENOENT);
	if (error != 0 || model == NULL)
		return;
	switch (host_random(&state, 8)) {
	case 0:
		step_truncate(vnode, model);
		break;
	case 1:
		step_link(host_random(&state, FOLDERS), host_random(&state, NAMES), vnode, model);
		break;
	case 2:
	case 3:
	case 4:
		step_write(vnode, model);
		break;
	default:
		step_read(vnode, model);
	}
	vnode_release(vnode);
}

static void step(void)
{
	unsigned folder = host_random(&state, FOLDERS);
	unsigned name = host_random(&state, NAMES);

	switch (host_random(&state, 20)) {
	case 0:
	case 1:
		step_create(folder, name);
		break;
	case 2:
		step_unlink(folder, name);
		break;
	case 3:
		step_rename(folder, name);
		break;
	case 4:
		EXPECT_EQ(fs_sync(), 0);
		break;
	default:
		step_in_file(folder, name);
	}
}

static void check_all(void)
{
	for (unsigned folder = 0; folder < FOLDERS; folder++) {
		for (unsigned name = 0; name < NAMES; name++) {
			struct model *model = names[folder][name];
			struct vnode *vnode;
			int error = directory_lookup(folders[folder], name_of(name), &vnode);

			EXPECT_EQ(error, model != NULL ? 0 : ENOENT);
			if (error != 0 || model == NULL)
				continue;
			for (unsigned i = 0; i < 4; i++)
				step_read(vnode, model);
			vnode_release(vnode);
		}
	}
}

static void forget_all(void)
{
	for (unsigned i = 0; i < FILES; i++) {
		if (models[i].links > 0)
			free(models[i].data);
		models[i].links = 0;
	}
	memset(names, 0, sizeof names);
}

/* Many steps, with a look from outside and a new start now and then. */
static void run_random(const char *options, unsigned kib, unsigned steps, uint32_t seed)
{
	size_t size = host_cache_size;

	state = seed;
	host_cache_size = 0; /* The fewest buffers: all that is not here any more must be found. */
	if (!begin(options, kib))
		return;
	for (unsigned i = 1; i <= steps && !check_failed(); i++) {
		step();
		if (i % 2000 == 0) {
			release_folders();
			host_unmount();
			EXPECT_EQ(host_mount(), 0);
			find_folders();
			check_all();
		}
	}
	end();
	forget_all();
	host_cache_size = size;
}

#define FEATURES " -m 0 -O none,filetype,sparse_super,large_file"

TEST(fs_random_small_blocks)
{
	run_random("-b 1024 -I 128" FEATURES, 32768, 12000, 1);
}

TEST(fs_random_large_blocks)
{
	run_random("-b 4096 -I 256" FEATURES, 32768, 12000, 2);
}

/* The disk is full most of the time. */
TEST(fs_random_without_room)
{
	run_random("-b 1024 -I 128" FEATURES, 3000, 12000, 3);
	run_random("-b 2048 -I 128" FEATURES, 3000, 12000, 4);
}

/* ---------------- Threads ---------------- */

/* Names are fought for: each step may fail, in the ways that it may. */
static void step_for_names(uint32_t *random)
{
	struct vnode *from = folders[host_random(random, FOLDERS)];
	struct vnode *to = folders[host_random(random, FOLDERS)];
	const char *name = name_of(host_random(random, NAMES));
	const char *other = name_of(host_random(random, NAMES));
	struct vnode *vnode;
	int error = 0;

	switch (host_random(random, 6)) {
	case 0:
		error = directory_create(from, name, S_IFREG | 0644, &host_root, &vnode);
		break;
	case 1:
		error = directory_create(from, name, S_IFDIR | 0755, &host_root, &vnode);
		break;
	case 2:
		EXPECT(directory_unlink(from, name) != EIO);
		return;
	case 3:
		EXPECT(directory_remove(from, name) != EIO);
		return;
	case 4:
		EXPECT(directory_rename(from, name, to, other, &host_root) != EIO);
		return;
	default:
		error = directory_lookup(from, name, &vnode);
	}
	EXPECT(error != EIO);
	if (error != 0)
		return;
	EXPECT(vnode->references > 0);
	if (S_ISREG(vnode->mode)) {
		size_t done;

		EXPECT_EQ(vnode_write(vnode, &host_root, host_random(random, 50000), "text", 4,
				      &done),
			  0);
	}
	vnode_release(vnode);
}

/* A file that only this thread writes says what was written. */
static void step_in_own_file(struct vnode *vnode, unsigned number, uint32_t *random)
{
	char buffer[3000], back[sizeof buffer];
	off_t offset = (off_t)host_random(random, 100) * 3000;
	size_t done;

	memset(buffer, (int)(number + host_random(random, 200)), sizeof buffer);
	EXPECT_EQ(vnode_write(vnode, &host_root, offset, buffer, sizeof buffer, &done), 0);
	EXPECT_EQ(vnode_read(vnode, offset, back, sizeof back, &done), 0);
	EXPECT_EQ(memcmp(buffer, back, sizeof buffer), 0);
	if (host_random(random, 10) == 0)
		EXPECT_EQ(vnode_truncate(vnode, host_random(random, 300000)), 0);
	if (host_random(random, 10) == 0)
		EXPECT_EQ(fs_sync(), 0);
}

static void work(unsigned number)
{
	uint32_t random = number * 77 + 1;
	struct vnode *vnode, *root;
	char name[8];

	format(name, sizeof name, "own%u", number);
	ux_lock();
	root = fs_root();
	EXPECT_EQ(directory_create(root, name, S_IFREG | 0644, &host_root, &vnode), 0);
	for (unsigned i = 0; i < 4000 && !check_failed(); i++) {
		if (i % 2 == 0)
			step_for_names(&random);
		else
			step_in_own_file(vnode, number, &random);
		ux_unlock();
		host_yield();
		ux_lock();
	}
	vnode_release(vnode);
	vnode_release(root);
	ux_unlock();
}

TEST(fs_threads)
{
	size_t size = host_cache_size;

	for (unsigned kind = 0; kind < 2; kind++) {
		host_cache_size = kind == 0 ? 0 : 200 << 10;
		if (!begin("-b 1024 -I 128" FEATURES, 16384))
			return;
		ux_unlock();
		host_run(THREADS, work);
		ux_lock();
		end();
	}
	host_cache_size = size;
}
