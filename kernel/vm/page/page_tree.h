/* SPDX-License-Identifier: MIT */
/*
 * What an object knows of each of its pages, by index: a radix tree of slots.
 *
 * A slot holds a page or a mark, a small number in a pointer's place; a tree without nodes is all
 * SLOT_EMPTY.  Looking up costs a few loads for each five bits of the highest index in use.  The
 * tree knows nothing of what the slots mean.  Guarded by the kernel lock.
 */
#ifndef VM_PAGE_PAGE_TREE_H
#define VM_PAGE_PAGE_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct page;

/* Slots that a node on the last level has. */
#define PAGE_TREE_LEAF 32u

struct page_tree {
	void *root;          /* The one slot itself when `height` is 0: the slot of index 0. */
	uint32_t height;     /* Levels of nodes. */
	struct page **leaf;  /* The slots where one was changed last: others near it are next. */
	uint32_t leaf_first; /* The index of the first of them.  NULL: it is not known. */
};

/* Where the slot is, if it is near the one that was changed last; or NULL. */
static inline struct page **page_tree_near(const struct page_tree *tree, uint32_t index)
{
	if (tree->leaf == NULL || index - tree->leaf_first >= PAGE_TREE_LEAF)
		return NULL;
	return &tree->leaf[index - tree->leaf_first];
}

/*
 * page_tree_get(), page_tree_set() and page_tree_next() for trees that have nodes.  They are not
 * inlined: if they are, each fault takes nine instructions more (tools/bench zero-fill).
 */
__attribute__((noinline)) struct page *page_tree_find(const struct page_tree *tree, uint32_t index);
__attribute__((noinline)) bool page_tree_change(struct page_tree *tree, uint32_t index,
						struct page *slot);
__attribute__((noinline)) struct page *page_tree_find_next(const struct page_tree *tree,
							   uint32_t *index, uint32_t end);

/* The slot at `index`, whatever index. */
static inline struct page *page_tree_get(const struct page_tree *tree, uint32_t index)
{
	struct page **place;

	if (tree->height == 0)
		return index == 0 ? tree->root : NULL;
	place = page_tree_near(tree, index);
	return place != NULL ? *place : page_tree_find(tree, index);
}

/*
 * Changes a slot.  False when that takes a node for which there is no memory: never when the slot
 * is not empty now, nor when it is to be emptied.  Nodes without slots in use are freed.
 */
static inline bool page_tree_set(struct page_tree *tree, uint32_t index, struct page *slot)
{
	if (tree->height == 0 && index == 0) {
		tree->root = slot;
		return true;
	}
	return page_tree_change(tree, index, slot);
}

/* The first slot in use from `*index` on and below `end`, and its index; SLOT_EMPTY if none is. */
static inline struct page *page_tree_next(const struct page_tree *tree, uint32_t *index,
					  uint32_t end)
{
	if (tree->height == 0)
		return *index == 0 && end > 0 ? tree->root : NULL;
	return page_tree_find_next(tree, index, end);
}

static inline bool page_tree_is_empty(const struct page_tree *tree)
{
	return tree->root == NULL;
}

void page_tree_module_init(void);

#endif
