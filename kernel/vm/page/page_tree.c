/* SPDX-License-Identifier: MIT */
/*
 * Trees of slots (vm/page/page_tree.h).
 *
 * A tree of height h covers 32^h indices: below its root are h levels of nodes, and what the last
 * ones point at are the slots.  Nodes exist only where slots are in use, and a root only if slots
 * beyond its first child's are, so that an object of one page needs no node.  Guarded by the kernel
 * lock.
 */
#include "vm/page/page_tree.h"

#include "base/string.h"
#include "base/zone.h"

#define BITS       5u
#define FANOUT     (1u << BITS)
#define MAX_HEIGHT 7u /* Enough for any index. */

struct node {
	void *slots[FANOUT]; /* First.  Nodes, or on the last level what the tree is for. */
	uint32_t used;       /* Slots that are not empty: never 0 between two calls. */
};

_Static_assert(PAGE_TREE_LEAF == FANOUT, "a leaf is a node");

static struct zone node_zone;

void page_tree_module_init(void)
{
	zone_init(&node_zone, "tree nodes", sizeof(struct node), sizeof(void *));
}

/* Whether a tree of this height has a slot for `index`. */
static inline bool tree_covers(uint32_t height, uint32_t index)
{
	return height >= MAX_HEIGHT || index >> (height * BITS) == 0;
}

/* The slot for `index` in a node that has `below` levels of nodes below it. */
static inline void **tree_slot_of(struct node *node, uint32_t index, uint32_t below)
{
	return &node->slots[index >> (below * BITS) & (FANOUT - 1)];
}

struct page *page_tree_find(const struct page_tree *tree, uint32_t index)
{
	uint32_t shift = tree->height * BITS;
	const struct node *node = tree->root;

	if (!tree_covers(tree->height, index))
		return NULL;
	do {
		shift -= BITS;
		node = node->slots[index >> shift & (FANOUT - 1)];
	} while (shift > 0 && node != NULL);
	return (struct page *)node;
}

/* ---------------- Changing ---------------- */

/* Takes away roots that have only their first child. */
static void page_tree_shrink(struct page_tree *tree)
{
	tree->leaf = NULL;
	while (tree->height > 0) {
		struct node *root = tree->root;

		if (root != NULL) {
			if (root->used > 1 || root->slots[0] == NULL)
				return;
			tree->root = root->slots[0];
			zone_free(&node_zone, root);
		}
		tree->height--;
	}
}

/* Frees the nodes on the way to `index` that have no slots in use, from the last one on upwards. */
static void page_tree_prune(struct page_tree *tree, uint32_t index)
{
	struct node *path[MAX_HEIGHT];
	uint32_t height = tree->height;
	uint32_t n = 0;
	void *slot = tree->root;

	tree->leaf = NULL;
	while (height > 0 && slot != NULL) {
		path[n++] = slot;
		slot = *tree_slot_of(slot, index, --height);
	}
	for (; n > 0 && path[n - 1]->used == 0; n--, height++) {
		zone_free(&node_zone, path[n - 1]);
		if (n == 1) {
			tree->root = NULL;
			break;
		}
		*tree_slot_of(path[n - 2], index, height + 1) = NULL;
		path[n - 2]->used--;
	}
	page_tree_shrink(tree);
}

/*
 * A node without slots in use, or NULL.  Faults on a test's own memory come here, so that it is not
 * for tests to let it fail.
 */
static struct node *tree_make_node(void)
{
	struct node *node = (zone_alloc)(&node_zone);

	if (node != NULL)
		memset(node, 0, sizeof(*node));
	return node;
}

/* Makes the tree high enough for `index`; false when there is no memory for that. */
static bool page_tree_grow(struct page_tree *tree, uint32_t index)
{
	while (!tree_covers(tree->height, index)) {
		if (tree->root != NULL) {
			struct node *root = tree_make_node();

			if (root == NULL)
				return false;
			root->slots[0] = tree->root;
			root->used = 1;
			tree->root = root;
		}
		tree->height++;
	}
	return true;
}

/* Fills a slot that needs new nodes; on failure there may be nodes that are not in use. */
static bool tree_fill(struct page_tree *tree, uint32_t index, struct page *slot)
{
	void **place = &tree->root;
	struct node *node = NULL;

	if (!page_tree_grow(tree, index))
		return false;
	for (uint32_t height = tree->height; height > 0;) {
		if (*place == NULL) {
			*place = tree_make_node();
			if (*place == NULL)
				return false;
			if (node != NULL)
				node->used++;
		}
		node = *place;
		place = tree_slot_of(node, index, --height);
	}
	*place = slot;
	node->used++;
	return true;
}

/* The node, which has slots of the tree's, is the one for `index`: others near it are next. */
static inline void page_tree_remember(struct page_tree *tree, uint32_t index, struct node *node)
{
	tree->leaf = (struct page **)node->slots;
	tree->leaf_first = index & ~(FANOUT - 1);
}

static inline struct node *page_tree_leaf_of(const struct page_tree *tree)
{
	return (struct node *)tree->leaf;
}

/* Where the slot for `index` is, and in which node if in any; NULL if it would need a new node. */
static inline void **tree_place_of(struct page_tree *tree, uint32_t index, struct node **node)
{
	uint32_t shift = tree->height * BITS;
	void **place = &tree->root;

	*node = NULL;
	if (!tree_covers(tree->height, index))
		return NULL;
	while (shift > 0) {
		*node = *place;
		if (*node == NULL)
			return NULL;
		shift -= BITS;
		place = &(*node)->slots[index >> shift & (FANOUT - 1)];
	}
	if (*node != NULL)
		page_tree_remember(tree, index, *node);
	return place;
}

/* Empties the slot at `place`. */
static inline void page_tree_empty(struct page_tree *tree, uint32_t index, void **place,
				   struct node *node)
{
	*place = NULL;
	if (node == NULL)
		return;
	node->used--;
	if (node->used == 0)
		page_tree_prune(tree, index);
	else if (node->used == 1 && node == tree->root)
		page_tree_shrink(tree);
}

bool page_tree_change(struct page_tree *tree, uint32_t index, struct page *slot)
{
	struct node *node = page_tree_leaf_of(tree);
	void **place = (void **)page_tree_near(tree, index);

	if (place == NULL)
		place = tree_place_of(tree, index, &node);
	if (slot == NULL) {
		if (place != NULL && *place != NULL)
			page_tree_empty(tree, index, place, node);
		return true;
	}
	if (place != NULL) {
		if (*place == NULL && node != NULL)
			node->used++;
		*place = slot;
		return true;
	}
	if (tree_fill(tree, index, slot))
		return true;
	page_tree_prune(tree, index);
	return false;
}

/* ---------------- Going through ---------------- */

/*
 * A subtree that is empty is passed over in one step, so that what comes next is found in no more
 * steps than there are slots in a node for each level, twice.
 */
struct page *page_tree_find_next(const struct page_tree *tree, uint32_t *index, uint32_t end)
{
	struct page **near = page_tree_near(tree, *index);
	uint32_t at = *index;

	if (near != NULL && *near != NULL && at < end)
		return *near;
	while (at < end && tree_covers(tree->height, at)) {
		uint32_t height = tree->height;
		void *slot = tree->root;
		struct node *node = NULL;

		while (height > 0 && slot != NULL) {
			node = slot;
			slot = *tree_slot_of(node, at, --height);
		}
		if (slot != NULL && height == 0) {
			*index = at;
			return slot;
		}
		if (node == NULL)
			break;
		do {
			at = ((at >> (height * BITS)) + 1) << (height * BITS);
		} while ((at >> (height * BITS) & (FANOUT - 1)) != 0 &&
			 *tree_slot_of(node, at, height) == NULL);
		if (at == 0) /* Past the last index of all. */
			break;
	}
	return NULL;
}
