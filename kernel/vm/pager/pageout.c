/* SPDX-License-Identifier: MIT */
/*
 * The page-out daemon: see pageout.h.  Guarded by the kernel lock.
 *
 * It works in passes, each of which looks at every page once at most.  Pages that nobody can take
 * are left active, and mapped: to deactivate them would only cost their users faults.  What has
 * been sent to a pager is free when the pager has seen to it, so the daemon sends no more than is
 * needed, and waits for that, but not for ever.
 *
 * Threads that wait for memory are told when there is some.  When there will be none, as a pass
 * freed nothing, and nothing that was sent comes back as free memory, a task of a user's ends
 * (task/culprit.h), and they go on waiting; only where users have nothing are they told so.
 */
#include "vm/pager/pageout.h"

#include <stddef.h>

#include <mach/calls.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/kernel_stack.h"
#include "base/lock.h"
#include "base/zone.h"
#include "i386/mmu/pmap.h"
#include "i386/patch/label_site.h"
#include "prof/unclaimed.h"
#include "task/culprit.h"
#include "task/task.h"
#include "thread/run_queue.h"
#include "thread/thread.h"
#include "thread/tick.h"
#include "thread/work.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"
#include "vm/pager/pager.h"

/* From one pass to the next, while somebody waits or a pass had some success. */
#define RETRY_MS 10

/* For so long after a pass in vain nobody starts one only because there is little memory. */
#define REST_NS 1000000000u

/* For so long after the last page was sent, memory may come of what is on its way. */
#define PATIENCE_NS 2000000000u

/* A page that is dropped while the default pager has no room makes up for so many sent in vain. */
#define DROP_WORTH 64

/* A pass that has met so many pages whose pagers are busy ends. */
#define BUSY_MAX 64

/* What came of looking at a page. */
enum outcome {
	FREED,
	SENT,
	BUSY, /* Its pager cannot take it now. */
	STUCK /* Nobody can. */
};

struct pass {
	uint32_t looks; /* Inactive pages to look at yet, */
	uint32_t ages;  /* and active ones. */
	uint32_t outcomes[STUCK + 1];
};

uint32_t pageouts;
uint32_t pageouts_refused;

static struct {
	struct thread *daemon;
	struct wait_queue idle;                  /* The daemon, until somebody wants it, */
	struct wait_queue resting;               /* and between two passes. */
	struct wait_queue waiters[PAGE_CLASSES]; /* Whoever waits for memory. */
	bool wanted;
	uint32_t refusals; /* Grows with each time that waiters are told that there will be none. */
	uint64_t patience; /* When it is over that memory may come of what was sent, */
	uint64_t rest;     /* and the rest after a pass in vain. */
	uint32_t fruitless; /* Pages sent since memory last came of that, */
	uint32_t refused;   /* and `pageouts_refused` after the last pass. */
} pageout = {
	.idle.waiters = LIST_INITIALIZER(pageout.idle.waiters),
	.resting.waiters = LIST_INITIALIZER(pageout.resting.waiters),
};

/* ---------------- How much there is ---------------- */

static bool pageout_is_patient(void)
{
	return clock_now() < pageout.patience;
}

/* Whether more pages have to be taken than are on their way out already. */
static bool pageout_is_lacking(void)
{
	uint32_t expected = pageout_is_patient() ? pager_swap_flights : 0;

	return page_count(PAGE_FREE) + expected < page_target();
}

static uint32_t pageout_pages_on_queues(void)
{
	return page_queue_length(PAGE_QUEUE_ACTIVE) + page_queue_length(PAGE_QUEUE_INACTIVE);
}

/* ---------------- One page ---------------- */

/*
 * Whether the page, whose `dirty` is up to date, has nothing that is not elsewhere too, and what
 * its slot says when it is gone.  A clean page of an object with nobody behind it has never been
 * written to: it is zeroes.
 */
static bool pageout_can_drop(const struct page *page, struct page **mark)
{
	const struct object *object = page->object;

	if (page->dirty || page->precious)
		return false;
	if (page->in_swap) {
		*mark = SLOT_SWAPPED;
		return true;
	}
	*mark = SLOT_EMPTY;
	return !object->dead && (object->pager != NULL || object->shadow == NULL);
}

/*
 * For whom there is this memory; what the daemon does else is the system's, and so is memory that a
 * server first touched when it did not know for whom.
 */
static bool pageout_put_away(struct page *page)
{
	struct thread *self = current_thread();
	uint32_t label = page->object->label;
	bool taken;

	machine_label_set(self, unclaimed_is_event(label) ? HOST_CALLS_SYSTEM : label);
	taken = pager_take_page(page);
	machine_label_set(self, HOST_CALLS_SYSTEM);
	return taken;
}

/* Takes an inactive page away, or puts it behind the others. */
static enum outcome pageout_take(struct page *page)
{
	struct page *mark;

	assert(page->queue == PAGE_QUEUE_INACTIVE && !pmap_page_is_mapped(page));
	if (pageout_can_drop(page, &mark)) {
		object_free_page(page, mark);
		return FREED;
	}
	if (!page->precious)
		page->dirty = true;
	if (pageout_put_away(page)) {
		pageouts++;
		pageout.fruitless++;
		pageout.patience = clock_now() + PATIENCE_NS;
		return SENT;
	}
	page_deactivate(page);
	return pager_can_take(page) ? BUSY : STUCK;
}

/* Deactivates an active page, or puts it behind the others if it could not be taken. */
static void pageout_age(struct page *page)
{
	struct page *mark;

	pmap_page_is_dirty(page);
	if (pageout_can_drop(page, &mark) || pager_can_take(page))
		page_deactivate(page);
	else
		page_activate(page);
}

/* ---------------- A pass ---------------- */

/* After so many pages others get the lock and the CPU; no page is in hand then. */
static void pageout_rest_now_and_then(const struct pass *pass)
{
	if ((pass->looks + pass->ages) % PAUSE_TURNS == 0)
		kernel_rest();
}

/* Deactivates pages until a third of all is inactive. */
static void pageout_age_some(struct pass *pass)
{
	while (pass->ages > 0 &&
	       2 * page_queue_length(PAGE_QUEUE_INACTIVE) < page_queue_length(PAGE_QUEUE_ACTIVE)) {
		pageout_age(page_queue_first(PAGE_QUEUE_ACTIVE));
		pass->ages--;
		pageout_rest_now_and_then(pass);
	}
}

static void pageout_take_some(struct pass *pass)
{
	while (pass->looks > 0 && pageout_is_lacking() && pass->outcomes[BUSY] < BUSY_MAX) {
		struct page *page;

		pageout_age_some(pass);
		page = page_queue_first(PAGE_QUEUE_INACTIVE);
		if (page == NULL)
			return;
		pass->outcomes[pageout_take(page)]++;
		pass->looks--;
		pageout_rest_now_and_then(pass);
	}
}

/* What the kernel itself has and does not use; a pass that finds only this may be in vain. */
static void pageout_give_back(void)
{
	zones_trim();
	kernel_stacks_trim();
	if (pageout_is_lacking())
		tasks_trim();
}

static void pageout_run_pass(struct pass *pass)
{
	*pass = (struct pass){
		.looks = pageout_pages_on_queues(),
		.ages = page_queue_length(PAGE_QUEUE_ACTIVE),
	};
	if (pageout_is_lacking())
		pageout_give_back();
	while (pageout_is_lacking() && pager_cache_trim()) {
		pass->outcomes[FREED]++;
		kernel_rest();
	}
	pageout_take_some(pass);
}

/*
 * Whether no memory will come.  A default pager that has no room left may keep all that it is sent:
 * then this is so when more has been sent in vain than is left.
 */
static bool pageout_is_hopeless(const struct pass *pass)
{
	if (pass->outcomes[FREED] > 0)
		return false;
	if (pageout.fruitless > pageout_pages_on_queues() + pager_swap_flights)
		return true;
	return pass->outcomes[BUSY] == 0 && !pageout_is_patient();
}

static bool pageout_has_waiters(void)
{
	for (enum page_class who = 0; who < PAGE_CLASSES; who++)
		if (!list_empty(&pageout.waiters[who].waiters))
			return true;
	return false;
}

/* Whether somebody is held up: a thread that waits, or the kernel, whose callers try again. */
static bool pageout_is_missed(void)
{
	return pageout_has_waiters() || page_count(PAGE_FREE) <= page_levels.kernel;
}

/*
 * Programs that take turns in dropping each other's text and reading it again find a page now and
 * then, when the default pager has no room; that alone is no reason to go on for ever.
 */
static void pageout_note_fruits(const struct pass *pass)
{
	bool has_room = pageouts_refused == pageout.refused;
	uint32_t made_up = has_room ? pageout.fruitless : pass->outcomes[FREED] * DROP_WORTH;

	pageout.refused = pageouts_refused;
	if (page_is_free_for(PAGE_FOR_SYSTEM))
		pageout.fruitless -= made_up < pageout.fruitless ? made_up : pageout.fruitless;
}

/* Somebody is ended, and whoever waits goes on waiting for that memory; or is told the truth. */
static void pageout_end_or_refuse(void)
{
	if (culprit_end()) {
		pageout.fruitless = 0;
		return;
	}
	pageout.refusals++;
	for (enum page_class who = 0; who < PAGE_CLASSES; who++)
		thread_wake_all(&pageout.waiters[who]);
}

/* Those first that leave least. */
static void pageout_wake_waiters(void)
{
	for (enum page_class who = 0; who < PAGE_CLASSES; who++)
		if (page_is_free_for(who))
			thread_wake_all(&pageout.waiters[who]);
}

static void pageout_tell_waiters(const struct pass *pass)
{
	pageout_note_fruits(pass);
	pageout_wake_waiters();
	if (!page_is_free_for(PAGE_FOR_USER) && pageout_is_hopeless(pass) && pageout_is_missed())
		pageout_end_or_refuse();
}

/* ---------------- The daemon ---------------- */

/* Waits until another pass makes sense. */
static void pageout_await_next(const struct pass *pass)
{
	bool success = pass->outcomes[FREED] > 0 || pass->outcomes[SENT] > 0;

	if (page_count(PAGE_FREE) < page_target() && (success || pageout_has_waiters()))
		thread_wait(&pageout.resting, tick_after_ms(RETRY_MS), WAIT_UNINTERRUPTIBLE);
	if (!success)
		pageout.rest = clock_now() + REST_NS;
	while (!pageout.wanted && !pageout_has_waiters() && !(success && pageout_is_lacking())) {
		thread_wait(&pageout.idle, WAIT_FOREVER, WAIT_UNINTERRUPTIBLE);
		/* What was in vain in an earlier shortage says nothing about the next. */
		pageout.fruitless = 0;
	}
	pageout.wanted = false;
}

static void pageout_thread(void)
{
	struct pass pass;

	current_thread()->vm_privileged = true;
	for (;;) {
		pageout_run_pass(&pass);
		pageout_tell_waiters(&pass);
		pageout_await_next(&pass);
	}
}

uint32_t pageout_timers(void)
{
	return list_empty(&pageout.resting.waiters) ? 0 : 1;
}

void pageout_start(void)
{
	assert(kernel_locked() && pageout.daemon == NULL);
	for (enum page_class who = 0; who < PAGE_CLASSES; who++)
		wait_queue_init(&pageout.waiters[who]);
	pageout.daemon = thread_create_kernel(pageout_thread, PRIORITY_SYSTEM);
	if (pageout.daemon == NULL)
		panic("no memory for the page-out daemon");
}

static void pageout_want(void)
{
	pageout.wanted = true;
	thread_wake_all(&pageout.idle);
}

void pageout_wake(void)
{
	if (!pageout.wanted && clock_now() >= pageout.rest)
		pageout_want();
}

/*
 * A thread that makes memory free itself does not depend on the daemon: pages below what users may
 * have are enough for it, so it looks again soon.
 */
bool page_wait(void)
{
	bool privileged = current_thread()->vm_privileged;
	enum page_class who = page_caller_class();
	uint32_t refusals = pageout.refusals;
	enum wait_result result;

	may_block();
	if (pageout.daemon == NULL || page_is_free_for(who))
		return false;
	assert(current_thread() != pageout.daemon);
	pageout_want();
	thread_wake_all(&pageout.resting);
	result = thread_wait(&pageout.waiters[who],
			     privileged ? tick_after_ms(RETRY_MS) : WAIT_FOREVER, WAIT_PAGE);
	return result != WAIT_INTERRUPTED && refusals == pageout.refusals;
}
