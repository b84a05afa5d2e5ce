/* SPDX-License-Identifier: MIT */
/*
 * What is done with names in directories.
 *
 * Changes of the tree of directories and of counts of links exclude each other by
 * directory_names_begin().  So what one of them has found out holds until it has done it, and only
 * one thread at a time marks two directories busy.  Looking a name up needs only the directory's
 * own mark.
 */
#include "fs/ext2.h"

/* ---------------- Marks ---------------- */

static void directory_names_begin(struct file_system *fs)
{
	assert(ux_lock_held());
	while (fs->names_are_busy)
		ux_sleep(&fs->names_are_busy, NULL);
	fs->names_are_busy = true;
}

static void directory_names_end(struct file_system *fs)
{
	fs->names_are_busy = false;
	ux_wakeup(&fs->names_are_busy);
}

static bool directory_is_dots(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* A directory that has been removed is found no more, even by who still is in it. */
static int directory_check(const struct vnode *directory, const char *name)
{
	if (!S_ISDIR(directory->mode))
		return ENOTDIR;
	if (strlen(name) > NAME_MAX)
		return ENAMETOOLONG;
	return directory->links == 0 || name[0] == '\0' ? ENOENT : 0;
}

static int directory_begin(struct vnode *directory, const char *name)
{
	int error;

	if (directory->file_system->is_read_only)
		return EROFS;
	directory_names_begin(directory->file_system);
	error = directory_check(directory, name);
	if (error != 0)
		directory_names_end(directory->file_system);
	return error;
}

static int directory_write_both(struct vnode *one, struct vnode *other)
{
	int error = inode_write(node_of(one));
	int other_error = inode_write(node_of(other));

	return error != 0 ? error : other_error;
}

static void directory_remove_link(struct vnode *vnode, nlink_t count)
{
	vnode->links -= vnode->links < count ? vnode->links : count;
	vnode->changed = ux_seconds();
	vnode_note_changed(node_of(vnode));
}

static void directory_add_link(struct vnode *vnode)
{
	vnode->links++;
	vnode->changed = ux_seconds();
	vnode_note_changed(node_of(vnode));
}

/* ---------------- Looking up ---------------- */

/* Nobody changes the directory: it is busy, or the caller has the names. */
static int directory_find(struct vnode *directory, const char *name, struct vnode **found)
{
	inumber_t number;
	int error = entry_find(node_of(directory), name, &number);

	return error != 0 ? error : vnode_get(directory->file_system, number, found);
}

int directory_lookup(struct vnode *directory, const char *name, struct vnode **found)
{
	int error = directory_check(directory, name);

	assert(ux_lock_held());
	if (error != 0)
		return error;
	if (strcmp(name, ".") == 0) {
		*found = vnode_reference(directory);
		return 0;
	}
	vnode_begin(directory);
	error = directory_find(directory, name, found);
	vnode_end(directory);
	return error;
}

/* ENOENT is what is hoped for. */
static int directory_check_none(struct vnode *directory, const char *name)
{
	inumber_t number;
	int error = entry_find(node_of(directory), name, &number);

	return error == 0 ? EEXIST : error == ENOENT ? 0 : error;
}

/* ---------------- Creating ---------------- */

static void directory_set_owner(struct vnode *vnode, const struct vnode *directory,
				const struct credentials *owner)
{
	vnode->uid = owner->euid;
	vnode->gid = (directory->mode & S_ISGID) != 0 ? directory->gid : owner->egid;
	vnode->accessed = vnode->modified = vnode->changed = ux_seconds();
}

/* What a directory or a link has from the beginning. */
static int directory_fill(struct vnode *vnode, const struct vnode *directory, const char *text)
{
	if (S_ISDIR(vnode->mode))
		return entries_begin(node_of(vnode), directory->number);
	return S_ISLNK(vnode->mode) ? vnode_set_link(vnode, text) : 0;
}

/* A file with no name yet; one that is made in spite of an error is the caller's to release. */
static int directory_make(struct vnode *directory, mode_t mode, const char *text,
			  const struct credentials *owner, struct vnode **made)
{
	struct file_system *fs = directory->file_system;
	inumber_t number;
	bool may_use_reserved = node_of(directory)->may_use_reserved;
	int error = inode_allocate(fs, directory->number, mode, may_use_reserved, &number);

	if (error != 0)
		return error;
	error = vnode_new(fs, number, mode, made);
	if (error != 0) {
		if (inode_free(fs, number, mode) != 0)
			ux_log("%s: inode %u stays in use", fs->device.name, number);
		return error;
	}
	node_of(*made)->may_use_reserved = may_use_reserved;
	directory_set_owner(*made, directory, owner);
	error = directory_fill(*made, directory, text);
	return error != 0 ? error : inode_write(node_of(*made));
}

/* Gives a new file its name; a directory is named by itself too, and names its parent. */
static int directory_enter(struct vnode *directory, const char *name, struct vnode *vnode)
{
	int error = entry_add(node_of(directory), name, vnode->number, vnode->mode);

	if (error != 0)
		return error;
	change_note_linked(directory->file_system, directory->number, vnode->number);
	vnode->links = S_ISDIR(vnode->mode) ? 2 : 1;
	directory->links += S_ISDIR(vnode->mode);
	return directory_write_both(directory, vnode);
}

/* What is made, and the directory if it grows, may take what is root's if `who` may. */
static void directory_note_who(struct vnode *directory, const struct credentials *who)
{
	node_of(directory)->may_use_reserved = super_may_use_reserved(directory->file_system, who);
}

/*
 * What a new directory holds is on the device after it is: so it is, before anything comes into it.
 */
static void directory_begin_entering(struct vnode *directory, const struct credentials *who)
{
	struct file_system *fs = directory->file_system;

	if (change_is_new(fs, directory->number))
		change_commit(fs); /* If it is not, what comes into it is lost with it. */
	vnode_begin(directory);
	directory_note_who(directory, who);
	change_begin(fs);
}

static void directory_end_entering(struct vnode *directory)
{
	change_end(directory->file_system);
	vnode_end(directory);
}

static int directory_add_vnode(struct vnode *directory, const char *name, mode_t mode,
			       const char *text, const struct credentials *owner,
			       struct vnode **made)
{
	int error = directory_check_none(directory, name);

	if (error == 0 && S_ISDIR(mode) && directory->links >= EXT2_LINKS_MAX)
		error = EMLINK;
	if (error != 0)
		return error;
	directory_begin_entering(directory, owner);
	error = directory_make(directory, mode, text, owner, made);
	if (error == 0)
		error = directory_enter(directory, name, *made);
	directory_end_entering(directory);
	return error;
}

static int directory_begin_and_create(struct vnode *directory, const char *name, mode_t mode,
				      const char *text, const struct credentials *owner,
				      struct vnode **made)
{
	int error = directory_begin(directory, name);

	if (error != 0)
		return error;
	*made = NULL;
	error = directory_add_vnode(directory, name, mode, text, owner, made);
	directory_names_end(directory->file_system);
	if (error != 0 && *made != NULL)
		vnode_release(*made);
	return error;
}

int directory_create(struct vnode *directory, const char *name, mode_t mode,
		     const struct credentials *owner, struct vnode **made)
{
	assert(!S_ISLNK(mode));
	return directory_begin_and_create(directory, name, mode, NULL, owner, made);
}

int directory_symlink(struct vnode *directory, const char *name, const char *text,
		      const struct credentials *owner, struct vnode **made)
{
	mode_t mode = S_IFLNK | S_IRWXU | S_IRWXG | S_IRWXO;

	return directory_begin_and_create(directory, name, mode, text, owner, made);
}

static int directory_link_file(struct vnode *directory, const char *name, struct vnode *vnode,
			       const struct credentials *who)
{
	int error = directory_check_none(directory, name);

	if (error != 0)
		return error;
	if (S_ISDIR(vnode->mode))
		return EPERM;
	if (vnode->links == 0)
		return ENOENT;
	if (vnode->links >= EXT2_LINKS_MAX)
		return EMLINK;
	directory_begin_entering(directory, who);
	error = entry_add(node_of(directory), name, vnode->number, vnode->mode);
	if (error == 0) {
		directory_add_link(vnode);
		change_note_linked(vnode->file_system, directory->number, vnode->number);
		error = directory_write_both(vnode, directory);
	}
	directory_end_entering(directory);
	return error;
}

int directory_link(struct vnode *directory, const char *name, struct vnode *vnode,
		   const struct credentials *who)
{
	int error = directory_begin(directory, name);

	if (error != 0)
		return error;
	error = directory_link_file(directory, name, vnode, who);
	directory_names_end(directory->file_system);
	return error;
}

/* ---------------- Removing ---------------- */

/* Whether a directory may go.  Nobody can put anything into it: the caller has the names. */
static int directory_check_removable(struct vnode *victim)
{
	if (victim == victim->file_system->root)
		return EBUSY;
	return entries_check_none(node_of(victim));
}

/*
 * Takes the name away, and the links that go with it.  Another name of the file may be new, and is
 * on the device before this one goes.
 */
static int directory_leave(struct vnode *directory, const char *name, struct vnode *victim)
{
	struct file_system *fs = directory->file_system;
	bool is_directory = S_ISDIR(victim->mode);
	int error = 0;

	if (!is_directory && victim->links > 1)
		error = change_settle(fs, victim->number);
	if (error != 0)
		return error;
	vnode_begin(directory);
	change_begin(fs);
	error = entry_delete(node_of(directory), name);
	if (error == 0) {
		directory_remove_link(victim, is_directory ? victim->links : 1);
		if (is_directory)
			directory_remove_link(directory, 1);
		error = directory_write_both(directory, victim);
	}
	change_end(fs);
	vnode_end(directory);
	return error;
}

/* The file's last reference may be the one that is given back here, after the names. */
static int directory_take_out(struct vnode *directory, const char *name,
			      int (*check_victim)(struct vnode *))
{
	struct vnode *victim;
	int error = directory_begin(directory, name);

	if (error != 0)
		return error;
	error = directory_find(directory, name, &victim);
	if (error != 0) {
		directory_names_end(directory->file_system);
		return error;
	}
	error = check_victim(victim);
	if (error == 0)
		error = directory_leave(directory, name, victim);
	directory_names_end(directory->file_system);
	vnode_release(victim);
	return error;
}

static int directory_check_file(struct vnode *victim)
{
	return S_ISDIR(victim->mode) ? EPERM : 0;
}

static int directory_check_directory(struct vnode *victim)
{
	return S_ISDIR(victim->mode) ? directory_check_removable(victim) : ENOTDIR;
}

int directory_unlink(struct vnode *directory, const char *name)
{
	return directory_take_out(directory, name, directory_check_file);
}

int directory_remove(struct vnode *directory, const char *name)
{
	if (directory_is_dots(name))
		return strcmp(name, ".") == 0 ? EINVAL : ENOTEMPTY;
	return directory_take_out(directory, name, directory_check_directory);
}

/* ---------------- Renaming ---------------- */

/* What a rename is about; the references are its own. */
struct renaming {
	struct vnode *from, *to;
	const char *old_name, *new_name;
	struct vnode *moved;
	struct vnode *victim; /* What has the new name so far, or null. */
	const struct credentials *who;
};

static void directory_mark(struct vnode *one, struct vnode *other, struct vnode *third)
{
	vnode_begin(one);
	if (other != one)
		vnode_begin(other);
	if (third != one && third != other)
		vnode_begin(third);
}

static void directory_unmark(struct vnode *one, struct vnode *other, struct vnode *third)
{
	vnode_end(one);
	if (other != one)
		vnode_end(other);
	if (third != one && third != other)
		vnode_end(third);
}

/* Goes one directory up; the reference goes along. */
static int directory_ascend(struct vnode **directory)
{
	struct vnode *child = *directory;
	int error = directory_find(child, "..", directory);

	if (error != 0)
		*directory = NULL;
	if (error == ENOENT)
		error = damaged(child->file_system, "directory %u has no parent", child->number);
	vnode_release(child);
	return error;
}

/*
 * EINVAL if `to` is `moved` or below it; who would never arrive at the root has gone in a circle.
 */
static int directory_check_not_below(struct vnode *moved, struct vnode *to)
{
	struct file_system *fs = moved->file_system;
	struct vnode *directory = vnode_reference(to);
	uint32_t steps = 0;
	int error = 0;

	while (error == 0 && directory != moved && directory != fs->root) {
		error = directory_ascend(&directory);
		if (error == 0 && ++steps > fs->n_inodes)
			error = damaged(fs, "directories lie in a circle");
	}
	if (directory == moved && error == 0)
		error = EINVAL;
	if (directory != NULL)
		vnode_release(directory);
	return error;
}

static int directory_judge_victim(const struct renaming *it)
{
	if (it->victim == NULL)
		return 0;
	if (!S_ISDIR(it->victim->mode))
		return S_ISDIR(it->moved->mode) ? ENOTDIR : 0;
	return S_ISDIR(it->moved->mode) ? directory_check_removable(it->victim) : EISDIR;
}

/* The name by which the other directory has the directory that moves in: one link more, or not. */
static int directory_check_links(const struct renaming *it)
{
	bool is_more = S_ISDIR(it->moved->mode) && it->from != it->to && it->victim == NULL;

	return is_more && it->to->links >= EXT2_LINKS_MAX ? EMLINK : 0;
}

static int directory_check_renaming(const struct renaming *it)
{
	int error = 0;

	if (S_ISDIR(it->moved->mode))
		error = directory_check_not_below(it->moved, it->to);
	if (error == 0)
		error = directory_judge_victim(it);
	return error != 0 ? error : directory_check_links(it);
}

static int directory_enter_moved(const struct renaming *it)
{
	inumber_t number = it->moved->number;
	mode_t mode = it->moved->mode;

	if (it->victim != NULL)
		return entry_replace(node_of(it->to), it->new_name, number, mode);
	return entry_add(node_of(it->to), it->new_name, number, mode);
}

static int directory_leave_moved(const struct renaming *it)
{
	int error = entry_delete(node_of(it->from), it->old_name);

	if (error == 0 && S_ISDIR(it->moved->mode) && it->from != it->to)
		error = entry_replace(node_of(it->moved), "..", it->to->number, S_IFDIR);
	return error;
}

static void directory_move_links(const struct renaming *it)
{
	bool is_directory = S_ISDIR(it->moved->mode);

	if (it->victim != NULL && S_ISDIR(it->victim->mode))
		directory_remove_link(it->to, 1);
	if (it->victim != NULL)
		directory_remove_link(it->victim, is_directory ? it->victim->links : 1);
	if (is_directory && it->from != it->to) {
		directory_remove_link(it->from, 1);
		directory_add_link(it->to);
	}
	it->moved->changed = ux_seconds();
}

/* The last part of a move: the old name goes, and the links are what the names are. */
static int directory_settle_moved(const struct renaming *it, bool has_left)
{
	int error = has_left ? 0 : directory_leave_moved(it);
	int moved_error;

	if (error != 0)
		return error;
	directory_move_links(it);
	moved_error = directory_write_both(it->moved, it->victim != NULL ? it->victim : it->from);
	error = directory_write_both(it->from, it->to);
	return error != 0 ? error : moved_error;
}

/* The new name may not be on the device: the old one stays, and what had the new one too. */
static int directory_give_up_moving(const struct renaming *it, bool has_left, int error)
{
	if (!has_left)
		directory_add_link(it->moved);
	(void)inode_write(node_of(it->moved));
	return error;
}

/*
 * Whether both names may come onto the device with the same commit: because they do by one write,
 * or since a file that is new has no name there that it could lose.
 */
static int directory_is_one_write(const struct renaming *it, bool *is_one)
{
	uint64_t old_place, new_place = 0;
	int error = entry_place(node_of(it->from), it->old_name, &old_place);

	if (error == 0)
		error = entry_place(node_of(it->to), it->new_name, &new_place);
	*is_one = old_place == new_place || change_is_new(it->from->file_system, it->moved->number);
	return error;
}

/* What is done together with the new name: what leads to it, and the old one's end if it can. */
static int directory_follow_moved(const struct renaming *it, bool *has_left)
{
	bool is_one = false;
	int error = inode_write(node_of(it->to)); /* It may have become larger. */

	if (error == 0)
		error = directory_is_one_write(it, &is_one);
	if (error == 0 && is_one)
		error = directory_leave_moved(it);
	*has_left = error == 0 && is_one;
	return error;
}

/*
 * The new name first: if that fails nothing has happened.  Where one write cannot do it the new
 * name is on the device before the old one goes, and so it is before a file that had it is deleted.
 */
static int directory_move_marked(const struct renaming *it)
{
	struct file_system *fs = it->from->file_system;
	bool has_left = false, has_entered;
	unsigned lost_writes;
	int error;

	change_begin(fs);
	lost_writes = fs->lost_writes;
	error = directory_enter_moved(it);
	has_entered = error == 0;
	if (has_entered)
		error = directory_follow_moved(it, &has_left);
	change_end(fs);
	if (!has_entered)
		return error;
	if (error == 0 && (!has_left || it->victim != NULL))
		error = change_commit_since(fs, lost_writes);
	change_begin(fs);
	error = error == 0 ? directory_settle_moved(it, has_left)
			   : directory_give_up_moving(it, has_left, error);
	change_end(fs);
	return error;
}

/*
 * A new file or directory has to be on the device before anything there depends on it, and so have
 * other names of a file that loses this one.
 */
static int directory_move(const struct renaming *it)
{
	struct file_system *fs = it->from->file_system;
	int error = change_settle(fs, it->to->number);

	if (error == 0 && it->victim != NULL)
		error = change_settle(fs, it->moved->number);
	if (error == 0 && it->victim != NULL && !S_ISDIR(it->victim->mode) && it->victim->links > 1)
		error = change_settle(fs, it->victim->number);
	if (error != 0)
		return error;
	directory_mark(it->from, it->to, it->moved);
	directory_note_who(it->to, it->who);
	error = directory_move_marked(it);
	directory_unmark(it->from, it->to, it->moved);
	return error;
}

static int directory_find_both(struct renaming *it)
{
	int error = directory_find(it->from, it->old_name, &it->moved);

	if (error == 0)
		error = directory_find(it->to, it->new_name, &it->victim);
	return error == ENOENT && it->moved != NULL ? 0 : error;
}

static int directory_rename_with_names(struct renaming *it)
{
	int error = directory_check(it->from, it->old_name);

	if (error == 0)
		error = directory_check(it->to, it->new_name);
	if (error == 0)
		error = directory_find_both(it);
	if (error == 0 && it->moved != it->victim)
		error = directory_check_renaming(it);
	if (error == 0 && it->moved != it->victim)
		error = directory_move(it);
	return error;
}

int directory_rename(struct vnode *from, const char *old_name, struct vnode *to,
		     const char *new_name, const struct credentials *who)
{
	struct renaming it = {
		.from = from, .to = to, .old_name = old_name, .new_name = new_name, .who = who};
	int error;

	if (directory_is_dots(old_name) || directory_is_dots(new_name))
		return EINVAL;
	if (from->file_system->is_read_only)
		return EROFS;
	directory_names_begin(from->file_system);
	error = directory_rename_with_names(&it);
	directory_names_end(from->file_system);
	if (it.moved != NULL)
		vnode_release(it.moved);
	if (it.victim != NULL) {
		vnode_release(it.victim);
		change_commit(from->file_system); /* Or it would be there without a name. */
	}
	return error;
}
