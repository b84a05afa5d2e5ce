/* SPDX-License-Identifier: MIT */
/*
 * The table of arcs: see arcs.h.
 *
 * Lock-free: an arc is taken out of a chunk, filled in, and only then hung into its bucket by one
 * compare-and-exchange.  Nothing is called here that might have been compiled to count calls.
 */
#include "arcs.h"

#include <stdbool.h>
#include <stddef.h>

#include "pages.h"

#define CHUNK_ARCS ((PROF_PAGE - sizeof(uint32_t)) / sizeof(struct arc))

struct chunk {
	uint32_t used; /* May be more than there are: then another chunk is due. */
	struct arc arcs[CHUNK_ARCS];
};

struct arc *__mcount_buckets[ARC_BUCKETS];
uint32_t __mcount_is_on;

static struct chunk first; /* There before memory can be had. */
static struct chunk *newest = &first;
static uint32_t lost;

_Static_assert(offsetof(struct arc, from) == ARC_FROM && offsetof(struct arc, self) == ARC_SELF &&
		       offsetof(struct arc, low) == ARC_LOW &&
		       offsetof(struct arc, high) == ARC_HIGH,
	       "mcount.S");
_Static_assert(sizeof(struct chunk) <= PROF_PAGE, "a chunk is a page");

static struct arc **bucket_of(uint32_t from)
{
	return &__mcount_buckets[from / 4 % ARC_BUCKETS];
}

/* Makes another chunk the newest, unless somebody was faster.  False: there is no memory. */
static bool add_chunk(struct chunk *full)
{
	struct chunk *chunk = __prof_pages(sizeof *chunk);

	if (chunk == NULL)
		return false;
	if (!__atomic_compare_exchange_n(&newest, &full, chunk, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_ACQUIRE))
		__prof_pages_free(chunk, sizeof *chunk);
	return true;
}

static struct arc *take_arc(void)
{
	for (;;) {
		struct chunk *chunk = __atomic_load_n(&newest, __ATOMIC_ACQUIRE);

		if (__atomic_load_n(&chunk->used, __ATOMIC_RELAXED) < CHUNK_ARCS) {
			uint32_t n = __atomic_fetch_add(&chunk->used, 1, __ATOMIC_RELAXED);

			if (n < CHUNK_ARCS)
				return &chunk->arcs[n];
		}
		if (!add_chunk(chunk))
			return NULL;
	}
}

/* The arc in the chain from `arc` on, up to `end`; NULL if it is not there. */
static struct arc *find(struct arc *arc, const struct arc *end, uint32_t from, uint32_t self)
{
	while (arc != end && (arc->from != from || arc->self != self))
		arc = arc->next;
	return arc != end ? arc : NULL;
}

/* Hangs a new arc into its bucket; returns it, or the same one that somebody else has just hung. */
static struct arc *insert(struct arc **bucket, struct arc *seen, struct arc *arc)
{
	arc->next = seen;
	while (!__atomic_compare_exchange_n(bucket, &arc->next, arc, false, __ATOMIC_ACQ_REL,
					    __ATOMIC_ACQUIRE)) {
		struct arc *other = find(arc->next, seen, arc->from, arc->self);

		if (other != NULL)
			return other;
		seen = arc->next;
	}
	return arc;
}

void mcountaux(uint32_t from, uint32_t self)
{
	struct arc **bucket = bucket_of(from);
	struct arc *seen = __atomic_load_n(bucket, __ATOMIC_ACQUIRE);
	struct arc *arc = find(seen, NULL, from, self);

	if (arc == NULL) {
		arc = take_arc();
		if (arc == NULL) {
			__atomic_add_fetch(&lost, 1, __ATOMIC_RELAXED);
			return;
		}
		*arc = (struct arc){.from = from, .self = self};
		arc = insert(bucket, seen, arc);
	}
	if (__atomic_add_fetch(&arc->low, 1, __ATOMIC_RELAXED) == 0)
		__atomic_add_fetch(&arc->high, 1, __ATOMIC_RELAXED);
}

uint32_t __arcs_lost(void)
{
	return __atomic_load_n(&lost, __ATOMIC_RELAXED);
}

void __arcs_visit(void (*visit)(const struct arc *arc, void *argument), void *argument)
{
	for (uint32_t n = 0; n < ARC_BUCKETS; n++) {
		const struct arc *arc = __atomic_load_n(&__mcount_buckets[n], __ATOMIC_ACQUIRE);

		for (; arc != NULL; arc = arc->next) {
			if ((arc->low | arc->high) != 0)
				visit(arc, argument);
		}
	}
}

void __arcs_clear(void)
{
	for (uint32_t n = 0; n < ARC_BUCKETS; n++) {
		for (struct arc *arc = __mcount_buckets[n]; arc != NULL; arc = arc->next) {
			__atomic_store_n(&arc->low, 0, __ATOMIC_RELAXED);
			__atomic_store_n(&arc->high, 0, __ATOMIC_RELAXED);
		}
	}
	__atomic_store_n(&lost, 0, __ATOMIC_RELAXED);
}
