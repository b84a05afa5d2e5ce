/* SPDX-License-Identifier: MIT */
/*
 * Owners: who pays for what the kernel keeps for programs (docs/owners.md).
 *
 * Every task has an owner.  What is made for the task is charged to it, one count a kind, before it
 * is made, and given back when its memory is: a charge that does not fit is refused, and whoever
 * asked hears of a shortage.  Things that can outlive their task point to the owner themselves.
 *
 *   invariants   what an owner but the system has used is part of what all others have used
 *                others together are held to a limit, so that the rest is the system's
 *                an owner is there as long as anything is charged to it, or it is held
 *
 * Guarded by the kernel lock; nothing here blocks.
 */
#ifndef BASE_OWNER_H
#define BASE_OWNER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <mach/owner.h>

#include <assay/list.h>
#include "thread/share.h"

#define OWNER_MAGIC 0x4f574e52u

struct owner {
	uint32_t magic;
	uint32_t id;
	struct owner *all; /* What it uses counts there too: all but the system; NULL: nowhere. */
	struct list link;  /* In the list of owners. */
	uint32_t holders;  /* Who point to it though nothing may be charged to it. */
	struct owner_use uses[OWNER_KINDS];
	uint32_t lost;      /* Answers and notifications that a limit has kept out of queues. */
	uint64_t log_paid;  /* When its lines in the log are paid for, */
	uint32_t unsaid;    /* and how many there were no means for since the last. */
	struct share share; /* Its turns. */
};

extern struct owner owner_system;

void owner_module_init(void);

/* Each event is looked at by all streams: others than the system have no more than these. */
#define OWNER_STREAMS_MOST 56u

/* Says that a thing of the kind takes so many bytes of memory, which owner_limits_set() goes by. */
void owner_set_price(enum owner_kind kind, uint32_t bytes);

/*
 * From now on there are limits: of `pages`, the machine's memory, all others together may have a
 * part of each kind, and each of them a share of that.  Called once, before the boot programs run.
 */
void owner_limits_set(uint32_t pages);

/* The owner with this id; NULL if nothing is charged to it.  OWNER_OTHERS is all others. */
struct owner *owner_find(uint32_t id);

/* The one with the least id from `id` on; at last that is OWNER_OTHERS. */
struct owner *owner_next(uint32_t id);

/*
 * The owner with this id, made if it is not there; NULL when there is no memory.  A new one is gone
 * again when what it is charged first is given back, so that the caller charges something.
 */
struct owner *owner_obtain(uint32_t id);

/* What others than the system may use of a kind; what is used already stays. */
void owner_set_limit(struct owner *owner, enum owner_kind kind, uint32_t limit);

/* Whether a user has a task, so that there is somebody whom limits concern. */
bool owner_users_have_tasks(void);

/* Who pays where nobody counts what the system uses: the owner if it has limits, else NULL. */
static inline struct owner *owner_limited(struct owner *owner)
{
	return owner->all != NULL ? owner : NULL;
}

static inline void owner_add(struct owner_use *use, uint32_t n)
{
	use->used += n;
	if (use->used > use->most)
		use->most = use->used;
}

/* For owner_charge(), of an owner who has limits. */
bool owner_charge_limited(struct owner *owner, enum owner_kind kind, uint32_t n);

/* Charges `n` of a kind; false, and nothing is, if that would be over a limit. */
static inline bool owner_charge(struct owner *owner, enum owner_kind kind, uint32_t n)
{
	if (owner->all != NULL)
		return owner_charge_limited(owner, kind, n);
	owner_add(&owner->uses[kind], n);
	return true;
}

/* Whether owner_charge() of so many would succeed. */
bool owner_may_have(const struct owner *owner, enum owner_kind kind, uint32_t n);

/* A message that nobody sends again was kept out of a queue: counts it where root can see that. */
void owner_note_lost(struct owner *owner);

/* Charges `n` that are there already, whatever the limit. */
void owner_burden(struct owner *owner, enum owner_kind kind, uint32_t n);

/* For owner_uncharge() and owner_let_go(): there is one reason less for it to be there. */
void owner_perhaps_gone(struct owner *owner);

/* Keeps the owner there, and lets go of it: it may be gone then. */
static inline void owner_hold(struct owner *owner)
{
	owner->holders++;
}

static inline void owner_let_go(struct owner *owner)
{
	if (--owner->holders == 0)
		owner_perhaps_gone(owner);
}

/* Gives `n` back that were charged.  The owner may be gone then. */
static inline void owner_uncharge(struct owner *owner, enum owner_kind kind, uint32_t n)
{
	if (owner->all != NULL)
		owner->all->uses[kind].used -= n;
	owner->uses[kind].used -= n;
	if (owner->uses[kind].used == 0)
		owner_perhaps_gone(owner);
}

#endif
