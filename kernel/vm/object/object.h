/* SPDX-License-Identifier: MIT */
/*
 * Objects: memory that can be mapped, page by page in one of these places.
 *
 *   slot            where the contents are
 *   a page          here
 *   SLOT_EMPTY      never seen.  Of an object with a pager: at the pager.  Otherwise behind it: in
 *                   its shadow, or zeroes when it has none
 *   SLOT_REQUESTED  at the pager, which has been asked for it; threads wait for the answer
 *   SLOT_ABSENT     the pager has none (data_unavailable): behind it
 *   SLOT_FAILED     the pager could not (data_error), which the next fault that looks is told
 *   SLOT_SWAPPED    at the default pager, in `swap`
 *   SLOT_LOST       nowhere: it was in swap when that died.  Who looks is told so until the page is
 *                   thrown away, as older contents, or others, would be worse than none
 *
 * Copying memory gives the copy the same object, both sides copy-pending: their map entries may not
 * write to it.  Who wants to write first puts an object of his own in front, a *shadow*, empty,
 * that gets copies of the pages that are written to and leaves the rest to the object behind it.
 * Chains stay short:
 *   - a page of an object behind, to which nobody else refers, moves to the front, uncopied
 *   - who is the only one to refer to an object may write to it: no shadow is needed
 *   - an object with a page for each index has nothing behind it any more
 *   - of two objects of which nobody else knows the second, only one is left when they are copied
 * This holds for memory that is nobody else's.  An object that several map entries share, or whose
 * pager wants to see what is written (copy strategy DELAY), is copied the other way round: the
 * *copy object* in `copy`, which has it as its shadow, is given each page before it is written to.
 *
 *   invariants   a page in a slot has this object and index, and is on a queue or wired
 *                n_pages, n_swapped and n_unsettled count slots with a page, SLOT_SWAPPED and
 *                SLOT_LOST ones, and SLOT_REQUESTED and SLOT_FAILED ones
 *                a shadow is a reference; `copy` is none: copy->shadow is this object
 *                with a payer, n_pages, n_swapped and n_unsettled are charged to him: a page is
 *                paid from when it is first there, in memory or in swap, until it is thrown away or
 *                moves to another object
 *                of an object that has `copy` no page is mapped writable unless the copy has its
 *                own or does not reach so far
 *                a map entry that shows a copy object is copy-pending until object_make_own()
 *                nothing but the pager's answer, its death, or the object's end takes a slot out of
 *                SLOT_REQUESTED; whatever does wakes `waiters`
 *
 * Guarded by the kernel lock.  After any wait all slots may be different.
 */
#ifndef VM_OBJECT_OBJECT_H
#define VM_OBJECT_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/memory_object.h>

#include "base/alloc_site.h"
#include "base/assert.h"
#include <assay/list.h>
#include "thread/thread.h"
#include "vm/page/page.h"
#include "vm/page/page_tree.h"

struct owner;
struct pager;

#define OBJECT_MAGIC 0x4f424a45u

struct object {
	uint32_t magic;
	uint32_t refs;    /* Map entries, copies on their way, objects whose shadow it is. */
	uint32_t size;    /* In pages; slots beyond are empty. */
	bool kernel;      /* The kernel's own: all pages are wired, none is ever asked for. */
	bool dead;        /* Its pager is gone: what is not here or in swap never will be. */
	bool terminating; /* No reference is left. */
	bool written;     /* object_make_own() has let an entry write to it: no copy for two. */
	struct page_tree slots;
	uint32_t n_pages;
	uint32_t n_swapped;
	uint32_t n_unsettled;

	struct object *shadow; /* What is behind it, or NULL, */
	uint32_t shadow_index; /* and the index there of its own first page. */
	struct object *copy;   /* The copy object to which pages are given before a write. */

	struct pager *pager; /* The memory object that was mapped; NULL for memory of nobody's. */
	struct pager *swap;  /* Its memory object at the default pager, once it has one. */

	struct owner *payer; /* For whom it was made, if he has limits: base/owner.h; or NULL. */
	uint32_t label;      /* The same as a label: for him its pages are put away. */

	struct wait_queue waiters; /* For a slot, or for the pager to be ready. */
	struct list
		cache_link; /* While it has no reference but may be cached (vm/pager/pager.h). */
};

/* What a slot may hold instead of a page. */
#define SLOT_EMPTY     ((struct page *)0)
#define SLOT_REQUESTED ((struct page *)1)
#define SLOT_ABSENT    ((struct page *)2)
#define SLOT_FAILED    ((struct page *)3)
#define SLOT_SWAPPED   ((struct page *)4)
#define SLOT_LOST      ((struct page *)5)

static inline bool slot_is_page(const struct page *slot)
{
	return (uintptr_t)slot > (uintptr_t)SLOT_LOST;
}

/* Whether the contents are those that were paged out, and so newer than what its pager has. */
static inline bool slot_is_away(const struct page *slot)
{
	return slot == SLOT_SWAPPED || slot == SLOT_LOST;
}

void object_module_init(void);

/* Memory of nobody's, zeroes, with one reference; NULL when there is no memory. */
struct object *object_create(uint32_t size);
#define object_create(size) ALLOC_SITE((object_create)(size))

/* As object_create(); `payer`, which may be NULL, pays for the pages. */
struct object *object_create_paid(struct owner *payer, uint32_t size);

static inline struct object *object_create_for(struct owner *payer, uint32_t size)
{
	return __builtin_expect(payer == NULL, 1) ? (object_create)(size)
						  : object_create_paid(payer, size);
}
#define object_create_for(payer, size) ALLOC_SITE((object_create_for)(payer, size))

/* Who pays for the object's pages from now on, whatever his limits; NULL: nobody. */
void object_change_payer(struct object *object, struct owner *payer);

static inline struct object *object_reference(struct object *object)
{
	assert(object->magic == OBJECT_MAGIC);
	object->refs++;
	return object;
}

/*
 * Gives up a reference.  With the last the object is cached, if its pager allows that, or ends: its
 * pages are freed, or returned to the pager (vm/pager/pager.h), and its shadow is released.  Chains
 * of any length do not deepen the stack.  Does not block.
 */
void object_release(struct object *object);

/* Ends an object without references: for object_release() and the cache. */
void object_terminate(struct object *object);

/* ---------------- Slots ---------------- */

static inline struct page *object_slot(const struct object *object, uint32_t index)
{
	assert(object->magic == OBJECT_MAGIC);
	return page_tree_get(&object->slots, index);
}

/*
 * Puts a mark into a slot that has no page.  False when there is no memory for an empty slot's, or
 * its payer may have no more.
 */
bool object_mark(struct object *object, uint32_t index, struct page *mark);

/*
 * Puts `page`, nobody's, into a slot that has none, and makes it active; wakes the waiters of one
 * that was SLOT_REQUESTED.  False when there is no memory for an empty slot's, or its payer may
 * have no more pages.
 */
bool object_insert(struct object *object, uint32_t index, struct page *page);

/* As object_insert(), whatever the payer may have: for a write of the system's. */
bool object_insert_anyway(struct object *object, uint32_t index, struct page *page);

/* Takes the page, which is not wired, out of its object, queue and all maps, and leaves `mark`.
 * The page is the caller's; it keeps `dirty`, with what the page tables knew. */
void object_remove(struct page *page, struct page *mark);

/* As object_remove(), and frees it. */
void object_free_page(struct page *page, struct page *mark);

/*
 * Frees all pages, none of which is wired, and forgets all marks in [first, end); SLOT_REQUESTED
 * only of an object that ends.
 */
void object_free_range(struct object *object, uint32_t first, uint32_t end);

/* ---------------- Copying ---------------- */

/*
 * A map entry that is copy-pending, with a reference to `*object` of which it shows `size` pages
 * from `*index` on, wants to write.  Makes the object one that it may write to: the same when it is
 * nobody else's, else a new one in front, which has the reference then.  The entry is not pending
 * any more.  False when there is no memory, or `payer`, who pays for what is made, may not have
 * it: nothing has changed.  Does not block.
 */
bool object_make_own(struct owner *payer, struct object **object, uint32_t *index, uint32_t size);

/*
 * Copies [index, index + size) for another map entry: `*copy`, with a reference for the caller, and
 * `*copy_index`.  `shared`: the object's own entry shares it with others (VM_INHERIT_SHARE), so it
 * must not become copy-pending; nor is it pending now.  The copy's entry is always copy-pending at
 * first.  With `*pending` the source's entry is so too from now on, and the caller takes the right
 * to write away from its mappings.  What has to be made is `payer`'s.  KERN_RESOURCE_SHORTAGE,
 * KERN_MEMORY_ERROR, KERN_MEMORY_FAILURE, KERN_ABORTED.  May block, for the kernel's own objects
 * (for memory) and those with a pager (to be ready, or for the pages where it wants no copies).
 */
kern_return_t object_copy(struct owner *payer, struct object *object, uint32_t index, uint32_t size,
			  bool shared, struct object **copy, uint32_t *copy_index, bool *pending);

/*
 * A copy, page by page, at once, in a new object whose index 0 is `index`.  The caller keeps the
 * object alive.  Errors as object_copy().  May block.
 */
kern_return_t object_copy_now(struct owner *payer, struct object *object, uint32_t index,
			      uint32_t size, struct object **copy);

/*
 * The caller is about to copy `*object`, which it shows from `*index` on.  If it has the only
 * reference, unites the object with those behind to which nobody else refers, as far as all that is
 * in one of two can be moved: the smaller number of pages is.  Either of the two may be left.  In
 * any case each object further behind to which only the one before it refers is united with that.
 */
void object_unite(struct object **object, uint32_t *index);

/* Whether the pages of an object behind another may move to the one in front. */
static inline bool object_can_move_from(const struct object *back)
{
	return back->refs == 1 && back->pager == NULL && back->copy == NULL && !back->kernel;
}

/*
 * Moves a page to an object in front of its own, object_can_move_from(), or behind, to which nobody
 * else refers, in the place of whatever is there.  It stays mapped and wired as it is, and is dirty
 * there.  False when there is no memory for an empty slot's, or another payer may have no more:
 * nothing has changed.
 */
bool object_move_page(struct page *page, struct object *to, uint32_t index);

/*
 * The page at `index` of `object`, which has a copy object, is about to be written to: gives that
 * its own copy of the page first if it reaches so far and has nothing there, and takes the page's
 * translations away, which are the copy's too.  The copy's payer pays, and if he may not the write
 * is refused: but for one of the system's (`anyway`).  KERN_RESOURCE_SHORTAGE.  Does not block.
 */
kern_return_t object_push(struct object *object, uint32_t index, bool anyway);

/* Forgets the object behind if this one has contents for each of its slots. */
void object_drop_shadow_if_full(struct object *object);

/*
 * Nobody but its copy object refers to `object` any more, so that no map entry can write to it: of
 * two copy objects one is left.  For object_release().
 */
void object_left_to_copy(struct object *object);

/* Forgets what is behind the object, and gives the caller its reference to that; or NULL. */
struct object *object_leave_shadow(struct object *object);

/* How many objects there are from this one to the end of its chain. */
uint32_t object_chain_length(const struct object *object);

#endif
