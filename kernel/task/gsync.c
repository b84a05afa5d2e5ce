/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a word of memory: see gsync.h.  Guarded by the kernel lock.
 *
 * A waiting thread has a `struct waiter` on its kernel stack, in a hash table by what it waits for,
 * so that nothing is allocated.  Waiters for one key are woken in the order in which they came; in
 * the list of one bucket there may be others between them.
 *
 * A private word is known by its task's id and address, a shared one by its object and where it is
 * in that, which all who share the memory (VM_INHERIT_SHARE, or a memory object) have in common.
 * Waiters for it refer to the object, so that no other one takes its place; and the map entry
 * counts as shared from then on, so that a child's copy does not put another object in front of it.
 *
 * Reading the word, and writing it, may wait for its page.  What it is known by is found after that
 * and without another wait before the thread's own.
 */
#include "task/gsync.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/gsync.h>

#include <assay/list.h>
#include "mach/gnumach_server.h"
#include "task/task.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "thread/work.h"
#include "vm/map/map.h"
#include "vm/map/map_routines.h"
#include "vm/object/object.h"

#define BUCKETS 256u

/* What a word is known by.  The object is borrowed, but for a waiter's. */
struct key {
	struct object *object; /* NULL for a private word: */
	uint32_t task;         /* its task's id, */
	uint32_t address;      /* and its address there.  Otherwise its offset in the object. */
};

struct waiter {
	struct list link; /* In its bucket, until it is woken. */
	struct key key;
	struct thread *thread;
	struct wait_queue queue; /* The thread waits on this, alone. */
};

static struct list buckets[BUCKETS];

void gsync_module_init(void)
{
	for (unsigned n = 0; n < BUCKETS; n++)
		list_init(&buckets[n]);
}

static struct list *gsync_bucket_of(struct key key)
{
	uint32_t whose = key.task ^ (uint32_t)(uintptr_t)key.object >> 3;
	uint32_t hash = (key.address >> 2) * 0x9e3779b1u ^ whose * 0x85ebca6bu;

	return &buckets[hash >> 24];
}

static bool gsync_same_key(struct key one, struct key other)
{
	return one.object == other.object && one.task == other.task && one.address == other.address;
}

/*
 * The map of the task, whose memory it is, with a reference over the waits of a call; NULL if there
 * is none any more.
 */
static struct vm_map *gsync_map_of(struct task *task)
{
	if (task == NULL || !map_is_usable(task->map))
		return NULL;
	return map_reference(task->map);
}

/* Whether there is a word at `address` that the task could access with `rights`. */
static bool gsync_is_word(struct vm_map *map, uint32_t address, uint32_t size, uint32_t rights)
{
	return map->active && address % sizeof(uint32_t) == 0 &&
	       map_check(map, address, size, rights) == KERN_SUCCESS;
}

/* Does not wait.  KERN_RESOURCE_SHORTAGE if a shared word's memory cannot be made its own. */
static kern_return_t gsync_find_shared_key(struct vm_map *map, uint32_t address, struct key *key)
{
	struct map_entry *entry = map_entry_at(map, address);

	if (!map_entry_make_object(map, entry) || !map_entry_make_own(map, entry))
		return KERN_RESOURCE_SHORTAGE;
	entry->shared = true;
	*key = (struct key){
		.object = entry->object,
		.address = map_entry_index(entry, address) * PAGE_SIZE + address % PAGE_SIZE,
	};
	return KERN_SUCCESS;
}

/* What the word at `address` is known by; KERN_INVALID_ADDRESS if it is none.  Does not wait. */
static kern_return_t gsync_find_key(const struct task *task, struct vm_map *map, uint32_t address,
				    int flags, struct key *key)
{
	if (!gsync_is_word(map, address, sizeof(uint32_t), VM_PROT_READ))
		return KERN_INVALID_ADDRESS;
	if ((flags & GSYNC_SHARED) != 0)
		return gsync_find_shared_key(map, address, key);
	*key = (struct key){.task = task->id, .address = address};
	return KERN_SUCCESS;
}

/*
 * The first waiter for `key` from `*link` on, which is left behind it; NULL if there is none.  One
 * whose wait has ended otherwise, but which has not run since, is not waiting any more.
 */
static struct waiter *gsync_next_waiter(struct list *bucket, struct list **link, struct key key)
{
	while (*link != bucket) {
		struct waiter *waiter = list_object(*link, struct waiter, link);

		*link = (*link)->next;
		if (gsync_same_key(waiter->key, key) && !list_empty(&waiter->queue.waiters))
			return waiter;
		pause_each();
	}
	return NULL;
}

/* ---------------- Waiting ---------------- */

/*
 * KERN_SUCCESS if the word, or with GSYNC_QUAD both words, are what the caller thinks.  May wait,
 * but not after it has seen the first word, whose address it is that wakers name.
 */
static kern_return_t gsync_compare(struct vm_map *map, uint32_t address, uint32_t one,
				   uint32_t other, int flags)
{
	uint32_t words[2] = {one, other};
	kern_return_t result = KERN_SUCCESS;

	if (!gsync_is_word(map, address, (flags & GSYNC_QUAD) != 0 ? 8 : 4, VM_PROT_READ))
		return KERN_INVALID_ADDRESS;
	if ((flags & GSYNC_QUAD) != 0)
		result = map_read(map, address + 4, &words[1], 4);
	if (result == KERN_SUCCESS)
		result = map_read(map, address, &words[0], 4);
	if (result != KERN_SUCCESS)
		return result;
	return words[0] == one && words[1] == other ? KERN_SUCCESS : KERN_INVALID_ARGUMENT;
}

/* Takes the reference of a waiter for the key, or gives it up. */
static void gsync_refer(struct key key)
{
	if (key.object != NULL)
		object_reference(key.object);
}

static void gsync_release(struct key key)
{
	if (key.object != NULL)
		object_release(key.object);
}

static kern_return_t gsync_wait_for(struct key key, uint64_t due)
{
	struct waiter waiter = {.key = key, .thread = current_thread()};
	enum wait_result result;

	wait_queue_init(&waiter.queue);
	gsync_refer(key);
	list_add_last(gsync_bucket_of(key), &waiter.link);
	result = thread_wait(&waiter.queue, due, WAIT_WORD);
	list_remove(&waiter.link);
	gsync_release(waiter.key); /* It may have been moved to another. */
	switch (result) {
	case WAIT_WOKEN:
		return KERN_SUCCESS;
	case WAIT_TIMED_OUT:
		return KERN_TIMEDOUT;
	default:
		return KERN_INTERRUPTED;
	}
}

kern_return_t gsync_wait(struct task *task, vm_address_t address, unsigned one, unsigned other,
			 natural_t ms, int flags)
{
	uint64_t due = (flags & GSYNC_TIMED) != 0 ? tick_after_ms(ms) : WAIT_FOREVER;
	struct vm_map *map = gsync_map_of(task);
	struct key key;
	kern_return_t result;

	if (map == NULL)
		return KERN_INVALID_TASK;
	result = gsync_compare(map, address, one, other, flags);
	if (result == KERN_SUCCESS)
		result = gsync_find_key(task, map, address, flags, &key);
	map_release(map);
	return result == KERN_SUCCESS ? gsync_wait_for(key, due) : result;
}

/* ---------------- Waking ---------------- */

static void gsync_wake_waiter(struct waiter *waiter)
{
	list_remove(&waiter->link);
	thread_wake(waiter->thread, WAIT_WOKEN);
}

/* Wakes one waiter for the key, or all; KERN_INVALID_ARGUMENT if there is none. */
static kern_return_t gsync_wake_waiters(struct key key, bool all)
{
	struct list *bucket = gsync_bucket_of(key);
	struct list *link = bucket->next;
	kern_return_t result = KERN_INVALID_ARGUMENT;
	struct waiter *waiter;

	while ((waiter = gsync_next_waiter(bucket, &link, key)) != NULL) {
		gsync_wake_waiter(waiter);
		result = KERN_SUCCESS;
		if (!all)
			break;
		pause_each();
	}
	return result;
}

static kern_return_t gsync_mutate(struct vm_map *map, uint32_t address, uint32_t value)
{
	if (!gsync_is_word(map, address, sizeof value, VM_PROT_WRITE))
		return KERN_INVALID_ADDRESS;
	return map_store(map, address, &value, sizeof value);
}

kern_return_t gsync_wake(struct task *task, vm_address_t address, unsigned value, int flags)
{
	struct vm_map *map = gsync_map_of(task);
	kern_return_t result = KERN_SUCCESS;
	struct key key;

	if (map == NULL)
		return KERN_INVALID_TASK;
	if ((flags & GSYNC_MUTATE) != 0)
		result = gsync_mutate(map, address, value);
	if (result == KERN_SUCCESS)
		result = gsync_find_key(task, map, address, flags, &key);
	if (result == KERN_SUCCESS)
		result = gsync_wake_waiters(key, (flags & GSYNC_BROADCAST) != 0);
	map_release(map);
	return result;
}

/* ---------------- Waiting elsewhere ---------------- */

/*
 * Makes waiters for `from` wait for `to`, all or one.  They are gathered first: both keys may have
 * the same bucket.
 */
static void gsync_move_waiters(struct key from, struct key to, bool all)
{
	struct list moved = LIST_INITIALIZER(moved);
	struct list *bucket = gsync_bucket_of(from);
	struct list *link = bucket->next;
	struct waiter *waiter;

	while ((waiter = gsync_next_waiter(bucket, &link, from)) != NULL) {
		list_remove(&waiter->link);
		list_add_last(&moved, &waiter->link);
		gsync_refer(to);
		gsync_release(from);
		waiter->key = to;
		if (!all)
			break;
		pause_each();
	}
	bucket = gsync_bucket_of(to);
	while (!list_empty(&moved)) {
		list_add_last(bucket, list_take_first(&moved));
		pause_each();
	}
}

/* Wakes the first waiter, if that is asked for, and moves the next one or all others. */
static kern_return_t gsync_wake_and_move(struct key from, struct key to, bool wake_one, bool all)
{
	struct list *link = gsync_bucket_of(from)->next;
	struct waiter *waiter = gsync_next_waiter(gsync_bucket_of(from), &link, from);

	if (waiter == NULL)
		return KERN_INVALID_ARGUMENT;
	if (wake_one)
		gsync_wake_waiter(waiter);
	if (!gsync_same_key(from, to))
		gsync_move_waiters(from, to, all);
	return KERN_SUCCESS;
}

kern_return_t gsync_requeue(struct task *task, vm_address_t source, vm_address_t target,
			    boolean_t wake_one, int flags)
{
	struct vm_map *map = gsync_map_of(task);
	struct key from, to;
	kern_return_t result;

	if (map == NULL)
		return KERN_INVALID_TASK;
	result = gsync_find_key(task, map, source, flags, &from);
	if (result == KERN_SUCCESS)
		result = gsync_find_key(task, map, target, flags, &to);
	if (result == KERN_SUCCESS)
		result = gsync_wake_and_move(from, to, wake_one, (flags & GSYNC_BROADCAST) != 0);
	map_release(map);
	return result;
}
