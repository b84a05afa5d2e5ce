/* SPDX-License-Identifier: MIT */
/*
 * Names that move while one block, each in turn, cannot be written.  A file that was synced is
 * there afterwards under one of its names, whatever had been begun.
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

#define ONE_KIB "-b 1024 -I 128 -N 64 -m 0 -O none,filetype,sparse_super,large_file"
#define KIB     1024
#define SIZE    3000u
#define MOST    100 /* Blocks that none of the cases writes. */
#define LONG    "of-them-few-are-all-that-a-block-has-room-for-as-this-is-a-name-without-end"

/* ---------------- Files by path ---------------- */

/* The directory that a path is in, with a reference, and the rest of the path. */
static int parent_of(const char *path, struct vnode **parent, const char **name)
{
	char part[NAME_MAX + 1];
	int error = 0;

	*parent = fs_root();
	*name = path;
	for (const char *end; error == 0 && (end = strchr(*name, '/')) != NULL; *name = end + 1) {
		struct vnode *above = *parent;

		memcpy(part, *name, (size_t)(end - *name));
		part[end - *name] = '\0';
		error = directory_lookup(above, part, parent);
		if (error == 0)
			vnode_release(above);
	}
	return error;
}

static struct vnode *create(const char *path, mode_t mode)
{
	struct vnode *parent, *made = NULL;
	const char *name;

	EXPECT_EQ(parent_of(path, &parent, &name), 0);
	EXPECT_EQ(directory_create(parent, name, mode, &host_root, &made), 0);
	vnode_release(parent);
	return made;
}

static void create_file(const char *path, char byte)
{
	struct vnode *vnode = create(path, S_IFREG | 0644);
	char bytes[SIZE];
	size_t done;

	memset(bytes, byte, sizeof bytes);
	EXPECT_EQ(vnode_write(vnode, &host_root, 0, bytes, sizeof bytes, &done), 0);
	vnode_release(vnode);
}

/* Whether there is such a file, all of whose bytes are this one. */
static bool has_file(const char *path, char byte)
{
	struct vnode *parent, *found;
	const char *name;
	char bytes[SIZE + 1];
	size_t done = 0;
	int error = parent_of(path, &parent, &name);

	if (error == 0)
		error = directory_lookup(parent, name, &found);
	vnode_release(parent);
	if (error != 0)
		return false;
	error = vnode_read(found, 0, bytes, sizeof bytes, &done);
	vnode_release(found);
	for (size_t i = 0; i < done && bytes[i] == byte; i++)
		error -= i + 1 == SIZE && done == SIZE;
	return error == -1;
}

/* ---------------- Steps ---------------- */

struct step {
	char what;
	const char *name, *other;
};

#define STEPS 6 /* The most of a case. */
#define RENAME(name, other)      \
	{                        \
		'r', name, other \
	}
#define LINK(name, other)        \
	{                        \
		'l', name, other \
	}
#define UNLINK(name)            \
	{                       \
		'u', name, NULL \
	}
#define FOLDER(name)            \
	{                       \
		'd', name, NULL \
	}
#define SYNC                  \
	{                     \
		's', "", NULL \
	}

static int take_step(const struct step *step)
{
	struct vnode *parent, *other_parent = NULL, *vnode;
	const char *name, *other = NULL;
	int error = parent_of(step->name, &parent, &name);

	if (error == 0 && step->other != NULL)
		error = parent_of(step->other, &other_parent, &other);
	if (error == 0 && step->what == 'r')
		error = directory_rename(parent, name, other_parent, other, &host_root);
	if (error == 0 && step->what == 'u')
		error = directory_unlink(parent, name);
	if (error == 0 && step->what != 'r' && step->what != 'u') {
		error = step->what == 'l' ? directory_lookup(parent, name, &vnode)
					  : directory_create(parent, name, S_IFDIR | 0755,
							     &host_root, &vnode);
		if (error == 0 && step->what == 'l')
			error = directory_link(other_parent, other, vnode, &host_root);
		if (error == 0)
			vnode_release(vnode);
	}
	vnode_release(parent);
	if (other_parent != NULL)
		vnode_release(other_parent);
	return error;
}

/* As far as nothing fails; sync() tells nobody. */
static void take_steps(const struct step *steps)
{
	int error = 0;

	for (unsigned i = 0; i < STEPS && steps[i].what != '\0' && error == 0; i++) {
		if (steps[i].what == 's')
			(void)fs_sync();
		else
			error = take_step(&steps[i]);
	}
}

/* ---------------- Cases ---------------- */

/* What a case does to a disk with these directories and files, all synced. */
static const char *const folders[] = {"a", "a/d", "b", "full"};
static const char *const files[] = {"a/f", "a/d/e", "b/v", "b/h"};

struct kept {
	char byte; /* 'f' and its place among `files`. */
	const char *names[3];
};

static const struct test_case {
	struct step steps[STEPS];
	struct kept kept[2];
} cases[] = {
	{{RENAME("a/f", "b/g")}, {{'f', {"a/f", "b/g"}}}},
	{{RENAME("a/f", "a/" LONG)}, {{'f', {"a/f", "a/" LONG}}}},
	{{RENAME("a/f", "full/" LONG)}, {{'f', {"a/f", "full/" LONG}}}},
	{{RENAME("a/f", "full/" LONG), RENAME("b/h", "full/h")},
	 {{'f', {"a/f", "full/" LONG}}, {'i', {"b/h", "full/h"}}}},
	{{RENAME("a/f", "b/v")}, {{'f', {"a/f", "b/v"}}}},
	{{RENAME("a/d", "b/d")}, {{'g', {"a/d/e", "b/d/e"}}}},
	{{LINK("a/f", "b/g"), UNLINK("a/f")}, {{'f', {"a/f", "b/g"}}}},
	{{LINK("a/f", "b/g"), SYNC, UNLINK("a/f")}, {{'f', {"a/f", "b/g"}}}},
	{{LINK("a/f", "b/g"), RENAME("b/h", "a/f")},
	 {{'f', {"a/f", "b/g"}}, {'i', {"b/h", "a/f"}}}},
	{{LINK("a/f", "b/g"), SYNC, RENAME("b/h", "a/f")},
	 {{'f', {"a/f", "b/g"}}, {'i', {"b/h", "a/f"}}}},
	{{FOLDER("b/n"), RENAME("a/f", "b/n/g")}, {{'f', {"a/f", "b/n/g"}}}},
	{{FOLDER("b/n"), SYNC, RENAME("a/f", "b/n/g")}, {{'f', {"a/f", "b/n/g"}}}},
	{{FOLDER("b/n"), SYNC, FOLDER("b/n/m"), SYNC, RENAME("a/f", "b/n/m/g")},
	 {{'f', {"a/f", "b/n/m/g"}}}},
	{{FOLDER("n"), SYNC, RENAME("n", "b/n"), SYNC, RENAME("a/f", "b/n/g")},
	 {{'f', {"a/f", "b/n/g", "n/g"}}}},
	{{FOLDER("b/n"), SYNC, LINK("a/f", "b/n/g"), SYNC, UNLINK("a/f")},
	 {{'f', {"a/f", "b/n/g"}}}},
};

#define CASES (sizeof cases / sizeof cases[0])

static uint8_t *saved; /* The disk before a case. */
static const struct test_case *current;
static bool is_lost; /* Something, in the case that was run last. */

/* One of the directories has no room for one long name more. */
static bool make_disk(void)
{
	char name[128];

	if (!host_mount_new(ONE_KIB, KIB))
		return false;
	for (unsigned i = 0; i < sizeof folders / sizeof folders[0]; i++)
		vnode_release(create(folders[i], S_IFDIR | 0755));
	for (unsigned i = 0; i < sizeof files / sizeof files[0]; i++)
		create_file(files[i], (char)('f' + i));
	for (unsigned i = 0; i < 10; i++) {
		format(name, sizeof name, "full/%u" LONG, i);
		vnode_release(create(name, S_IFREG | 0644));
	}
	host_unmount();
	saved = malloc(image_size);
	memcpy(saved, image_bytes, image_size);
	return true;
}

static void check_kept(const struct kept *kept)
{
	bool is_there = false;

	for (unsigned i = 0; i < 3 && kept->names[i] != NULL; i++)
		is_there |= has_file(kept->names[i], kept->byte);
	is_lost |= !EXPECT(is_there);
}

static void check_disk(void)
{
	if (!EXPECT(image_repair()) || !EXPECT_EQ(host_mount(), 0))
		return;
	for (unsigned i = 0; i < 2 && current->kept[i].byte != '\0'; i++)
		check_kept(&current->kept[i]);
	host_unmount_unchecked();
}

/*
 * Has the `number`th block fail that the case writes, once or for ever; false: there are not so
 * many.
 */
static bool fail_one(unsigned number, bool for_ever, void (*run)(void))
{
	bool has_failed;

	memcpy(image_bytes, saved, image_size);
	EXPECT_EQ(host_mount(), 0);
	image_fail_block(number, for_ever);
	run();
	host_unmount_unchecked();
	has_failed = image_block_has_failed();
	image_fail_block(0, false);
	image_fail_writes(0, 0);
	is_lost = false;
	check_disk();
	if (is_lost)
		print("# case %u, block %u, %u\n", (unsigned)(current - cases), number, for_ever);
	return has_failed;
}

static void fail_each(void (*run)(void))
{
	if (!make_disk())
		return;
	for (current = cases; current < cases + CASES; current++) {
		unsigned once = 1, ever = 1;

		while (once < MOST && fail_one(once, false, run))
			once++;
		while (ever < MOST && fail_one(ever, true, run))
			ever++;
		EXPECT(once > 3 && once < MOST);
		EXPECT(ever > 3 && ever < MOST);
	}
	free(saved);
	image_free();
}

static void take_all(void)
{
	take_steps(current->steps);
}

TEST(fs_a_file_is_under_one_of_its_names_whatever_block_fails)
{
	fail_each(take_all);
}

/* ---------------- While others sync ---------------- */

static bool has_begun;

static void sync_or_take(unsigned number)
{
	ux_lock();
	if (number == 0) {
		has_begun = true;
		ux_wakeup(&has_begun);
		(void)fs_sync();
	} else {
		while (!has_begun)
			ux_sleep(&has_begun, NULL);
		take_steps(current->steps);
	}
	ux_unlock();
}

/* There is something to write, and while the device is at it the steps begin. */
static void take_all_beside_a_sync(void)
{
	create_file("other", 'o');
	has_begun = false;
	host_is_orderly = true;
	ux_unlock();
	host_run(2, sync_or_take);
	ux_lock();
	host_is_orderly = false;
}

TEST(fs_nor_if_others_find_out)
{
	fail_each(take_all_beside_a_sync);
}
