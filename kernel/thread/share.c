/* SPDX-License-Identifier: MIT */
/* Shares: see share.h.  Guarded by the kernel lock. */
#include "thread/share.h"

#include <stddef.h>

#include "base/owner.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"
#include "thread/turn.h"

struct run_queue sched_common;

static uint32_t shares_waiting; /* Those with groups in the queue. */

void share_init(struct share *share)
{
	share->used = 0;
	share->round = 0;
	share->queued = 0;
	for (unsigned priority = 0; priority < PRIORITIES; priority++) {
		struct run_group *group = &share->groups[priority];

		*group = (struct run_group){.entry.group_of = share, .woken = &group->threads};
		list_init(&group->entry.link);
		list_init(&group->threads);
	}
}

void share_end(const struct share *share)
{
	for (uint32_t n = 0; n < n_cpus; n++)
		if (cpus[n].payer == share)
			cpus[n].payer = NULL;
}

/* ---------------- Where groups are ---------------- */

static void share_take_group(struct run_group *group, unsigned priority)
{
	if (!list_empty(&group->entry.link)) {
		run_queue_remove(&sched_common, &group->entry.link, priority);
		shares_waiting -= --group->entry.group_of->queued == 0;
	}
	group->early = false;
}

/* A group of the share's is put into the queue. */
static void share_count_group(struct share *share)
{
	shares_waiting += share->queued++ == 0;
}

/*
 * The group goes behind all that wait, and has had its place in this round.  Not inlined: else each
 * share_take() takes 14 instructions more (tools/bench page-in).
 */
static __attribute__((noinline)) void share_put_behind(struct share *share, unsigned priority)
{
	struct run_group *group = &share->groups[priority];

	share_take_group(group, priority);
	run_queue_add(&sched_common, &group->entry.link, priority);
	share_count_group(share);
	group->round = share->round;
	group->behind = true;
}

/* In the middle of the owner's turn. */
static void share_put_first(struct run_group *group, unsigned priority, enum share_place place)
{
	bool wakes = place == SHARE_WOKEN;

	if (list_empty(&group->entry.link))
		share_count_group(group->entry.group_of);
	else if (wakes && !group->early)
		run_queue_remove(&sched_common, &group->entry.link, priority);
	else
		return;
	group->early = wakes;
	if (wakes)
		run_queue_add_woken(&sched_common, &group->entry.link, priority);
	else
		run_queue_add_first(&sched_common, &group->entry.link, priority);
}

static void share_place_group(struct share *share, unsigned priority, enum share_place place)
{
	struct run_group *group = &share->groups[priority];

	if (group->round != share->round || place == SHARE_YIELD)
		share_put_behind(share, priority);
	else if (!group->behind)
		share_put_first(group, priority, place);
	else if (list_empty(&group->entry.link))
		share_put_behind(share, priority);
}

/* ---------------- Threads ---------------- */

void share_add(struct share *share, struct run_entry *entry, unsigned priority,
	       enum share_place place)
{
	struct run_group *group = &share->groups[priority];

	assert(priority < PRIORITIES);
	assert(list_empty(&entry->link));
	if (place == SHARE_LAST || place == SHARE_YIELD)
		list_add_last(&group->threads, &entry->link);
	else
		list_add_first(group->woken, &entry->link);
	if (place == SHARE_WOKEN)
		group->woken = &entry->link;
	share_place_group(share, priority, place);
}

static void share_leave(struct run_group *group, struct list *link, unsigned priority)
{
	if (group->woken == link)
		group->woken = link->prev;
	list_remove(link);
	if (list_empty(&group->threads))
		share_take_group(group, priority);
}

void share_remove(struct share *share, struct run_entry *entry, unsigned priority)
{
	assert(!list_empty(&entry->link));
	share_leave(&share->groups[priority], &entry->link, priority);
}

/* Each owner whose turn has ended is put behind once, so that this ends. */
struct list *share_take(struct list *link, unsigned priority)
{
	struct run_group *group = list_object(link, struct run_group, entry.link);
	struct share *share;

	while ((share = group->entry.group_of) != NULL && group->round != share->round) {
		share_put_behind(share, priority);
		link = sched_common.lists[priority].next;
		group = list_object(link, struct run_group, entry.link);
	}
	if (share == NULL)
		return run_queue_take(&sched_common, priority);
	group->behind = false;
	link = group->threads.next;
	assert(link != &group->threads);
	share_leave(group, link, priority);
	return link;
}

static bool share_runs(const struct share *share)
{
	bool runs = false;

	for (uint32_t n = 0; n < n_cpus; n++)
		runs |= cpus[n].payer == share && cpus[n].thread != cpus[n].idle_thread;
	return runs;
}

bool share_is_behind(const struct share *share, unsigned priority)
{
	const struct run_group *group = &share->groups[priority];

	return group->behind || group->round != share->round;
}

/* Who has a CPU takes no second one from others: its next turn would begin there at once. */
bool share_waits(const struct thread *thread, const struct thread *running)
{
	return thread->share != running->share &&
	       (thread->share->groups[thread->run_priority].behind || share_runs(thread->share));
}

/* ---------------- Who pays ---------------- */

/*
 * Of all users that wait, this one among them, each has an equal part of a thread's turn.  One part
 * is nobody's: who waits for several rounds, as the programs of a command do, is through sooner.
 */
static uint32_t share_turn(const struct share *share)
{
	return turn_length / (shares_waiting + (share->queued == 0) + 1);
}

/* Whether the turn was used up by that. */
static bool share_charge(struct share *share, uint32_t cycles)
{
	uint32_t turn = share_turn(share);

	/* After a machine stood still, the clock tells nothing of turns. */
	share->used += cycles < turn_length ? cycles : turn_length;
	if (share->used < turn)
		return false;
	share->used -= turn;
	if (share->used >= turn)
		share->used = 0;
	share->round++;
	return true;
}

bool share_pay(struct cpu *cpu, struct share *payer)
{
	uint32_t now = (uint32_t)machine_cycles();
	bool over = cpu->payer != NULL && share_charge(cpu->payer, now - cpu->pays_since);

	cpu->pays_since = now;
	cpu->payer = payer;
	return over;
}

/* Whether others than this user's threads are among the best that wait. */
static bool share_others_wait(const struct share *share)
{
	unsigned priority = run_queue_best(&sched_common);
	const struct list *list;

	if (priority == PRIORITIES)
		return false;
	list = &sched_common.lists[priority];
	return list->next != list->prev || list->next != &share->groups[priority].entry.link;
}

/*
 * Who is better than programs works for who paid; any other pays itself from now on.  Threads of
 * the system's wait by themselves, and have turns of their own only.
 */
bool share_tick(struct cpu *cpu, const struct thread *thread)
{
	struct share *payer = cpu->payer;
	bool over = share_pay(cpu, thread->pays != NULL ? thread->pays : payer);

	return over && payer != &owner_system.share && share_others_wait(payer);
}
