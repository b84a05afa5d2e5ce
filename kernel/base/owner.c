/* SPDX-License-Identifier: MIT */
/*
 * Owners: see owner.h.
 *
 * Owns the zone and the list of owners.  Guarded by the kernel lock.
 */
#include "base/owner.h"

#include "base/assert.h"
#include "base/zone.h"
#include "vm/page/page.h"

/*
 * Which part of memory all others together may fill with one kind, in 64ths, which share of that
 * one owner may have, in eighths, and how many all others may have however much memory there is.
 */
#define WHOLE_PART  64u
#define WHOLE_SHARE 8u

static const struct {
	uint32_t part;
	uint32_t share;
	uint32_t most; /* 0: that is up to memory alone. */
} parts[OWNER_KINDS] = {
	[OWNER_PORTS] = {4, 4, 0},   [OWNER_NAMES] = {4, 4, 0},
	[OWNER_TASKS] = {1, 4, 0},   [OWNER_THREADS] = {8, 4, 0},
	[OWNER_QUEUED] = {8, 4, 0},  [OWNER_PAGES] = {48, 7, 0},
	[OWNER_ENTRIES] = {8, 4, 0}, [OWNER_TABLES] = {8, 4, 0},
	[OWNER_WIRED] = {16, 4, 0},  [OWNER_STREAMS] = {16, 7, OWNER_STREAMS_MOST},
};

struct owner owner_system;

static struct owner others;
static struct list owners = LIST_INITIALIZER(owners);
static struct zone owner_zone;
static uint32_t prices[OWNER_KINDS];

/* One owner's share of what all others may have together. */
static uint32_t owner_share(enum owner_kind kind)
{
	uint32_t limit = others.uses[kind].limit;

	return limit == OWNER_NO_LIMIT ? limit : limit / WHOLE_SHARE * parts[kind].share;
}

/* Enters an owner: without limits, or with its share of what all others may have together. */
static void owner_init(struct owner *owner, uint32_t id, struct owner *all)
{
	*owner = (struct owner){.magic = OWNER_MAGIC, .id = id, .all = all};
	for (unsigned kind = 0; kind < OWNER_KINDS; kind++)
		owner->uses[kind].limit = all == NULL ? OWNER_NO_LIMIT : owner_share(kind);
	share_init(&owner->share);
	list_add_last(&owners, &owner->link);
}

void owner_module_init(void)
{
	zone_init(&owner_zone, "owners", sizeof(struct owner), 4);
	owner_init(&owner_system, OWNER_SYSTEM, NULL);
	owner_init(&others, OWNER_OTHERS, NULL);
}

void owner_set_price(enum owner_kind kind, uint32_t bytes)
{
	assert(prices[kind] == 0 && bytes != 0);
	prices[kind] = bytes;
}

void owner_limits_set(uint32_t pages)
{
	for (unsigned kind = 0; kind < OWNER_KINDS; kind++) {
		uint32_t most = parts[kind].most;
		uint32_t limit;

		assert(prices[kind] != 0);
		limit = pages / WHOLE_PART * parts[kind].part * PAGE_SIZE / prices[kind];
		others.uses[kind].limit = most != 0 && most < limit ? most : limit;
	}
}

/* ---------------- Which there are ---------------- */

struct owner *owner_next(uint32_t id)
{
	struct owner *next = NULL;

	list_for_each_object (struct owner, owner, &owners, link) {
		if (owner->id >= id && (next == NULL || owner->id < next->id))
			next = owner;
	}
	return next;
}

struct owner *owner_find(uint32_t id)
{
	struct owner *owner = owner_next(id);

	return owner->id == id ? owner : NULL;
}

bool owner_users_have_tasks(void)
{
	return others.uses[OWNER_TASKS].used > 0;
}

static struct owner *owner_new(uint32_t id)
{
	struct owner *owner = zone_alloc(&owner_zone);

	if (owner != NULL)
		owner_init(owner, id, &others);
	return owner;
}

struct owner *owner_obtain(uint32_t id)
{
	struct owner *owner = owner_find(id);

	return owner != NULL ? owner : owner_new(id);
}

void owner_perhaps_gone(struct owner *owner)
{
	assert(owner->magic == OWNER_MAGIC);
	if (owner->all == NULL || owner->holders != 0)
		return;
	for (unsigned kind = 0; kind < OWNER_KINDS; kind++)
		if (owner->uses[kind].used != 0)
			return;
	share_end(&owner->share);
	list_remove(&owner->link);
	owner->magic = 0;
	zone_free(&owner_zone, owner);
}

/* ---------------- What they use ---------------- */

void owner_set_limit(struct owner *owner, enum owner_kind kind, uint32_t limit)
{
	assert(owner->magic == OWNER_MAGIC && owner != &owner_system);
	owner->uses[kind].limit = limit;
}

static inline bool owner_has_room(const struct owner_use *use, uint32_t n)
{
	return use->limit > use->used && use->limit - use->used >= n;
}

void owner_burden(struct owner *owner, enum owner_kind kind, uint32_t n)
{
	assert(owner->magic == OWNER_MAGIC);
	if (owner->all != NULL)
		owner_add(&owner->all->uses[kind], n);
	owner_add(&owner->uses[kind], n);
}

void owner_note_lost(struct owner *owner)
{
	assert(owner->magic == OWNER_MAGIC);
	owner->lost++;
	if (owner->all != NULL)
		owner->all->lost++;
}

bool owner_may_have(const struct owner *owner, enum owner_kind kind, uint32_t n)
{
	assert(owner->magic == OWNER_MAGIC);
	return owner->all == NULL || (owner_has_room(&owner->all->uses[kind], n) &&
				      owner_has_room(&owner->uses[kind], n));
}

bool owner_charge_limited(struct owner *owner, enum owner_kind kind, uint32_t n)
{
	struct owner_use *own = &owner->uses[kind], *all = &owner->all->uses[kind];

	assert(owner->magic == OWNER_MAGIC);
	if (!owner_has_room(all, n) || !owner_has_room(own, n))
		return false;
	owner_add(all, n);
	owner_add(own, n);
	return true;
}
