/* SPDX-License-Identifier: MIT */
/*
 * From a space and a port to the entry with send or receive rights: see space.h.
 *
 * Owns the hash table, one for all spaces.  Guarded by the kernel lock.
 */
#include "ipc/space.h"

#include "base/assert.h"

#define HASH_BUCKETS 16384u
#define HASH_SHIFT   18 /* 32 less the bits of HASH_BUCKETS - 1. */

static struct entry *buckets[HASH_BUCKETS];

/* Both addresses are spread over all bits by odd numbers, of which the upper ones count. */
static struct entry **space_hash_bucket_of(const struct space *space, const struct port *port)
{
	uint32_t sum =
		(uint32_t)(uintptr_t)port * 0x9e3779b1u + (uint32_t)(uintptr_t)space * 0x85ebca6bu;

	return &buckets[sum >> HASH_SHIFT];
}

struct entry *space_find_port(const struct space *space, const struct port *port)
{
	struct entry *entry = *space_hash_bucket_of(space, port);

	while (entry != NULL && (entry->port != port || entry->space != space))
		entry = entry->next_hashed;
	return entry;
}

void space_hash(struct entry *entry)
{
	struct entry **bucket = space_hash_bucket_of(entry->space, entry->port);

	assert((entry->type & MACH_PORT_TYPE_SEND_RECEIVE) != 0);
	entry->next_hashed = *bucket;
	*bucket = entry;
}

void space_unhash(struct entry *entry)
{
	struct entry **place = space_hash_bucket_of(entry->space, entry->port);

	while (*place != entry) {
		assert(*place != NULL);
		place = &(*place)->next_hashed;
	}
	*place = entry->next_hashed;
}
