/* SPDX-License-Identifier: MIT */
/*
 * Memory objects: for each a tree that finds the place of a page.
 *
 * A node has 32 slots: places in the lowest nodes, nodes in the others.  The tree is as high as the
 * highest page with contents needs, and has nodes only on the way to pages with contents, so a page
 * at the end of 4 GiB costs four nodes.
 */
#include "pager.h"

#define SLOT_BITS 5
#define SLOTS     (1u << SLOT_BITS)

#define OBJECT_MAGIC  0x4d4f424au
#define NODES_READY   32 /* More than any one page needs. */
#define OBJECTS_READY 8

/* Where a place is, or a node as a number: what it is follows from the height. */
struct node {
	uint32_t slots[SLOTS];
};

struct object {
	uint32_t magic;
	uint32_t height; /* Of the tree: 0, there is no root. */
	struct node *root;
	mach_port_t port;    /* The receive right, */
	mach_port_t control; /* and send rights. */
	mach_port_t name;
};

static struct pool object_pool = POOL(struct object, OBJECTS_READY);
static struct pool node_pool = POOL(struct node, NODES_READY);

void objects_refill(void)
{
	pool_refill(&object_pool);
	pool_refill(&node_pool);
}

/* ---------------- Objects ---------------- */

struct object *object_new(mach_port_t port, mach_port_t control, mach_port_t name)
{
	struct object *object = pool_alloc(&object_pool);

	object->magic = OBJECT_MAGIC;
	object->port = port;
	object->control = control;
	object->name = name;
	return object;
}

/* Only this program sets payloads, and a port's ends with its object. */
struct object *object_of(mach_port_t payload)
{
	struct object *object = (struct object *)payload;

	return object->magic == OBJECT_MAGIC ? object : NULL;
}

static void objects_drop_tree(struct node *node, uint32_t height)
{
	for (uint32_t n = 0; n < SLOTS; n++) {
		if (node->slots[n] == 0)
			continue;
		if (height == 1)
			contents_drop(&node->slots[n]);
		else
			objects_drop_tree((struct node *)node->slots[n], height - 1);
	}
	pool_free(&node_pool, node);
}

/* A name with all the rights under it.  One that is gone already is no error. */
static void objects_destroy_name(mach_port_t name)
{
	if (MACH_PORT_VALID(name))
		mach_port_destroy(mach_task_self_cached(), name);
}

void object_end(struct object *object)
{
	objects_destroy_name(object->port);
	objects_destroy_name(object->control);
	objects_destroy_name(object->name);
	if (object->root != NULL)
		objects_drop_tree(object->root, object->height);
	object->magic = 0;
	pool_free(&object_pool, object);
}

/* ---------------- Pages ---------------- */

/* Whether a tree of this height has a slot for the index. */
static bool objects_reaches(uint32_t height, uint32_t index)
{
	return height > 0 && (index >> (height - 1) * SLOT_BITS) < SLOTS;
}

/* Puts nodes on top. */
static void objects_grow(struct object *object, uint32_t index)
{
	while (!objects_reaches(object->height, index)) {
		struct node *root = pool_alloc(&node_pool);

		root->slots[0] = (uint32_t)object->root;
		object->root = root;
		object->height++;
	}
}

place_t *object_place(struct object *object, uint32_t index, bool needed)
{
	struct node *node;

	if (needed)
		objects_grow(object, index);
	else if (!objects_reaches(object->height, index))
		return NULL;
	node = object->root;
	for (uint32_t height = object->height - 1; height > 0; height--) {
		uint32_t *slot = &node->slots[(index >> height * SLOT_BITS) % SLOTS];

		if (*slot == 0 && needed)
			*slot = (uint32_t)pool_alloc(&node_pool);
		if (*slot == 0)
			return NULL;
		node = (struct node *)*slot;
	}
	return &node->slots[index % SLOTS];
}
