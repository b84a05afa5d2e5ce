/* SPDX-License-Identifier: MIT */
/*
 * Waiting for a word of memory: see gsync.h.  Guarded by the kernel lock.
 *
 * A waiting thread has a `struct waiter` on its kernel stack, in a hash table by what it waits for,
 * so that nothing is allocated.  Waiters for one key are woken in the order in which they came; in
 * the list of one bucket there may be others between them.
 *
 * A private word is known by its task's id and address, a shared one by where it is in physical
 * memory.  A shared page that is freed leaves its waiters behind with a key that may become another
 * word's: those may be woken without a reason, as every user of gsync_wait() must expect.
 */
#include "kern/gsync.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/gsync.h>

#include "kern/assert.h"
#include "kern/list.h"
#include "kern/task.h"
#include "kern/thread.h"
#include "kern/tick.h"
#include "kern/work.h"
#include "mach/gnumach_server.h"
#include "vm/map.h"
#include "vm/map_routines.h"

#define BUCKETS 256u

struct key {
	uint32_t task; /* Its id; 0: the address is a physical one. */
	uint32_t address;
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

static struct list *bucket_of(struct key key)
{
	uint32_t hash = (key.address >> 2) * 0x9e3779b1u ^ key.task * 0x85ebca6bu;

	return &buckets[hash >> 24];
}

static bool same_key(struct key one, struct key other)
{
	return one.task == other.task && one.address == other.address;
}

/*
 * What the word at `address` is known by; KERN_INVALID_ADDRESS if it is not one that the task could
 * access with `rights`, KERN_RESOURCE_SHORTAGE if a shared word's page cannot be made its own.
 */
static kern_return_t find_key(struct task *task, uint32_t address, uint32_t size, int flags,
			      uint32_t rights, struct key *key)
{
	if (task == NULL || !map_is_usable(task->map))
		return KERN_INVALID_TASK;
	if (address % sizeof(uint32_t) != 0)
		return KERN_INVALID_ADDRESS;
	if (map_check(task->map, address, size, rights) != KERN_SUCCESS)
		return KERN_INVALID_ADDRESS;
	*key = (struct key){task->id, address};
	if ((flags & GSYNC_SHARED) == 0)
		return KERN_SUCCESS;
	key->task = 0;
	return map_physical(task->map, address, &key->address);
}

/*
 * The first waiter for `key` from `*link` on, which is left behind it; NULL if there is none.  One
 * whose wait has ended otherwise, but which has not run since, is not waiting any more.
 */
static struct waiter *next_waiter(struct list *bucket, struct list **link, struct key key)
{
	for (unsigned turn = 1; *link != bucket; turn++) {
		struct waiter *waiter = list_object(*link, struct waiter, link);

		*link = (*link)->next;
		if (same_key(waiter->key, key) && !list_empty(&waiter->queue.waiters))
			return waiter;
		if (turn % 64 == 0)
			kernel_pause();
	}
	return NULL;
}

/* ---------------- Waiting ---------------- */

/* Whether the word, or with GSYNC_QUAD both words, are what the caller thinks. */
static bool is_expected(struct task *task, uint32_t address, uint32_t one, uint32_t other,
			int flags)
{
	uint32_t words[2] = {one, other};

	map_read(task->map, address, words, (flags & GSYNC_QUAD) != 0 ? 8 : 4);
	return words[0] == one && words[1] == other;
}

static kern_return_t wait(struct key key, uint64_t due)
{
	struct waiter waiter = {.key = key, .thread = current_thread()};
	enum wait_result result;

	wait_queue_init(&waiter.queue);
	list_add_last(bucket_of(key), &waiter.link);
	result = thread_wait(&waiter.queue, due, WAIT_INTERRUPTIBLE);
	list_remove(&waiter.link);
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
	uint32_t size = (flags & GSYNC_QUAD) != 0 ? 8 : 4;
	struct key key;
	kern_return_t result = find_key(task, address, size, flags, VM_PROT_READ, &key);

	if (result != KERN_SUCCESS)
		return result;
	if (!is_expected(task, address, one, other, flags))
		return KERN_INVALID_ARGUMENT;
	return wait(key, due);
}

/* ---------------- Waking ---------------- */

static void wake(struct waiter *waiter)
{
	list_remove(&waiter->link);
	thread_wake(waiter->thread, WAIT_WOKEN);
}

kern_return_t gsync_wake(struct task *task, vm_address_t address, unsigned value, int flags)
{
	uint32_t rights = (flags & GSYNC_MUTATE) != 0 ? VM_PROT_WRITE : VM_PROT_READ;
	struct key key;
	kern_return_t result = find_key(task, address, sizeof value, flags, rights, &key);
	struct list *bucket, *link;
	struct waiter *waiter;

	if (result == KERN_SUCCESS && (flags & GSYNC_MUTATE) != 0)
		result = map_own(task->map, address, sizeof value);
	if (result != KERN_SUCCESS)
		return result;
	if ((flags & GSYNC_MUTATE) != 0)
		map_write(task->map, address, &value, sizeof value);
	bucket = bucket_of(key);
	link = bucket->next;
	result = KERN_INVALID_ARGUMENT;
	while ((waiter = next_waiter(bucket, &link, key)) != NULL) {
		wake(waiter);
		result = KERN_SUCCESS;
		if ((flags & GSYNC_BROADCAST) == 0)
			break;
	}
	return result;
}

/* ---------------- Waiting elsewhere ---------------- */

/*
 * Makes waiters for `from` wait for `to`, all or one.  They are gathered first: both keys may have
 * the same bucket.
 */
static void requeue(struct key from, struct key to, bool all)
{
	struct list moved = LIST_INITIALIZER(moved);
	struct list *bucket = bucket_of(from);
	struct list *link = bucket->next;
	struct waiter *waiter;

	while ((waiter = next_waiter(bucket, &link, from)) != NULL) {
		list_remove(&waiter->link);
		list_add_last(&moved, &waiter->link);
		waiter->key = to;
		if (!all)
			break;
	}
	bucket = bucket_of(to);
	for (unsigned turn = 1; !list_empty(&moved); turn++) {
		list_add_last(bucket, list_take_first(&moved));
		if (turn % 64 == 0)
			kernel_pause();
	}
}

kern_return_t gsync_requeue(struct task *task, vm_address_t source, vm_address_t target,
			    boolean_t wake_one, int flags)
{
	struct key from, to;
	kern_return_t result = find_key(task, source, 4, flags, VM_PROT_READ, &from);
	struct waiter *waiter;
	struct list *link;

	if (result == KERN_SUCCESS)
		result = find_key(task, target, 4, flags, VM_PROT_READ, &to);
	if (result != KERN_SUCCESS)
		return result;
	link = bucket_of(from)->next;
	waiter = next_waiter(bucket_of(from), &link, from);
	if (waiter == NULL)
		return KERN_INVALID_ARGUMENT;
	if (wake_one)
		wake(waiter);
	if (!same_key(from, to))
		requeue(from, to, (flags & GSYNC_BROADCAST) != 0);
	return KERN_SUCCESS;
}
