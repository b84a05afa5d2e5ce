/* SPDX-License-Identifier: MIT */
/*
 * Spaces: a task's names for its rights.
 *
 * A name is any 32-bit number but 0 and ~0.  Entries lie in leaves of LEAF_ENTRIES.  The leaves of
 * the names below NEAR_NAMES, which the kernel chooses as long as it can, hang on one node and are
 * found with two loads; the leaves of all others hang on a tree of nodes that grows where names are
 * used.  The kernel chooses the name freed last, else the lowest that was never used.  Leaves and
 * nodes stay until the space ends.  From (space, port) to the entry with its send or receive right
 * there is a hash table over all spaces; send-once rights and port sets are not in it.
 *
 *   invariants   at most one entry of a space has send or receive rights to a port
 *                each send-once right and each dead name has an entry of its own
 *                an entry is free (type 0) or holds exactly one kind of thing: rights to a port,
 *                a port set, or a dead name
 *
 * A port may die while entries name it.  They become dead names when they are next looked up
 * (space_find does it), so nobody sees them otherwise.  Guarded by the kernel lock.
 */
#ifndef IPC_SPACE_H
#define IPC_SPACE_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/port.h>

#include "base/assert.h"
#include "ipc/port.h"

struct message;
struct port_set;
struct request;

#define LEAF_ENTRIES 32u
#define NODE_ENTRIES 256u
#define NEAR_NAMES   (LEAF_ENTRIES * NODE_ENTRIES)

/* Of a send right.  A dead name may have one more, which came with its notification. */
#define USER_REFERENCES_MAX 65534u

struct entry {
	uint32_t type; /* MACH_PORT_TYPE_* bits, without the request bits; 0: free. */
	uint32_t name; /* This and `space` stay when it is freed. */
	union {
		struct port *port; /* Holds a reference. */
		struct port_set *set;
		struct entry *next_free; /* While on the list of free names. */
	};
	uint32_t refs; /* User references: of the send right or the dead name; 1 for the rest. */
	union {
		struct request *request; /* A dead-name request on this name, or NULL. */
		struct entry *previous_free;
	};
	struct message
		*accepting; /* Sent by this name with MACH_SEND_NOTIFY and not yet accepted. */
	struct space *space;
	struct entry *next_hashed;
};

/* Stands for the entry of a name that has none. */
extern struct entry space_no_entry;

#define SPACE_MAGIC 0x53504143u

struct leaf {
	struct entry entries[LEAF_ENTRIES];
};

struct node {
	union {
		struct node *nodes[NODE_ENTRIES];
		struct leaf *leaves[NODE_ENTRIES];
	};
};

struct space {
	uint32_t magic;
	uint32_t refs;
	bool active;         /* False when its task has ended: it has no names any more. */
	struct node *near;   /* The leaves of the names below near_end; NULL while that is 0. */
	uint32_t near_end;   /* At most NEAR_NAMES; beyond it nothing of `near` is set up. */
	struct node *far[8]; /* All other names, by the top three bits. */
	struct entry *first_free; /* The list of names below `fresh` that are free. */
	uint32_t fresh;           /* No name from here on was ever chosen by the kernel. */
	uint32_t n_entries;       /* In use. */
	struct owner *owner;      /* Who pays for its leaves and nodes, and for ports made here: */
	uint32_t charged;         /* so many leaves and nodes. */
	uint32_t task;            /* The number of the task whose it is. */
	struct entry *asked;      /* What the task asked the kernel for last (task/self_traps.c), or
				space_no_entry. */
};

void space_module_init(void);

/* An empty space with one reference; NULL when there is no memory. */
struct space *space_create(struct owner *owner);
struct space *space_reference(struct space *space);

/* For space_release(): nothing points to the space any more, which has been terminated. */
void space_free(struct space *space);

/* Takes one reference, if `space` is not NULL. */
static inline void space_release(struct space *space)
{
	if (space == NULL)
		return;
	assert(space->magic == SPACE_MAGIC && space->refs > 0);
	if (--space->refs == 0)
		space_free(space);
}

/* Destroys all rights of a space, which is inactive from then on; does nothing to one that is
 * already.  Takes no reference. */
void space_terminate(struct space *space);

/* The entry with this name that is not near, in use or not; NULL if there is no leaf for it. */
struct entry *space_far_slot(const struct space *space, uint32_t name);

/* The entry's port has died: it becomes a dead name with the same user references.  What it held is
 * released.  A dead-name request must have been honoured before. */
void space_entry_died(struct entry *entry);

/* Whether the entry has rights to a port that is dead, which no caller may see. */
static inline bool space_entry_is_stale(const struct entry *entry)
{
	return (entry->type & MACH_PORT_TYPE_PORT_RIGHTS) != 0 && !port_is_alive(entry->port);
}

/* The entry of a name that the kernel has chosen, in use or not; NULL for other names. */
static inline struct entry *space_near_slot(const struct space *space, uint32_t name)
{
	struct leaf *leaf;

	if (__builtin_expect(name >= space->near_end, 0))
		return NULL;
	leaf = space->near->leaves[name / LEAF_ENTRIES];
	return leaf == NULL ? NULL : &leaf->entries[name % LEAF_ENTRIES];
}

/* The entry in use with this name, or NULL.  One whose port has died is a dead name now. */
static inline struct entry *space_find(struct space *space, uint32_t name)
{
	struct entry *entry;

	if (__builtin_expect(name < space->near_end, 1)) {
		struct leaf *leaf = space->near->leaves[name / LEAF_ENTRIES];

		if (leaf == NULL)
			return NULL;
		entry = &leaf->entries[name % LEAF_ENTRIES];
	} else {
		entry = space_far_slot(space, name);
		if (entry == NULL)
			return NULL;
	}
	if (entry->type == 0)
		return NULL;
	if (__builtin_expect(space_entry_is_stale(entry), 0))
		space_entry_died(entry);
	return entry;
}

/* The entry with send or receive rights to `port`, which is alive; NULL if there is none. */
struct entry *space_find_port(const struct space *space, const struct port *port);

/* For space_take_name(): none is free that was in use before. */
kern_return_t space_take_fresh_name(struct space *space, struct entry **entry);

/* The first entry on the list of free names, `slot`, is in use: as space_take_name(). */
static inline void space_use_free(struct space *space, struct entry *slot)
{
	assert(slot == space->first_free && slot->type == 0);
	space->first_free = slot->next_free;
	if (slot->next_free != NULL)
		slot->next_free->previous_free = NULL;
	slot->refs = 1;
	slot->request = NULL;
	slot->accepting = NULL;
	space->n_entries++;
}

/*
 * A new entry, for the caller to fill at once: type, port or set, and space_hash() if it has send
 * or receive rights.  `refs` is 1, `request` and `accepting` NULL.  KERN_RESOURCE_SHORTAGE,
 * KERN_NO_SPACE; for a chosen name also KERN_NAME_EXISTS, and KERN_INVALID_VALUE for 0 and ~0.
 */
static inline kern_return_t space_take_name(struct space *space, struct entry **entry)
{
	struct entry *slot = space->first_free;

	assert(space->active);
	if (slot == NULL)
		return space_take_fresh_name(space, entry);
	space_use_free(space, slot);
	*entry = slot;
	return KERN_SUCCESS;
}

kern_return_t space_take_chosen_name(struct space *space, uint32_t name, struct entry **entry);

/* Puts an entry below `fresh` on the list of free names; part of freeing it. */
static inline void space_push_free(struct space *space, struct entry *entry)
{
	entry->previous_free = NULL;
	entry->next_free = space->first_free;
	if (space->first_free != NULL)
		space->first_free->previous_free = entry;
	space->first_free = entry;
}

/* For space_free_entry(): the message sent by the entry's name has none any more. */
void space_forget_accepting(struct entry *entry);

/*
 * Frees the name.  The caller has disposed of what the entry held and taken it out of the hash.  A
 * name from `fresh` on is not put on the list: the kernel will come to it.
 */
static inline void space_free_entry(struct entry *entry)
{
	struct space *space = entry->space;

	assert(entry->request == NULL);
	assert(space->n_entries > 0);
	if (entry->accepting != NULL)
		space_forget_accepting(entry);
	space->n_entries--;
	entry->type = 0;
	if (entry->name < space->fresh)
		space_push_free(space, entry);
}

/* As space_free_entry(), for an entry of `space` about which nothing was requested. */
static inline void space_free_plain(struct space *space, struct entry *entry)
{
	assert(entry->request == NULL && entry->accepting == NULL);
	space->n_entries--;
	entry->type = 0;
	if (entry->name < space->fresh)
		space_push_free(space, entry);
}

/* Into and out of the hash table of send and receive rights. */
void space_hash(struct entry *entry);
void space_unhash(struct entry *entry);

/* The first entry in use whose name is at least `name`, in rising order; NULL if there is none.
 * Callers that go through all entries call kernel_pause() as they go. */
struct entry *space_next(struct space *space, uint32_t name);

#endif
