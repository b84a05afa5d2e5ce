/* SPDX-License-Identifier: MIT */
/*
 * Spaces: see space.h.
 *
 * Owns the zones of spaces, nodes and leaves.  Guarded by the kernel lock.  The hash table from
 * ports to entries is in space_hash.c.
 */
#include "ipc/space.h"

#include "base/lock.h"
#include "base/owner.h"
#include "base/zone.h"
#include "ipc/message.h"
#include "ipc/right.h"
#include "thread/work.h"

/* How many names lie below a slot of each level of nodes, as powers of two; the last one's are
 * leaves. */
#define TOP_SHIFT    29
#define LEVEL_A      21
#define LEVEL_B      13
#define LEVEL_LEAVES 5

_Static_assert(NODE_ENTRIES == 1u << (TOP_SHIFT - LEVEL_A), "a node has a slot for each");
_Static_assert(LEAF_ENTRIES == 1u << LEVEL_LEAVES, "a leaf has an entry for each name");
_Static_assert(NEAR_NAMES == 1u << LEVEL_B, "the near node is one of the last level");

struct entry space_no_entry;

static struct zone space_zone;
static struct zone node_zone;
static struct zone leaf_zone;

void space_module_init(void)
{
	zone_init(&space_zone, "spaces", sizeof(struct space), 4);
	zone_init(&node_zone, "name nodes", sizeof(struct node), 4);
	zone_init(&leaf_zone, "name leaves", sizeof(struct leaf), 4);
	owner_set_price(OWNER_NAMES, sizeof(struct leaf));
}

/* ---------------- What is paid for ---------------- */

/* An element of the zone, which the space's owner pays; NULL when there is none, or he may not. */
static void *space_alloc(struct space *space, struct zone *zone)
{
	void *element;

	if (!owner_charge(space->owner, OWNER_NAMES, 1))
		return NULL;
	element = zone_alloc(zone);
	if (element == NULL)
		owner_uncharge(space->owner, OWNER_NAMES, 1);
	else
		space->charged++;
	return element;
}

static void space_free_part(struct space *space, struct zone *zone, void *element)
{
	space->charged--;
	owner_uncharge(space->owner, OWNER_NAMES, 1);
	zone_free(zone, element);
}

/* Returns a space with one reference, the caller's. */
struct space *space_create(struct owner *owner)
{
	struct space *space = zone_alloc(&space_zone);

	assert(kernel_locked());
	if (space == NULL)
		return NULL;
	*space = (struct space){
		.magic = SPACE_MAGIC,
		.refs = 1,
		.active = true,
		.fresh = 1,
		.owner = owner,
		.asked = &space_no_entry,
	};
	return space;
}

struct space *space_reference(struct space *space)
{
	assert(space->magic == SPACE_MAGIC && space->refs > 0);
	space->refs++;
	return space;
}

/* ---------------- Nodes and leaves ---------------- */

static unsigned space_slot_at(uint32_t name, unsigned shift)
{
	return (name >> shift) % NODE_ENTRIES;
}

static struct node *space_node_create(struct space *space)
{
	struct node *node = space_alloc(space, &node_zone);

	if (node == NULL)
		return NULL;
	for (unsigned i = 0; i < NODE_ENTRIES; i++)
		node->nodes[i] = NULL;
	return node;
}

/* A leaf all of whose entries are free: of a free entry only the type is defined. */
static struct leaf *space_leaf_create(struct space *space)
{
	struct leaf *leaf = space_alloc(space, &leaf_zone);

	if (leaf == NULL)
		return NULL;
	for (unsigned i = 0; i < LEAF_ENTRIES; i++)
		leaf->entries[i].type = 0;
	return leaf;
}

/*
 * The leaf of a name that is not near, or NULL; then *shift says how large a range of names around
 * it, aligned, has no leaf.
 */
static struct leaf *space_far_leaf(const struct space *space, uint32_t name, unsigned *shift)
{
	const struct node *node = space->far[name >> TOP_SHIFT];

	*shift = TOP_SHIFT;
	if (node == NULL)
		return NULL;
	*shift = LEVEL_A;
	node = node->nodes[space_slot_at(name, LEVEL_A)];
	if (node == NULL)
		return NULL;
	*shift = LEVEL_B;
	node = node->nodes[space_slot_at(name, LEVEL_B)];
	if (node == NULL)
		return NULL;
	*shift = LEVEL_LEAVES;
	return node->leaves[space_slot_at(name, LEVEL_LEAVES)];
}

struct entry *space_far_slot(const struct space *space, uint32_t name)
{
	struct leaf *leaf;
	unsigned shift;

	if (name < NEAR_NAMES)
		return NULL; /* Beyond near_end. */
	leaf = space_far_leaf(space, name, &shift);
	return leaf == NULL ? NULL : &leaf->entries[name % LEAF_ENTRIES];
}

/* Fills an empty place for a leaf or a node; false when there is no memory. */
static bool space_make_leaf(struct space *space, struct leaf **place)
{
	if (*place == NULL)
		*place = space_leaf_create(space);
	return *place != NULL;
}

static bool space_make_node(struct space *space, struct node **place)
{
	if (*place == NULL)
		*place = space_node_create(space);
	return *place != NULL;
}

/* Moves near_end beyond `name`, which has its leaf then; NULL when there is no memory. */
static struct entry *space_make_near_slot(struct space *space, uint32_t name)
{
	uint32_t slot = name / LEAF_ENTRIES;

	if (space->near == NULL) {
		space->near = space_alloc(space, &node_zone);
		if (space->near == NULL)
			return NULL;
	}
	for (; space->near_end <= name; space->near_end += LEAF_ENTRIES)
		space->near->leaves[space->near_end / LEAF_ENTRIES] = NULL;
	if (!space_make_leaf(space, &space->near->leaves[slot]))
		return NULL;
	return &space->near->leaves[slot]->entries[name % LEAF_ENTRIES];
}

static struct entry *space_make_far_slot(struct space *space, uint32_t name)
{
	struct node **place = &space->far[name >> TOP_SHIFT];
	struct leaf **leaf;

	for (unsigned shift = LEVEL_A; shift >= LEVEL_B; shift -= LEVEL_A - LEVEL_B) {
		if (!space_make_node(space, place))
			return NULL;
		place = &(*place)->nodes[space_slot_at(name, shift)];
	}
	if (!space_make_node(space, place))
		return NULL;
	leaf = &(*place)->leaves[space_slot_at(name, LEVEL_LEAVES)];
	if (!space_make_leaf(space, leaf))
		return NULL;
	return &(*leaf)->entries[name % LEAF_ENTRIES];
}

/* The entry with this name, in use or not; NULL when there is no memory. */
static struct entry *space_make_slot(struct space *space, uint32_t name)
{
	return name < NEAR_NAMES ? space_make_near_slot(space, name)
				 : space_make_far_slot(space, name);
}

/* Frees a node of the level whose slots cover 1 << shift names each, and all below it. */
static void space_free_node(struct space *space, struct node *node, unsigned shift)
{
	for (unsigned i = 0; i < NODE_ENTRIES; i++) {
		pause_each();
		if (node->nodes[i] == NULL)
			continue;
		if (shift == LEVEL_LEAVES)
			space_free_part(space, &leaf_zone, node->leaves[i]);
		else
			space_free_node(space, node->nodes[i], shift - (LEVEL_A - LEVEL_B));
	}
	space_free_part(space, &node_zone, node);
}

static void space_free_near(struct space *space)
{
	for (uint32_t i = 0; i < space->near_end / LEAF_ENTRIES; i++) {
		pause_each();
		if (space->near->leaves[i] != NULL)
			space_free_part(space, &leaf_zone, space->near->leaves[i]);
	}
	space->near_end = 0;
	if (space->near != NULL)
		space_free_part(space, &node_zone, space->near);
	space->near = NULL;
}

static void space_free_tables(struct space *space)
{
	space_free_near(space);
	for (unsigned i = 0; i < sizeof space->far / sizeof space->far[0]; i++) {
		if (space->far[i] != NULL)
			space_free_node(space, space->far[i], LEVEL_A);
	}
}

/* With its leaves: until now an entry has stayed in its place, of whatever type (known_name). */
void space_free(struct space *space)
{
	assert(!space->active && space->n_entries == 0);
	if (space->charged > 0)
		space_free_tables(space);
	assert(space->charged == 0);
	space->magic = 0;
	zone_free(&space_zone, space);
}

/* ---------------- Names ---------------- */

static void space_unlink_free(struct space *space, struct entry *entry)
{
	if (entry->next_free != NULL)
		entry->next_free->previous_free = entry->previous_free;
	if (entry->previous_free != NULL)
		entry->previous_free->next_free = entry->next_free;
	else
		space->first_free = entry->next_free;
}

static void space_use_entry(struct space *space, struct entry *entry, uint32_t name)
{
	entry->name = name;
	entry->refs = 1;
	entry->request = NULL;
	entry->accepting = NULL;
	entry->space = space;
	space->n_entries++;
}

/* Names from `fresh` on that a user has chosen are passed over. */
kern_return_t space_take_fresh_name(struct space *space, struct entry **entry)
{
	for (;;) {
		struct entry *slot;
		uint32_t name = space->fresh;

		if (name == MACH_PORT_DEAD)
			return KERN_NO_SPACE;
		slot = space_make_slot(space, name);
		if (slot == NULL)
			return KERN_RESOURCE_SHORTAGE;
		space->fresh++;
		if (slot->type == 0) {
			space_use_entry(space, slot, name);
			*entry = slot;
			return KERN_SUCCESS;
		}
		pause_each();
	}
}

kern_return_t space_take_chosen_name(struct space *space, uint32_t name, struct entry **entry)
{
	struct entry *slot;

	assert(space->active);
	if (!MACH_PORT_VALID(name))
		return KERN_INVALID_VALUE;
	slot = space_make_slot(space, name);
	if (slot == NULL)
		return KERN_RESOURCE_SHORTAGE;
	if (slot->type != 0)
		return KERN_NAME_EXISTS;
	if (name < space->fresh)
		space_unlink_free(space, slot);
	space_use_entry(space, slot, name);
	*entry = slot;
	return KERN_SUCCESS;
}

/* A sender who waits to be told that a message was accepted will be told so without a name. */
void space_forget_accepting(struct entry *entry)
{
	entry->accepting->accepted_name = MACH_PORT_NULL;
	entry->accepting->accepted_entry = NULL;
}

/*
 * Releases the rights of the entry to its port, which is dead, so that no notification comes of it.
 * The port itself may be freed by it.
 */
void space_entry_died(struct entry *entry)
{
	struct port *port = entry->port;

	assert(space_entry_is_stale(entry));
	assert((entry->type & MACH_PORT_TYPE_RECEIVE) == 0);
	assert(entry->request == NULL);
	if (entry->type == MACH_PORT_TYPE_SEND) {
		space_unhash(entry);
		entry->type = MACH_PORT_TYPE_DEAD_NAME;
		entry->port = PORT_NULL;
		port_release_send(port);
	} else {
		entry->type = MACH_PORT_TYPE_DEAD_NAME;
		entry->port = PORT_NULL;
		port_release_send_once(port);
	}
}

/* ---------------- All names in turn ---------------- */

/* The first entry in use of the leaf whose place in it is at least `first`, or NULL. */
static struct entry *space_next_in_leaf(struct leaf *leaf, unsigned first)
{
	for (unsigned i = first; i < LEAF_ENTRIES; i++) {
		struct entry *entry = &leaf->entries[i];

		if (entry->type == 0)
			continue;
		if (space_entry_is_stale(entry))
			space_entry_died(entry);
		return entry;
	}
	return NULL;
}

static struct entry *space_next_near(struct space *space, uint32_t name)
{
	while (name < space->near_end) {
		struct leaf *leaf = space->near->leaves[name / LEAF_ENTRIES];
		struct entry *entry = NULL;

		if (leaf != NULL)
			entry = space_next_in_leaf(leaf, name % LEAF_ENTRIES);
		if (entry != NULL)
			return entry;
		name = (name | (LEAF_ENTRIES - 1)) + 1;
		pause_each_page();
	}
	return NULL;
}

/* The loop ends when the name wraps around to 0. */
static struct entry *space_next_far(struct space *space, uint32_t name)
{
	do {
		unsigned shift;
		struct leaf *leaf = space_far_leaf(space, name, &shift);
		struct entry *entry = NULL;

		if (leaf != NULL)
			entry = space_next_in_leaf(leaf, name % LEAF_ENTRIES);
		if (entry != NULL)
			return entry;
		name = (name | ((1u << shift) - 1)) + 1;
		pause_each();
	} while (name != 0);
	return NULL;
}

struct entry *space_next(struct space *space, uint32_t name)
{
	if (name < NEAR_NAMES) {
		struct entry *entry = space_next_near(space, name);

		if (entry != NULL)
			return entry;
		name = NEAR_NAMES;
	}
	return space_next_far(space, name);
}

/*
 * Nothing is given to a space that is not active, so that the names grow fewer only.  As
 * MACH_PORT_DEAD is no name, there is always a next one.
 */
void space_terminate(struct space *space)
{
	struct entry *entry;

	assert(kernel_locked());
	assert(space->magic == SPACE_MAGIC);
	if (!space->active)
		return;
	space->active = false;
	for (entry = space_next(space, 0); entry != NULL;) {
		uint32_t name = entry->name;

		right_destroy(entry);
		pause_each();
		entry = space_next(space, name + 1);
	}
	assert(space->n_entries == 0);
	space->first_free = NULL;
	space->asked = &space_no_entry;
}
