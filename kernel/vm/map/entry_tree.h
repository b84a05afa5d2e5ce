/* SPDX-License-Identifier: MIT */
/*
 * The entries of a map as a balanced tree, by address (an AVL tree: the two sides of a node differ
 * by one level at most).
 *
 * The tree is beside the map's list of entries, which knows who comes before and after whom: so an
 * entry is put into the tree without a search, and the tree is only for finding.  Guarded by the
 * kernel lock.
 */
#ifndef VM_MAP_ENTRY_TREE_H
#define VM_MAP_ENTRY_TREE_H

#include <stdint.h>

struct map_entry;

/*
 * Puts `entry` between its neighbours in the tree, `before` and `after`, of which there is none
 * (NULL) at either end.
 */
void entry_tree_insert(struct map_entry **root, struct map_entry *entry, struct map_entry *before,
		       struct map_entry *after);

void entry_tree_remove(struct map_entry **root, struct map_entry *entry);

/* The first entry that ends above `address`, or NULL. */
struct map_entry *entry_tree_from(struct map_entry *root, uint32_t address);

#endif
