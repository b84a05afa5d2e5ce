/* SPDX-License-Identifier: MIT */
/*
 * Entries by address: see entry_tree.h.  Guarded by the kernel lock.
 *
 * A node's height is the number of levels from it down.  After a change the heights above it are
 * brought up to date, turning what has become lopsided, until one comes out as it was: what is
 * above that has not noticed.
 */
#include "vm/map/entry_tree.h"

#include <stddef.h>

#include "base/assert.h"
#include "vm/map/map.h"

static inline uint32_t entry_tree_height(const struct map_entry *entry)
{
	return entry == NULL ? 0 : entry->node.height;
}

static inline void entry_tree_set_height(struct map_entry *entry)
{
	uint32_t left = entry_tree_height(entry->node.below[ENTRY_LEFT]),
		 right = entry_tree_height(entry->node.below[ENTRY_RIGHT]);

	entry->node.height = (left > right ? left : right) + 1;
}

/* Hangs `new` (or nothing) where `old` hangs below `parent`. */
static inline void entry_tree_replace(struct map_entry **root, struct map_entry *parent,
				      struct map_entry *old, struct map_entry *new)
{
	if (parent == NULL)
		*root = new;
	else if (parent->node.below[ENTRY_LEFT] == old)
		parent->node.below[ENTRY_LEFT] = new;
	else
		parent->node.below[ENTRY_RIGHT] = new;
	if (new != NULL)
		new->node.parent = parent;
}

static inline void entry_tree_hang(struct map_entry *entry, enum entry_side side,
				   struct map_entry *child)
{
	entry->node.below[side] = child;
	if (child != NULL)
		child->node.parent = entry;
}

/* Puts what is below on `side` in its parent's place, and returns it; of its height it makes
 * nothing. */
static struct map_entry *entry_tree_turn(struct map_entry **root, struct map_entry *entry,
					 enum entry_side side)
{
	struct map_entry *top = entry->node.below[side];

	entry_tree_replace(root, entry->node.parent, entry, top);
	entry_tree_hang(entry, side, top->node.below[!side]);
	entry_tree_hang(top, !side, entry);
	entry_tree_set_height(entry);
	return top;
}

/* `side` is two levels higher than the other: evens them, and returns what is on top now. */
static struct map_entry *entry_tree_even(struct map_entry **root, struct map_entry *entry,
					 enum entry_side side)
{
	struct map_entry *high = entry->node.below[side];

	if (entry_tree_height(high->node.below[side]) < entry_tree_height(high->node.below[!side]))
		entry_tree_set_height(entry_tree_turn(root, high, !side));
	entry = entry_tree_turn(root, entry, side);
	entry_tree_set_height(entry);
	return entry;
}

/* From `entry` upwards, whose children may have changed. */
static void entry_tree_balance(struct map_entry **root, struct map_entry *entry)
{
	for (; entry != NULL; entry = entry->node.parent) {
		uint32_t before = entry->node.height;
		uint32_t left = entry_tree_height(entry->node.below[ENTRY_LEFT]),
			 right = entry_tree_height(entry->node.below[ENTRY_RIGHT]);

		if (left > right + 1 || right > left + 1)
			entry = entry_tree_even(root, entry,
						left > right ? ENTRY_LEFT : ENTRY_RIGHT);
		else
			entry->node.height = (left > right ? left : right) + 1;
		if (entry->node.height == before)
			return;
	}
}

/* There is room: the lower of two neighbours has no right child, or the upper no left one. */
void entry_tree_insert(struct map_entry **root, struct map_entry *entry, struct map_entry *before,
		       struct map_entry *after)
{
	struct map_entry *parent = before;

	entry->node = (struct entry_node){.height = 1};
	if (before != NULL && before->node.below[ENTRY_RIGHT] == NULL) {
		before->node.below[ENTRY_RIGHT] = entry;
	} else if (after != NULL) {
		assert(after->node.below[ENTRY_LEFT] == NULL);
		after->node.below[ENTRY_LEFT] = entry;
		parent = after;
	} else {
		assert(*root == NULL);
		*root = entry;
		return;
	}
	entry->node.parent = parent;
	entry_tree_balance(root, parent);
}

/* The entry that follows, which has nothing on its left, takes the place of one with two sides. */
static void entry_tree_remove_inner(struct map_entry **root, struct map_entry *entry)
{
	struct map_entry *next = entry->node.below[ENTRY_RIGHT];
	struct map_entry *lowest;

	while (next->node.below[ENTRY_LEFT] != NULL)
		next = next->node.below[ENTRY_LEFT];
	lowest = next->node.parent;
	if (lowest == entry) {
		lowest = next;
	} else {
		entry_tree_hang(lowest, ENTRY_LEFT, next->node.below[ENTRY_RIGHT]);
		entry_tree_hang(next, ENTRY_RIGHT, entry->node.below[ENTRY_RIGHT]);
	}
	entry_tree_hang(next, ENTRY_LEFT, entry->node.below[ENTRY_LEFT]);
	next->node.height = entry->node.height;
	entry_tree_replace(root, entry->node.parent, entry, next);
	entry_tree_balance(root, lowest);
}

void entry_tree_remove(struct map_entry **root, struct map_entry *entry)
{
	struct map_entry *left = entry->node.below[ENTRY_LEFT],
			 *right = entry->node.below[ENTRY_RIGHT];

	if (left != NULL && right != NULL) {
		entry_tree_remove_inner(root, entry);
		return;
	}
	entry_tree_replace(root, entry->node.parent, entry, left != NULL ? left : right);
	entry_tree_balance(root, entry->node.parent);
}

struct map_entry *entry_tree_from(struct map_entry *root, uint32_t address)
{
	struct map_entry *found = NULL;

	while (root != NULL) {
		if (address >= root->end) {
			root = root->node.below[ENTRY_RIGHT];
			continue;
		}
		found = root;
		if (address >= root->start)
			break;
		root = root->node.below[ENTRY_LEFT];
	}
	return found;
}
