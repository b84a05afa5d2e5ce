/* SPDX-License-Identifier: MIT */
/*
 * The file system ext2: what it has on the device, and in memory while it is mounted.
 *
 *   mount.c            the mounted file system: mounting, writing back, unmounting
 *   ext2_super.c       the superblock and the descriptors of groups, checked
 *   ext2_allocate.c    which blocks and inodes are in use
 *   ext2_inode.c       inodes, to and from memory
 *   ext2_blocks.c      which blocks of the device a file consists of
 *   change.c           in which order changes come onto the device
 *   ext2_entry.c       entries of a directory
 *   ext2_directory.c   what is done with them: create, link, rename ...
 *   vnode.c            the files in use
 *   file.c             their data and attributes
 *   path.c, access.c   names from the root on, and who may what
 *   cache.c            blocks in memory; block_device.c: the device
 *
 * What is on the device is an allegation.  Whoever takes a number from there checks it where it is
 * used, and answers EIO, by damaged(), if it cannot be.
 *
 * All is under the server's lock.  That is given up wherever a block may have to be read; what is
 * to stay as it is beyond such a place is marked busy: a file's data and blocks by its node, names
 * and the tree of directories by the file system (directory_names_begin()).  Order: names, then
 * nodes.  Only who has the names marks more than one node.
 */
#ifndef UX_FS_EXT2_H
#define UX_FS_EXT2_H

#include "fs/cache.h"
#include "fs/numbers.h"
#include "fs/vnode.h"

/* ---------------- On the device ---------------- */

#define EXT2_SUPER_OFFSET 1024u
#define EXT2_MAGIC        0xef53u
#define EXT2_ROOT         2u
#define EXT2_LINKS_MAX    32000u

/* ext2_super.state */
#define EXT2_STATE_VALID 1u /* Nobody has it mounted, and who had left it as it should be. */
#define EXT2_STATE_ERROR 2u

/* Of the file systems that we mount, these features at most. */
#define EXT2_INCOMPATIBLE_TYPES     0x2u /* Entries tell the type of what they name. */
#define EXT2_READ_ONLY_SPARSE_SUPER 0x1u
#define EXT2_READ_ONLY_LARGE_FILE   0x2u /* There are files from 2 GiB on. */

struct ext2_super {
	uint32_t n_inodes;
	uint32_t n_blocks;
	uint32_t n_reserved_blocks;
	uint32_t n_free_blocks;
	uint32_t n_free_inodes;
	uint32_t first_data_block; /* The block that the superblock is in. */
	uint32_t log_block_size;   /* 1,024 bytes so often doubled. */
	uint32_t log_fragment_size;
	uint32_t blocks_per_group;
	uint32_t fragments_per_group;
	uint32_t inodes_per_group;
	uint32_t mounted; /* Times. */
	uint32_t written;
	uint16_t mounts;
	uint16_t mounts_max;
	uint16_t magic;
	uint16_t state;
	uint16_t on_errors;
	uint16_t minor_revision;
	uint32_t checked;
	uint32_t check_interval;
	uint32_t creator;
	uint32_t revision; /* From 1 on the next three are valid, and features. */
	uint16_t reserved_uid;
	uint16_t reserved_gid;
	uint32_t first_inode; /* That is not reserved. */
	uint16_t inode_size;
	uint16_t group;
	uint32_t compatible;
	uint32_t incompatible;
	uint32_t read_only;
	uint8_t rest[920];
};

struct ext2_group {
	uint32_t block_bitmap;
	uint32_t inode_bitmap;
	uint32_t inode_table;
	uint16_t n_free_blocks;
	uint16_t n_free_inodes;
	uint16_t n_directories;
	uint16_t padding;
	uint32_t reserved[3];
};

#define EXT2_DIRECT    12u
#define EXT2_LEVELS    3u /* Of indirect blocks. */
#define EXT2_MAP_WORDS (EXT2_DIRECT + EXT2_LEVELS)

#define EXT2_FLAG_INDEX    0x1000u /* A directory with a tree of hashes, which we do not keep. */
#define EXT2_FLAGS_UNKNOWN 0x10080000u /* Extents, data in the inode: not in an ext2. */

struct ext2_inode {
	uint16_t mode;
	uint16_t uid;
	uint32_t size;
	uint32_t accessed;
	uint32_t changed;
	uint32_t modified;
	uint32_t deleted;
	uint16_t gid;
	uint16_t links;
	uint32_t sectors; /* Of 512 bytes: data and indirect blocks. */
	uint32_t flags;
	uint32_t version;
	uint32_t map[EXT2_MAP_WORDS];
	uint32_t generation;
	uint32_t attributes; /* A block with extended ones, or 0. */
	uint32_t size_high;  /* Of regular files. */
	uint32_t fragment;
	uint8_t fragment_number;
	uint8_t fragment_size;
	uint16_t padding;
	uint16_t uid_high;
	uint16_t gid_high;
	uint32_t reserved;
};

struct ext2_entry {
	uint32_t inode;  /* 0: the entry is free. */
	uint16_t length; /* From this entry to the next; the last one's ends with the block. */
	uint8_t name_length;
	uint8_t type; /* EXT2_TYPE_, or of old file systems the name's length's high byte. */
	char name[];
};

#define EXT2_ENTRY_HEADER       8u
#define EXT2_ENTRY_SIZE(length) ((EXT2_ENTRY_HEADER + (uint32_t)(length) + 3u) & ~3u)

_Static_assert(sizeof(struct ext2_super) == 1024, "the device's layout");
_Static_assert(offsetof(struct ext2_super, magic) == 56, "the device's layout");
_Static_assert(offsetof(struct ext2_super, read_only) == 100, "the device's layout");
_Static_assert(sizeof(struct ext2_group) == 32, "the device's layout");
_Static_assert(sizeof(struct ext2_inode) == 128, "the device's layout");
_Static_assert(offsetof(struct ext2_inode, map) == 40, "the device's layout");
_Static_assert(offsetof(struct ext2_inode, uid_high) == 120, "the device's layout");
_Static_assert(offsetof(struct ext2_entry, name) == EXT2_ENTRY_HEADER, "the device's layout");

/* ---------------- In memory ---------------- */

#define SECTOR       512u
#define VNODE_CHAINS 64u

struct file_system {
	struct block_device device;
	struct cache cache;

	/* In the cache as long as it is mounted, and changed there. */
	struct buffer *super_buffer;
	struct ext2_super *super;
	struct buffer **group_buffers;
	uint32_t n_group_buffers;

	/* From the superblock, checked. */
	uint32_t block_size;
	uint32_t block_shift;
	uint32_t n_blocks;
	uint32_t first_data_block;
	uint32_t blocks_per_group;
	uint32_t n_groups;
	uint32_t n_inodes;
	uint32_t inodes_per_group;
	uint32_t inode_size;
	uint32_t first_inode;
	uint32_t table_blocks; /* Of a group's inode table. */
	bool has_types;
	bool has_sparse_super;
	bool was_valid;    /* When it was mounted. */
	bool is_read_only; /* The device cannot be written. */
	off_t size_max;    /* Of a file. */

	/* What has been changed since the last commit (change.c). */
	unsigned changes;          /* Under way. */
	bool is_committing;        /* Somebody is in change_commit(), */
	bool is_frozen;            /* and no change can begin. */
	struct numbers new_inodes; /* The device has no such files. */
	struct numbers linked;     /* Files that were there before and have one more name. */
	struct numbers new_blocks; /* Nothing there leads to these, */
	struct numbers hidden;     /* nor may it, as what is in them is not the file's. */
	struct numbers untold;     /* Inodes of whose errors nobody has been told. */
	struct numbers free_inodes,
		free_blocks; /* The device may have something that leads there. */

	/* What could not be written. */
	unsigned write_errors;  /* Blocks that are no one file's. */
	unsigned lost_writes;   /* Those and inodes: blocks on which others depend. */
	unsigned lost_reckoned; /* So many of them when the last commit ended. */
	struct numbers unsure;  /* Files that, or names of which, may not be on the device. */

	bool names_are_busy;
	struct list nodes[VNODE_CHAINS]; /* By number. */
	struct vnode *root;
	unsigned complaints; /* Lines in the log about damage. */
	bool is_mounted;

	const struct vnode *keeper; /* Null, or the last blocks are this file's, */
	uint32_t kept_blocks;       /* so many. */
};

/* A file in use: what ext2 knows more of it than others see. */
struct node {
	struct vnode vnode;
	bool is_loading;       /* It is being read: nobody may look at it. */
	bool is_dying;         /* It is being deleted: there is no such file any more. */
	bool is_changed;       /* The cache has an older inode, */
	uint32_t client;       /* and for whom the node was changed first since: served_now(). */
	bool is_new;           /* The device's inode is what a deleted file left. */
	bool may_use_reserved; /* Who makes it larger now is root. */
	uint32_t map[EXT2_MAP_WORDS];
	uint32_t sectors;
	uint32_t flags;
	uint32_t attributes;
	uint32_t generation;
	uint32_t next_read; /* The block after the one that was read last. */
};

static inline struct node *node_of(struct vnode *vnode)
{
	return (struct node *)vnode;
}

/* ---------------- mount.c ---------------- */

/*
 * Makes the device's file system one that can be used; `cache_size` in bytes.  On failure nothing
 * is left of it, and the log says why.  Unlocks.
 */
int fs_mount(mach_port_t master, const char *name, size_t cache_size, struct file_system **mounted);

/* Frees all that it has in memory, and writes nothing more.  Nobody uses a file of it any more. */
void fs_discard(struct file_system *fs);

/* Notes damage in the superblock; whether it should be told of.  Used by damaged(). */
bool fs_note_damage(struct file_system *fs);

/* What is on the device cannot be: EIO, and a line in the log unless there were very many. */
#define damaged(fs, text, ...) \
	(fs_note_damage(fs) ? (ux_log("%s: " text, (fs)->device.name, ##__VA_ARGS__), EIO) : EIO)

/* ---------------- ext2_super.c ---------------- */

/* Reads and checks superblock and groups; `cache_size` as above.  Unlocks. */
int super_open(struct file_system *fs, size_t cache_size);

/* Says that the file system is mounted, and that it is no longer.  Unlocks. */
int super_begin(struct file_system *fs);
void super_end(struct file_system *fs);

/* What the caller has changed in them belongs to the change under way. */
void super_change(struct file_system *fs);
void group_change(struct file_system *fs, uint32_t group);

static inline struct ext2_group *group_of(const struct file_system *fs, uint32_t group)
{
	uint32_t shift = fs->block_shift - 5;
	struct ext2_group *groups;

	assert(group < fs->n_groups);
	groups = fs->group_buffers[group >> shift]->data;
	return &groups[group & ((1u << shift) - 1)];
}

/* Whether somebody may have the last blocks, which the superblock reserves, and inodes. */
bool super_may_use_reserved(const struct file_system *fs, const struct credentials *who);

/* How many inodes those are: the superblock does not say, so the same part as of blocks. */
uint32_t super_reserved_inodes(const struct file_system *fs);

/* How many blocks the group has: the last one may be short. */
uint32_t group_blocks(const struct file_system *fs, uint32_t group);

/* A block that a file may have: on the device, and not one of the file system's own. */
bool is_data_block(const struct file_system *fs, uint32_t block);

/* ---------------- ext2_allocate.c ---------------- */

/* A free block, if possible `goal` or one soon after it; ENOSPC.  Unlocks. */
int block_allocate(struct file_system *fs, uint32_t goal, uint32_t *block);

/* Says that a file has it no more; others can once change_commit() has released it. */
int block_free(struct file_system *fs, uint32_t block);
int block_release(struct file_system *fs, uint32_t block);

/* EIO if the block is free, as far as the bitmap says. */
int block_check_used(struct file_system *fs, uint32_t block);

/* A free inode for something in the directory of that number; the last are root's.  Unlocks. */
int inode_allocate(struct file_system *fs, inumber_t directory, mode_t mode, bool may_use_reserved,
		   inumber_t *number);
int inode_free(struct file_system *fs, inumber_t number, mode_t mode); /* As block_free(). */
int inode_release(struct file_system *fs, inumber_t number);

/* ---------------- change.c ---------------- */

int change_open(struct file_system *fs); /* ENOMEM. */
void change_close(struct file_system *fs);

/*
 * Between these two a change is made, of all the blocks that must change together: what it
 * allocates, frees and puts into the cache comes onto the device with the same commit.  Whoever is
 * between them waits for nothing but the device: marks and names are taken before.  Unlocks.
 */
void change_begin(struct file_system *fs);
void change_end(struct file_system *fs);

/*
 * Brings all changes that have ended onto the device, in an order in which it may stop anywhere.
 * Waits for those under way; the caller has none.  Unlocks.
 */
void change_commit(struct file_system *fs);

/*
 * The same.  EIO if something on which others depend could not be written since `lost_writes` was
 * what the caller says, by whichever commit: then nothing may be taken away that it stands for.
 */
int change_commit_since(struct file_system *fs, unsigned lost_writes);

/*
 * Has the file, and all names that it has been given, come onto the device; at once if they are
 * there.  EIO if they may not be: then no other name may go on the strength of them.  Unlocks.
 */
int change_settle(struct file_system *fs, inumber_t number);

/* Notes what became of a number within a change: a directory has the name of what is linked. */
void change_note_linked(struct file_system *fs, inumber_t directory, inumber_t number);
void change_note_new_inode(struct file_system *fs, inumber_t number);
void change_note_free_inode(struct file_system *fs, inumber_t number);
void change_note_free_block(struct file_system *fs, uint32_t block);

void change_note_new_block(struct file_system *fs, uint32_t block);

/*
 * The block has been written, or not.  One that is new and was not still holds what somebody else
 * left, so it is hidden: what is written of its file says that there is a hole.
 */
void change_note_written(struct file_system *fs, uint32_t block, int error);
bool change_is_hidden(const struct file_system *fs, uint32_t block);

/* Whether it was made since the last commit, or has been freed since. */
bool change_is_new(const struct file_system *fs, inumber_t number);
bool change_is_free_block(const struct file_system *fs, uint32_t block);

/* ---------------- ext2_inode.c ---------------- */

/* Fills a node in from the device.  Unlocks. */
int inode_read(struct node *node);

/* Puts what the node says into the cache: within a change, or as one of its own.  Unlocks. */
int inode_write(struct node *node);
int inode_write_alone(struct node *node);

/* Says in the cache that there is no such file any more.  Unlocks. */
int inode_delete(struct node *node);

/*
 * What cache.h calls a mask.  In a copy of a block of inodes the new ones are none yet; in one of
 * an indirect block, too, blocks that are hidden are not named.
 */
bool inode_hide_new(void *file_system, uint32_t block, void *copy);

/*
 * Which inodes a block of the device holds: how many, from *first on; 0: it is none of theirs.
 */
uint32_t inodes_of_block(const struct file_system *fs, uint32_t block, inumber_t *first);

/* Whether a symbolic link's text is in the inode. */
bool inode_has_text(const struct node *node);

/* ---------------- ext2_blocks.c ---------------- */

/* The device's block for a block of the file; 0: a hole.  Node busy, or names.  Unlocks. */
int block_find(struct node *node, uint32_t index, uint32_t *block);

/*
 * The block, made for a hole: then *is_new, and the caller clears or fills it.  These three with
 * the node busy; all unlock.
 */
int block_make(struct node *node, uint32_t index, uint32_t *block, bool *is_new);

/* Has all that leads to the block written once more; the inode with the next inode_write(). */
int block_touch(struct node *node, uint32_t index);

/* Frees the blocks from `index` on. */
int blocks_free(struct node *node, uint32_t index);

/* The largest file that maps can tell of, in blocks. */
uint64_t blocks_max(uint32_t block_size);

/* ---------------- vnode.c ---------------- */

/* The file of that number with a reference.  Waits for no node that is busy.  Unlocks. */
int vnode_get(struct file_system *fs, inumber_t number, struct vnode **found);

/* A new file, whose inode was just allocated.  Not written yet. */
int vnode_new(struct file_system *fs, inumber_t number, mode_t mode, struct vnode **made);

/* What the node says is not in the cache yet. */
void vnode_note_changed(struct node *node);

void vnode_begin(struct vnode *vnode); /* Marks it busy.  Unlocks. */
void vnode_end(struct vnode *vnode);

/* Writes all inodes that were changed to the cache, as it does blocks (cache.h).  Unlocks. */
int vnodes_write(struct file_system *fs);

/* What cache.h calls `written`: a block that could not be is noted with those who miss it. */
void vnodes_note_written(void *file_system, const struct buffer *buffer, int error);

/* Deletes files that have no links although somebody still uses them.  Unlocks. */
void vnodes_delete_orphans(struct file_system *fs);

/* ---------------- ext2_entry.c: node busy, or names; all unlock ---------------- */

/* ENOENT if there is none. */
int entry_find(struct node *directory, const char *name, inumber_t *number);
int entry_add(struct node *directory, const char *name, inumber_t number, mode_t mode);
int entry_delete(struct node *directory, const char *name);

/* A number for the sector of the device that the entry is in. */
int entry_place(struct node *directory, const char *name, uint64_t *place);
int entry_replace(struct node *directory, const char *name, inumber_t number, mode_t mode);

/* ENOTEMPTY if there is more than `.` and `..`. */
int entries_check_none(struct node *directory);

/* The name by which a directory has a file: ENOENT. */
int entry_name(struct node *directory, inumber_t number, char name[NAME_MAX + 1]);

/* `.` and `..` of a new directory. */
int entries_begin(struct node *directory, inumber_t parent);

#endif
