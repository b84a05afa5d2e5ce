/* SPDX-License-Identifier: MIT */
/*
 * The files in use: a table of nodes by number, so that there is one node for a file, with counts
 * of their users.
 *
 * A node whose inode is being read, or whose file is being deleted, is in the table, and whoever
 * looks for it waits; both end by themselves, since they wait for nothing but the device.
 */
#include "fs/ext2.h"
#include "paging/paging.h"

static struct list *vnode_chain_of(struct file_system *fs, inumber_t number)
{
	return &fs->nodes[number % VNODE_CHAINS];
}

static struct node *vnode_find(struct file_system *fs, inumber_t number)
{
	struct list *chain = vnode_chain_of(fs, number);
	struct list *link;

	list_for_each (link, chain) {
		struct node *node = list_object(link, struct node, vnode.link);

		if (node->vnode.number == number)
			return node;
	}
	return NULL;
}

static struct node *vnode_add(struct file_system *fs, inumber_t number)
{
	struct node *node = ux_allocate(sizeof *node);

	if (node == NULL)
		return NULL;
	node->vnode.file_system = fs;
	node->vnode.number = number;
	node->vnode.references = 1;
	list_add_first(vnode_chain_of(fs, number), &node->vnode.link);
	return node;
}

/* Nobody uses it; who waits for it looks again and finds none. */
static void vnode_discard(struct node *node)
{
	assert(node->vnode.references == 0 && !node->vnode.is_busy);
	list_remove(&node->vnode.link);
	ux_wakeup(node);
	ux_free(node);
}

/* ---------------- Getting ---------------- */

static int vnode_load(struct file_system *fs, inumber_t number, struct vnode **found)
{
	struct node *node = vnode_add(fs, number);
	int error;

	if (node == NULL)
		return ENOMEM;
	node->is_loading = true;
	error = inode_read(node);
	node->is_loading = false;
	if (error != 0) {
		node->vnode.references = 0;
		vnode_discard(node);
		return error;
	}
	ux_wakeup(node);
	*found = &node->vnode;
	return 0;
}

int vnode_get(struct file_system *fs, inumber_t number, struct vnode **found)
{
	struct node *node;

	assert(ux_lock_held());
	for (;;) {
		node = vnode_find(fs, number);
		if (node == NULL)
			return vnode_load(fs, number, found);
		if (!node->is_loading && !node->is_dying)
			break;
		ux_sleep(node, NULL);
	}
	*found = vnode_reference(&node->vnode);
	return 0;
}

int vnode_new(struct file_system *fs, inumber_t number, mode_t mode, struct vnode **made)
{
	struct node *node;

	if (vnode_find(fs, number) != NULL)
		return damaged(fs, "inode %u is in use, and free", number);
	node = vnode_add(fs, number);
	if (node == NULL)
		return ENOMEM;
	node->is_new = true;
	node->vnode.mode = mode;
	node->generation = (uint32_t)ux_now();
	*made = &node->vnode;
	return 0;
}

struct vnode *vnode_reference(struct vnode *vnode)
{
	assert(ux_lock_held() && vnode->references > 0);
	vnode->references++;
	return vnode;
}

/* ---------------- Marks ---------------- */

void vnode_note_changed(struct node *node)
{
	if (!node->is_changed)
		node->client = served_now();
	node->is_changed = true;
}

void vnode_begin(struct vnode *vnode)
{
	while (vnode->is_busy)
		ux_sleep(&vnode->is_busy, NULL);
	vnode->is_busy = true;
}

void vnode_end(struct vnode *vnode)
{
	assert(vnode->is_busy);
	vnode->is_busy = false;
	ux_wakeup(&vnode->is_busy);
}

/* ---------------- Giving back ---------------- */

static void vnode_delete_file(struct node *node)
{
	struct vnode *vnode = &node->vnode;
	bool has_blocks = !S_ISLNK(vnode->mode) || !inode_has_text(node);
	int error = 0;

	node->is_dying = true;
	change_begin(vnode->file_system);
	if (has_blocks && (S_ISREG(vnode->mode) || S_ISDIR(vnode->mode) || S_ISLNK(vnode->mode)))
		error = blocks_free(node, 0);
	if (inode_delete(node) != 0 || error != 0)
		ux_log("%s: inode %u could not be deleted completely",
		       vnode->file_system->device.name, vnode->number);
	change_end(vnode->file_system);
}

/*
 * The last reference is still counted: others may come meanwhile, and even take the last name away,
 * unless the file is deleted.
 */
static void vnode_finish(struct node *node)
{
	struct vnode *vnode = &node->vnode;

	while (!node->is_dying && vnode->references == 1) {
		if (vnode->links == 0)
			vnode_delete_file(node);
		else if (!node->is_changed)
			break;
		else if (inode_write_alone(node) != 0)
			ux_log("%s: inode %u could not be written", vnode->file_system->device.name,
			       vnode->number);
	}
}

void vnode_release(struct vnode *vnode)
{
	assert(ux_lock_held() && vnode->references > 0);
	if (vnode->references == 1)
		vnode_finish(node_of(vnode));
	vnode->references--;
	if (vnode->references == 0)
		vnode_discard(node_of(vnode));
	else if (vnode->references == 1 && vnode->object != NULL)
		paging_forget(vnode);
}

/* ---------------- Errors ---------------- */

/* Who has the file open is told; if nobody is, then who opens it next. */
static void vnode_note_error_of(struct file_system *fs, inumber_t number)
{
	struct node *node = vnode_find(fs, number);

	if (node != NULL)
		node->vnode.write_errors++;
	numbers_add(&fs->untold, number);
}

/* Whose inode is in the block, if it is one of inodes; else those of everybody. */
static void vnode_note_error_in(struct file_system *fs, uint32_t block)
{
	inumber_t first;
	uint32_t count = inodes_of_block(fs, block, &first);

	fs->write_errors += count == 0;
	for (uint32_t i = 0; i < count; i++) {
		if (vnode_find(fs, first + i) != NULL)
			vnode_note_error_of(fs, first + i);
	}
}

void vnodes_note_written(void *file_system, const struct buffer *buffer, int error)
{
	struct file_system *fs = file_system;

	change_note_written(fs, buffer->block, error);
	if (error == 0 || buffer->tries > 1)
		return; /* Or it has been told of. */
	fs->lost_writes += buffer->rank >= CACHE_POINTERS || buffer->owner == 0;
	if (buffer->owner != 0)
		vnode_note_error_of(fs, buffer->owner);
	else
		vnode_note_error_in(fs, buffer->block);
}

unsigned vnode_write_errors(const struct vnode *vnode)
{
	return vnode->write_errors + vnode->file_system->write_errors;
}

unsigned vnode_errors_at_open(const struct vnode *vnode)
{
	return vnode_write_errors(vnode) - numbers_have(&vnode->file_system->untold, vnode->number);
}

/* ---------------- All of them ---------------- */

static void vnode_release_unless_null(struct vnode *vnode)
{
	if (vnode != NULL)
		vnode_release(vnode);
}

/*
 * Does something to each node of a chain that can be used.  The node has a reference meanwhile, so
 * that it stays in its place although the lock is given up.
 */
static int vnode_for_each_in(struct list *chain, int (*act)(struct node *node))
{
	struct vnode *last = NULL;
	struct list *link;
	int result = 0;

	list_for_each (link, chain) {
		struct node *node = list_object(link, struct node, vnode.link);
		int error;

		if (node->is_loading || node->is_dying)
			continue;
		vnode_reference(&node->vnode);
		vnode_release_unless_null(last);
		last = &node->vnode;
		error = act(node);
		if (error != 0)
			result = error;
	}
	vnode_release_unless_null(last);
	return result;
}

static int vnode_for_each(struct file_system *fs, int (*act)(struct node *node))
{
	int result = 0;

	for (unsigned i = 0; i < VNODE_CHAINS; i++) {
		int error = vnode_for_each_in(&fs->nodes[i], act);

		if (error != 0)
			result = error;
	}
	return result;
}

/* The change begins before, since that may bring others' onto the device. */
static int vnode_write_if_changed(struct node *node)
{
	struct file_system *fs = node->vnode.file_system;
	bool for_client;
	int error;

	if (!node->is_changed)
		return 0;
	for_client = served_nobody();
	change_begin(fs);
	if (for_client)
		served_begin(node->client);
	error = inode_write(node);
	if (for_client)
		served_end();
	change_end(fs);
	return error;
}

int vnodes_write(struct file_system *fs)
{
	return vnode_for_each(fs, vnode_write_if_changed);
}

static int vnode_delete_if_orphan(struct node *node)
{
	if (node->vnode.links == 0)
		vnode_delete_file(node);
	return 0;
}

void vnodes_delete_orphans(struct file_system *fs)
{
	(void)vnode_for_each(fs, vnode_delete_if_orphan);
}
