/* SPDX-License-Identifier: MIT */
/*
 * Entries of directories.
 *
 * A directory is a file of whole blocks, and each block a chain of entries that ends with it: an
 * entry says how long it is, which may be longer than it needs, and so an entry that goes leaves
 * its room to the one before it.  An entry is looked at only after it has been checked: once for as
 * long as the block stays as it is, with all others of its block, or if one of these is damaged by
 * entry_scan_next() each time.
 *
 * A device may stop in the middle of a block, but not of a sector.  So each sector of a block that
 * is made here begins with an entry, and what is added or deleted changes one sector only.
 */
#include "fs/ext2.h"

/* ---------------- Going through a directory ---------------- */

/* What is found is valid until the lock is given up. */
struct scan {
	struct node *directory;
	uint32_t index; /* The block. */
	struct buffer *buffer;
	uint32_t next;             /* The entry after this one, in the block. */
	struct ext2_entry *before; /* In the same block; null if there is none. */
	struct ext2_entry *entry;
};

static struct scan entry_scan_of(struct node *directory)
{
	return (struct scan){.directory = directory};
}

static uint32_t entry_blocks_of(const struct node *directory)
{
	return (uint32_t)(directory->vnode.size >> directory->vnode.file_system->block_shift);
}

static uint32_t entry_name_length(const struct file_system *fs, const struct ext2_entry *entry)
{
	return entry->name_length | (fs->has_types ? 0u : (uint32_t)entry->type << 8);
}

static bool entry_is_sound(const struct file_system *fs, const struct ext2_entry *entry,
			   uint32_t room)
{
	uint32_t length;

	if (room < EXT2_ENTRY_HEADER || entry->length < EXT2_ENTRY_HEADER ||
	    entry->length % 4 != 0 || entry->length > room)
		return false;
	length = entry_name_length(fs, entry);
	return entry->inode == 0 ||
	       (length > 0 && length <= NAME_MAX && EXT2_ENTRY_SIZE(length) <= entry->length &&
		entry->inode <= fs->n_inodes);
}

static bool entry_block_is_sound(const struct file_system *fs, const char *data)
{
	uint32_t next = 0;

	while (next < fs->block_size) {
		const struct ext2_entry *entry = (const struct ext2_entry *)(data + next);

		if (!entry_is_sound(fs, entry, fs->block_size - next))
			return false;
		next += entry->length;
	}
	return true;
}

static int entry_load(struct scan *scan)
{
	struct node *directory = scan->directory;
	struct file_system *fs = directory->vnode.file_system;
	uint32_t block;
	int error = block_find(directory, scan->index, &block);

	if (error == 0 && block == 0)
		error = damaged(fs, "directory %u has a hole", directory->vnode.number);
	if (error == 0 && change_is_hidden(fs, block) && !cache_has(&fs->cache, block))
		error = EIO; /* What the device has there is not the directory's. */
	if (error == 0)
		error = cache_read(&fs->cache, block, 1, &scan->buffer);
	if (error == 0 && !scan->buffer->is_checked)
		scan->buffer->is_checked = entry_block_is_sound(fs, scan->buffer->data);
	return error;
}

/* Goes to before the first entry of the next block: ENOENT if there is none. */
static int entry_scan_block(struct scan *scan)
{
	if (scan->buffer != NULL)
		scan->index++;
	scan->buffer = NULL;
	if (scan->index >= entry_blocks_of(scan->directory))
		return ENOENT;
	scan->entry = NULL;
	scan->next = 0;
	return entry_load(scan);
}

static int entry_tell_damage(const struct scan *scan)
{
	return damaged(scan->directory->vnode.file_system,
		       "directory %u has an odd entry in block %u, byte %u",
		       scan->directory->vnode.number, scan->index, scan->next);
}

/* Goes to the next entry, used or free: ENOENT if there is none.  Unlocks between blocks. */
static inline int entry_scan_next(struct scan *scan)
{
	const struct file_system *fs = scan->directory->vnode.file_system;

	if (scan->buffer == NULL || scan->next == fs->block_size) {
		int error = entry_scan_block(scan);

		if (error != 0)
			return error;
	}
	scan->before = scan->entry;
	scan->entry = (struct ext2_entry *)((char *)scan->buffer->data + scan->next);
	if (!scan->buffer->is_checked &&
	    !entry_is_sound(fs, scan->entry, fs->block_size - scan->next))
		return entry_tell_damage(scan);
	scan->next += scan->entry->length;
	return 0;
}

static bool entry_is_named(const struct file_system *fs, const struct ext2_entry *entry,
			   const char *name, size_t length)
{
	return entry->inode != 0 && entry_name_length(fs, entry) == length &&
	       memcmp(entry->name, name, length) == 0;
}

/* Goes to the entry of a name: ENOENT. */
static int entry_scan_to(struct scan *scan, const char *name)
{
	size_t length = strlen(name);
	int error;

	do
		error = entry_scan_next(scan);
	while (error == 0 &&
	       !entry_is_named(scan->directory->vnode.file_system, scan->entry, name, length));
	return error;
}

/*
 * The directory has been changed in this block.  If blocks could not be written, some that lead
 * here may be among them: then they are written with this one.  Unlocks.
 */
static int entry_note_change(struct scan *scan)
{
	struct node *directory = scan->directory;
	struct file_system *fs = directory->vnode.file_system;
	bool is_hidden = change_is_hidden(fs, scan->buffer->block);

	cache_change(&fs->cache, scan->buffer, is_hidden ? CACHE_LOOSE : CACHE_NAMES);
	directory->vnode.modified = directory->vnode.changed = ux_seconds();
	directory->flags &= ~EXT2_FLAG_INDEX;
	vnode_note_changed(directory);
	if (!is_hidden && cache_lost(&fs->cache, CACHE_LOOSE) == 0)
		return 0;
	return block_touch(directory, scan->index);
}

/* ---------------- One entry ---------------- */

int entry_find(struct node *directory, const char *name, inumber_t *number)
{
	struct scan scan = entry_scan_of(directory);
	int error = entry_scan_to(&scan, name);

	if (error == 0)
		*number = scan.entry->inode;
	return error;
}

int entry_place(struct node *directory, const char *name, uint64_t *place)
{
	struct scan scan = entry_scan_of(directory);
	int error = entry_scan_to(&scan, name);

	if (error == 0)
		*place = (uint64_t)scan.buffer->block * CACHE_RUN_BYTES +
			 (scan.next - scan.entry->length) / SECTOR;
	return error;
}

static uint8_t entry_type_of(const struct file_system *fs, mode_t mode)
{
	static const uint8_t types[] = {
		[S_IFREG >> 12] = 1, [S_IFDIR >> 12] = 2,  [S_IFCHR >> 12] = 3, [S_IFBLK >> 12] = 4,
		[S_IFIFO >> 12] = 5, [S_IFSOCK >> 12] = 6, [S_IFLNK >> 12] = 7,
	};
	uint32_t type = (mode & S_IFMT) >> 12;

	return fs->has_types && type < sizeof types ? types[type] : 0;
}

static void entry_fill(const struct file_system *fs, struct ext2_entry *entry, const char *name,
		       inumber_t number, mode_t mode)
{
	size_t length = strlen(name);

	entry->inode = number;
	entry->name_length = (uint8_t)length;
	entry->type = entry_type_of(fs, mode);
	memcpy(entry->name, name, length);
}

/* How much of an entry is room for another. */
static uint32_t entry_needed_by(const struct file_system *fs, const struct ext2_entry *entry)
{
	return entry->inode == 0 ? 0 : EXT2_ENTRY_SIZE(entry_name_length(fs, entry));
}

/* Whether an entry has room behind its own need, in the sector in which it is noted. */
static bool entry_has_room(const struct scan *scan, uint32_t size)
{
	uint32_t used = entry_needed_by(scan->directory->vnode.file_system, scan->entry);
	uint32_t begin = scan->next - scan->entry->length;

	return scan->entry->length - used >= size &&
	       begin / SECTOR == (begin + used + size - 1) / SECTOR;
}

/* Goes to an entry behind whose own need there is room: ENOENT. */
static int entry_scan_to_room(struct scan *scan, uint32_t size)
{
	int error;

	do
		error = entry_scan_next(scan);
	while (error == 0 && !entry_has_room(scan, size));
	return error;
}

/* Makes the directory longer by a block, of which each sector is a free entry. */
static int entry_append_block(struct scan *scan)
{
	struct node *directory = scan->directory;
	struct file_system *fs = directory->vnode.file_system;
	uint32_t block;
	bool is_new;
	int error = block_make(directory, entry_blocks_of(directory), &block, &is_new);

	if (error != 0)
		return error;
	scan->buffer = cache_clear(&fs->cache, block, CACHE_LOOSE);
	scan->entry = scan->buffer->data;
	for (uint32_t begin = 0; begin < fs->block_size; begin += SECTOR)
		((struct ext2_entry *)((char *)scan->buffer->data + begin))->length = SECTOR;
	directory->vnode.size += fs->block_size;
	return 0;
}

int entry_add(struct node *directory, const char *name, inumber_t number, mode_t mode)
{
	const struct file_system *fs = directory->vnode.file_system;
	struct scan scan = entry_scan_of(directory);
	int error = entry_scan_to_room(&scan, EXT2_ENTRY_SIZE(strlen(name)));
	struct ext2_entry *entry;
	uint32_t used;

	if (error == ENOENT)
		error = entry_append_block(&scan);
	if (error != 0)
		return error;
	entry = scan.entry;
	used = entry_needed_by(fs, entry);
	if (used > 0) {
		struct ext2_entry *next = (struct ext2_entry *)((char *)entry + used);

		next->length = (uint16_t)(entry->length - used);
		entry->length = (uint16_t)used;
		entry = next;
	}
	entry_fill(fs, entry, name, number, mode);
	return entry_note_change(&scan);
}

int entry_delete(struct node *directory, const char *name)
{
	struct scan scan = entry_scan_of(directory);
	int error = entry_scan_to(&scan, name);

	if (error != 0)
		return error;
	if (scan.before != NULL && (scan.next - scan.entry->length) % SECTOR != 0)
		scan.before->length = (uint16_t)(scan.before->length + scan.entry->length);
	else
		scan.entry->inode = 0;
	return entry_note_change(&scan);
}

int entry_replace(struct node *directory, const char *name, inumber_t number, mode_t mode)
{
	struct scan scan = entry_scan_of(directory);
	int error = entry_scan_to(&scan, name);

	if (error != 0)
		return error;
	entry_fill(directory->vnode.file_system, scan.entry, name, number, mode);
	return entry_note_change(&scan);
}

/* ---------------- All entries ---------------- */

static bool entry_is_dot_or_dots(const struct file_system *fs, const struct ext2_entry *entry)
{
	return entry_is_named(fs, entry, ".", 1) || entry_is_named(fs, entry, "..", 2);
}

int entries_check_none(struct node *directory)
{
	const struct file_system *fs = directory->vnode.file_system;
	struct scan scan = entry_scan_of(directory);
	int error;

	do {
		error = entry_scan_next(&scan);
		if (error == 0 && scan.entry->inode != 0 && !entry_is_dot_or_dots(fs, scan.entry))
			return ENOTEMPTY;
	} while (error == 0);
	return error == ENOENT ? 0 : error;
}

int entry_name(struct node *directory, inumber_t number, char name[NAME_MAX + 1])
{
	const struct file_system *fs = directory->vnode.file_system;
	struct scan scan = entry_scan_of(directory);
	uint32_t length;
	int error;

	do
		error = entry_scan_next(&scan);
	while (error == 0 && (scan.entry->inode != number || entry_is_dot_or_dots(fs, scan.entry)));
	if (error != 0)
		return error;
	length = entry_name_length(fs, scan.entry);
	memcpy(name, scan.entry->name, length);
	name[length] = '\0';
	return 0;
}

int entries_begin(struct node *directory, inumber_t parent)
{
	const struct file_system *fs = directory->vnode.file_system;
	struct scan scan = entry_scan_of(directory);
	struct ext2_entry *dots;
	int error = entry_append_block(&scan);

	if (error != 0)
		return error;
	entry_fill(fs, scan.entry, ".", directory->vnode.number, S_IFDIR);
	scan.entry->length = EXT2_ENTRY_SIZE(1);
	dots = (struct ext2_entry *)((char *)scan.entry + EXT2_ENTRY_SIZE(1));
	dots->length = (uint16_t)(SECTOR - EXT2_ENTRY_SIZE(1));
	entry_fill(fs, dots, "..", parent, S_IFDIR);
	return entry_note_change(&scan);
}

/* ---------------- Reading as <sys/dirent.h> has it ---------------- */

static uint8_t entry_dirent_type(const struct file_system *fs, const struct ext2_entry *entry)
{
	static const uint8_t types[] = {DT_UNKNOWN, DT_REG,  DT_DIR,     DT_CHR,
					DT_BLK,     DT_FIFO, DT_UNKNOWN, DT_LNK};

	return fs->has_types && entry->type < sizeof types ? types[entry->type] : DT_UNKNOWN;
}

/* False if there is no room. */
static bool entry_copy_out(const struct file_system *fs, const struct ext2_entry *entry, off_t next,
			   char *buffer, size_t room, size_t *used)
{
	uint32_t length = entry_name_length(fs, entry);
	size_t size = DIRENT_SIZE(length);
	struct dirent *result = (struct dirent *)(buffer + *used);

	if (size > room - *used)
		return false;
	memset(result, 0, size);
	result->d_ino = entry->inode;
	result->d_off = next;
	result->d_reclen = (uint16_t)size;
	result->d_type = entry_dirent_type(fs, entry);
	memcpy(result->d_name, entry->name, length);
	*used += size;
	return true;
}

/* Where in the directory the entry begins. */
static off_t entry_place_of(const struct scan *scan)
{
	uint32_t shift = scan->directory->vnode.file_system->block_shift;

	return ((off_t)scan->index << shift) + scan->next - scan->entry->length;
}

/* The cookie is where the next entry begins, or began: others may have gone since. */
static int entry_read_entries(struct node *directory, off_t *cookie, char *buffer, size_t room,
			      size_t *used)
{
	const struct file_system *fs = directory->vnode.file_system;
	struct scan scan = entry_scan_of(directory);
	int error;

	scan.index = (uint32_t)(*cookie >> fs->block_shift);
	while ((error = entry_scan_next(&scan)) == 0) {
		off_t place = entry_place_of(&scan);
		off_t next = place + scan.entry->length;

		if (place < *cookie)
			continue;
		if (scan.entry->inode != 0 &&
		    !entry_copy_out(fs, scan.entry, next, buffer, room, used))
			return *used > 0 ? 0 : EINVAL;
		*cookie = next;
	}
	return error == ENOENT || *used > 0 ? 0 : error;
}

int directory_read(struct vnode *directory, off_t *cookie, void *buffer, size_t room, size_t *used)
{
	int error;

	assert(ux_lock_held());
	*used = 0;
	if (!S_ISDIR(directory->mode))
		return ENOTDIR;
	if (*cookie < 0)
		return EINVAL;
	if (directory->links == 0 || *cookie >= directory->size)
		return 0;
	vnode_begin(directory);
	error = entry_read_entries(node_of(directory), cookie, buffer, room, used);
	directory->accessed = ux_seconds();
	vnode_note_changed(node_of(directory));
	vnode_end(directory);
	return error;
}
