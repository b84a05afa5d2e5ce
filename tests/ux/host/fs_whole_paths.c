/* SPDX-License-Identifier: MIT */
/*
 * The path that leads from the root to a file, whatever it was called: by what executed files are
 * known.
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

#define FORMAT "-b 1024 -I 128 -m 0 -O none,filetype,sparse_super,large_file"
#define SIZE   (8 * 1024)

static struct process process;

/* What a path is called from the root on; an error's number as text if there is nothing. */
static const char *whole(const char *path)
{
	static char text[PATH_MAX];
	struct vnode *vnode;
	int error = path_lookup_whole(&process, path, &vnode, text);

	if (error == 0)
		vnode_release(vnode);
	else
		format(text, sizeof text, "error %d", error);
	return text;
}

static void go_to(const char *path)
{
	struct vnode *vnode;

	if (!EXPECT_EQ(path_lookup(&process, path, true, &vnode), 0))
		return;
	vnode_release(process.directory);
	process.directory = vnode;
}

static bool begin(void)
{
	if (!image_make(FORMAT, SIZE) || !image_debugfs("mkdir a") || !image_debugfs("mkdir a/b") ||
	    !image_debugfs("write /dev/null f") || !image_debugfs("ln f a/f") ||
	    !image_debugfs("ln f a/b/f") || !image_debugfs("set_inode_field f links_count 3") ||
	    !image_debugfs("symlink to-b /a/b") || !image_debugfs("symlink a/up ../to-b/../f") ||
	    host_mount() != 0)
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

TEST(fs_whole_paths_from_the_root)
{
	REQUIRE(begin());
	EXPECT_STREQ(whole("/"), "/");
	EXPECT_STREQ(whole("/f"), "/f");
	EXPECT_STREQ(whole("//a///b/./f"), "/a/b/f");
	EXPECT_STREQ(whole("/a/b/../../f"), "/f");
	EXPECT_STREQ(whole("/../../a/../../f"), "/f");
	EXPECT_STREQ(whole("/a/b/"), "/a/b");
	end();
}

TEST(fs_whole_paths_from_a_directory)
{
	REQUIRE(begin());
	EXPECT_STREQ(whole("f"), "/f");
	go_to("/a/b");
	EXPECT_STREQ(whole("f"), "/a/b/f");
	EXPECT_STREQ(whole("./.././f"), "/a/f");
	EXPECT_STREQ(whole("../../../f"), "/f");
	EXPECT_STREQ(whole("."), "/a/b");
	end();
}

TEST(fs_whole_paths_behind_links)
{
	REQUIRE(begin());
	EXPECT_STREQ(whole("/to-b/f"), "/a/b/f");
	EXPECT_STREQ(whole("/to-b/../f"), "/a/f");
	EXPECT_STREQ(whole("/a/up"), "/a/f");
	EXPECT_STREQ(whole("/to-b"), "/a/b");
	end();
}

/* The file is found nevertheless; what it is called is not told. */
TEST(fs_whole_paths_that_have_no_room)
{
	enum {
		LENGTH = 200,
		FOLDERS = 6
	};
	char path[LENGTH + 3];
	struct vnode *made;

	REQUIRE(begin());
	memset(path, 'x', LENGTH);
	path[LENGTH] = '\0';
	for (unsigned n = 0; n < FOLDERS; n++) {
		EXPECT_EQ(directory_create(process.directory, path, S_IFDIR | 0755,
					   &process.credentials, &made),
			  0);
		vnode_release(process.directory);
		process.directory = made;
	}
	EXPECT_STREQ(whole("."), "");
	EXPECT_STREQ(whole("/f"), "/f");
	go_to("..");
	EXPECT_EQ(strlen(whole(".")), (FOLDERS - 1) * (LENGTH + 1));
	EXPECT_STREQ(whole(path), "");
	end();
}

TEST(fs_whole_paths_of_nothing)
{
	char expected[16];

	REQUIRE(begin());
	format(expected, sizeof expected, "error %d", ENOENT);
	EXPECT_STREQ(whole("/a/none"), expected);
	EXPECT_STREQ(whole(""), expected);
	end();
}
