/* SPDX-License-Identifier: MIT */
/*
 * The allocator of physical pages (vm/page/page.h).
 *
 * Owns the page structures, the free list and the untouched ranges.  Guarded by the kernel lock.
 *
 * A page is untouched until it is first allocated: neither its contents nor its structure have been
 * read or written.  Then its structure gets its magic number, and from there on it is either in use
 * or on the free list, which is a stack, so that the page freed last, whose contents may still be
 * in the cache, goes out first.
 */
#include "vm/page/page.h"

#include "base/assert.h"
#include "base/log.h"
#include "i386/cpu/memory.h"
#include "thread/work.h"
#include "vm/pager/pageout.h"

/* Firmware reports a few dozen ranges at most, and each boot program gives back one. */
#define MAX_RANGES 64

/* Page numbers: from `next` to `end` untouched, from `start` to `next` allocated at least once. */
struct page_range {
	uint32_t start;
	uint32_t next;
	uint32_t end;
};

struct page *page_array;
struct page_levels page_levels; /* All 0 at first: nobody waits for pages yet, so none are kept. */

static struct {
	struct page *free; /* The free list. */
	uint32_t counts[PAGE_USES];
	uint32_t limit; /* There is a structure for each page number below this one. */
	struct page_range ranges[MAX_RANGES];
	unsigned n_ranges;
	unsigned current; /* The ranges before this one have no untouched page. */
} memory;

_Static_assert(sizeof(void *) != 4 || sizeof(struct page) == 32, "a power of two on the machine");

/*
 * The array's contents are not looked at: clearing it would cost 8 KiB for each MiB of the machine,
 * most of which no run ever uses.
 */
size_t page_init(struct page *array, uint32_t limit)
{
	uint32_t pages = limit >> PAGE_SHIFT;

	assert(limit <= DIRECT_MAP_SIZE);
	if (array != NULL) {
		page_array = array;
		memory.limit = pages;
		memory.free = NULL;
		memory.n_ranges = 0;
		memory.current = 0;
		for (unsigned use = 0; use < PAGE_USES; use++)
			memory.counts[use] = 0;
	}
	return pages * sizeof(struct page);
}

/* Against all that has ever been given, allocated or not. */
static bool page_ranges_overlap(uint32_t start, uint32_t end)
{
	for (unsigned i = 0; i < memory.n_ranges; i++) {
		if (start < memory.ranges[i].end && memory.ranges[i].start < end)
			return true;
	}
	return false;
}

/* Lengthens the range that ends at `start`, so that pieces given one by one need no slots. */
static bool page_range_extend(uint32_t start, uint32_t end)
{
	for (unsigned i = 0; i < memory.n_ranges; i++) {
		if (memory.ranges[i].end != start)
			continue;
		memory.ranges[i].end = end;
		if (memory.current > i)
			memory.current = i;
		return true;
	}
	return false;
}

/* False when there is no slot left. */
static bool page_range_append(uint32_t start, uint32_t end)
{
	if (memory.n_ranges == MAX_RANGES)
		return false;
	memory.ranges[memory.n_ranges++] = (struct page_range){start, start, end};
	return true;
}

/* A page that lies in the range only in part belongs to whatever has the other part. */
void page_add_range(uint32_t start, uint32_t end)
{
	/* Not page_round(): it would wrap around in the last page below 4 GiB. */
	uint32_t first = (start >> PAGE_SHIFT) + ((start & PAGE_MASK) != 0);
	uint32_t last = end >> PAGE_SHIFT;

	assert(page_array != NULL);
	if (last > memory.limit)
		last = memory.limit;
	if (first >= last)
		return;
	assert(!page_ranges_overlap(first, last));
	if (page_range_extend(first, last) || page_range_append(first, last))
		memory.counts[PAGE_FREE] += last - first;
	else
		klog("memory: %u KiB left alone, there are more than %u ranges\n",
		     (last - first) << (PAGE_SHIFT - 10), MAX_RANGES);
}

/* The structure of a page that nobody has touched becomes one of `use`. */
static inline struct page *page_touch_new(uint32_t number, enum page_use use)
{
	struct page *page = &page_array[number];

	page->magic = PAGE_MAGIC;
	page->use = (uint8_t)use;
	return page;
}

/* Puts the range's first untouched page on the free list. */
static void page_free_untouched(struct page_range *range)
{
	struct page *page = page_touch_new(range->next++, PAGE_FREE);

	page->next_free = memory.free;
	memory.free = page;
}

/*
 * The next untouched page, free and on no list; NULL when there is none.  What few allocations need
 * is not inlined, here and in page_may_have_last(): if it is, each takes 36 instructions instead of
 * 29 (tools/bench allocate-touch).
 */
static __attribute__((noinline)) struct page *page_touch(void)
{
	struct page_range *range = &memory.ranges[memory.current];
	struct page *page;

	for (; memory.current < memory.n_ranges && range->next == range->end; range++)
		memory.current++;
	if (memory.current == memory.n_ranges)
		return NULL;
	assert(range->next < range->end && range->end <= memory.limit);
	page = page_touch_new(range->next++, PAGE_FREE);
	page->next_free = NULL;
	return page;
}

/* ---------------- The last pages ---------------- */

#define SERVED_PART 4 /* Of the reserve this part is left when users are served. */

static uint32_t page_reserve(void)
{
	return page_users_are_there() ? page_levels.reserve : 0;
}

/* How many pages more than the system itself a class leaves. */
static uint32_t page_left_by(enum page_class who)
{
	if (who == PAGE_FOR_SYSTEM)
		return 0;
	return who == PAGE_FOR_SERVED ? page_reserve() / SERVED_PART : page_reserve();
}

/* Below page_target() for all classes, or the daemon would be done while somebody still waits. */
uint32_t page_level(enum page_class who)
{
	return page_levels.user + page_left_by(who);
}

uint32_t page_target(void)
{
	return page_levels.target + page_reserve();
}

/*
 * How many pages the current thread has to leave.  Most of what asks for the kernel's own does not
 * wait, but fails; so that happens to a user only when his programs have long been waiting.  It is
 * less than for a PAGE_USER page in each class: whoever has one, and finds no memory for its slot,
 * is to wait when he has given it back.
 */
static uint32_t page_kept(enum page_use use)
{
	enum page_class who = page_caller_class();

	if (use == PAGE_USER)
		return page_level(who);
	return page_levels.kernel + page_left_by(who == PAGE_FOR_USER ? PAGE_FOR_SERVED : who);
}

/*
 * Whether the current thread may have one of the last pages, of which it has the page-out daemon
 * make more.
 */
static __attribute__((noinline)) bool page_may_have_last(enum page_use use)
{
	uint32_t free = memory.counts[PAGE_FREE];

	if (page_levels.wake == 0)
		return free > 0;
	if (free <= page_levels.wake + page_reserve())
		pageout_wake();
	return free > page_kept(use) || (free > 0 && page_caller_is_privileged());
}

/* ---------------- Pages one by one ---------------- */

/*
 * The path that is almost always taken is under 30 instructions, nine of them checks.  A page on
 * the free list that is not free has been freed twice or written to by someone who no longer has
 * it.
 */
struct page *(page_alloc)(enum page_use use)
{
	struct page *page = memory.free;

	assert(use > PAGE_FREE && use < PAGE_USES);
	if (memory.counts[PAGE_FREE] <= page_levels.few && !page_may_have_last(use))
		return NULL;
	if (page == NULL)
		page = page_touch();
	if (page == NULL)
		return NULL;
	assert(page->magic == PAGE_MAGIC);
	assert(page->use == PAGE_FREE);
	memory.free = page->next_free;
	memory.counts[PAGE_FREE]--;
	memory.counts[use]++;
	page->use = (uint8_t)use;
	if (use == PAGE_USER)
		page_init_user(page);
	return page;
}

struct page *(page_alloc_zeroed)(enum page_use use)
{
	struct page *page = (page_alloc)(use);

	if (page != NULL)
		page_clear(page_data(page));
	return page;
}

/* The contents stay as they are: whoever needs a clear page asks for one. */
void page_free(struct page *page)
{
	assert(page->magic == PAGE_MAGIC);
	assert(page->use != PAGE_FREE && page->use < PAGE_USES);
	assert(memory.counts[page->use] > 0);
	if (page->use == PAGE_USER)
		assert((page->mappings | page->wirings | page->queue) == 0 && page->object == NULL);
	memory.counts[page->use]--;
	memory.counts[PAGE_FREE]++;
	page->use = PAGE_FREE;
	page->next_free = memory.free;
	memory.free = page;
}

/* ---------------- Pages in a row ---------------- */

/* Which pages are wanted, and by page number what may be the first and where all must end. */
struct run {
	enum page_use use;
	uint32_t n;
	uint32_t step; /* The first one's number is a multiple of this. */
	uint32_t least, end;
};

/* Page numbers from 64-bit addresses; 0 for `end` if there are no such pages. */
static bool page_run_init(struct run *run, enum page_use use, uint32_t n, uint32_t alignment,
			  uint64_t least, uint64_t end)
{
	uint64_t limit = (uint64_t)memory.limit << PAGE_SHIFT;

	assert(use > PAGE_FREE && use < PAGE_USES);
	assert(n > 0 && (alignment & (alignment - 1)) == 0);
	if (end > limit)
		end = limit;
	if (least >= end || n > memory.limit)
		return false;
	*run = (struct run){
		.use = use,
		.n = n,
		.step = alignment > PAGE_SIZE ? alignment >> PAGE_SHIFT : 1,
		.least = (uint32_t)((least + PAGE_MASK) >> PAGE_SHIFT),
		.end = (uint32_t)(end >> PAGE_SHIFT),
	};
	return true;
}

/* Whether the caller may have as many; as page_may_have_last(). */
static bool page_run_is_allowed(const struct run *run)
{
	uint32_t kept = 0, free = memory.counts[PAGE_FREE];

	if (page_levels.wake != 0 && !page_caller_is_privileged())
		kept = page_kept(run->use);
	if (free >= run->n && free - run->n >= kept)
		return true;
	pageout_wake();
	return false;
}

/* The first place of the run's in [from, end); false if that is too small. */
static bool page_run_place(const struct run *run, uint32_t from, uint32_t end, uint32_t *place)
{
	if (from < run->least)
		from = run->least;
	if (end > run->end)
		end = run->end;
	*place = (from + run->step - 1) & ~(run->step - 1);
	return *place < end && run->n <= end - *place;
}

/* Free pages, whose structures have been touched or are now, become the run's. */
static void page_run_give(const struct run *run, struct page *page)
{
	memory.counts[PAGE_FREE]--;
	memory.counts[run->use]++;
	page->use = (uint8_t)run->use;
	if (run->use == PAGE_USER)
		page_init_user(page);
}

/*
 * From the untouched pages of a range.  Those before the place, if it is not the first one, become
 * free pages like others; in a pause others may take pages, also some of these.
 */
static struct page *page_run_from_untouched(const struct run *run, struct page_range *range)
{
	uint32_t place, last;

	if (!page_run_place(run, range->next, range->end, &place))
		return NULL;
	while (range->next < place) {
		page_free_untouched(range);
		pause_each();
	}
	last = place + run->n;
	if (range->next != place || last > range->end)
		return NULL;
	range->next = last;
	for (uint32_t number = place; number < last; number++) {
		page_run_give(run, page_touch_new(number, PAGE_FREE));
		pause_each();
	}
	return &page_array[place];
}

/* The first page in [place, last) of the range that is in use; `last` if none is. */
static uint32_t page_first_in_use(const struct page_range *range, uint32_t place, uint32_t last)
{
	for (; place < last && place < range->next; place++) {
		if (page_array[place].use != PAGE_FREE)
			return place;
		pause_each();
	}
	return last;
}

/* Looks for a place in a range whose pages are all free; it may be no more after the next pause. */
static bool page_run_search(const struct run *run, const struct page_range *range, uint32_t *place)
{
	uint32_t from = range->start;

	while (page_run_place(run, from, range->end, place)) {
		uint32_t in_use = page_first_in_use(range, *place, *place + run->n);

		if (in_use == *place + run->n)
			return true;
		from = in_use + 1;
		pause_each();
	}
	return false;
}

static void page_push(struct page **list, struct page *page)
{
	page->next_free = *list;
	*list = page;
}

/*
 * Moves the pages of the place from the free list to one of their own, as many as are on it still;
 * returns how many.  What has not been looked at is out of others' reach in a pause, so that what
 * is looked for cannot go.
 */
static uint32_t page_take_from_list(const struct run *run, uint32_t place, struct page **mine)
{
	struct page *page = memory.free, *next;
	uint32_t taken = 0;

	memory.free = NULL;
	for (; page != NULL; page = next) {
		next = page->next_free;
		assert(page->magic == PAGE_MAGIC && page->use == PAGE_FREE);
		if ((uint32_t)(page - page_array) - place < run->n) {
			page_push(mine, page);
			taken++;
		} else {
			page_push(&memory.free, page);
		}
		pause_each();
	}
	return taken;
}

/* Takes the place, whose pages were free a moment ago: all of them or none. */
static struct page *page_run_take(const struct run *run, struct page_range *range, uint32_t place)
{
	struct page *mine = NULL, *page;
	uint32_t taken;

	while (range->next < place + run->n) {
		page_free_untouched(range);
		pause_each();
	}
	taken = page_take_from_list(run, place, &mine);
	while ((page = mine) != NULL) {
		mine = page->next_free;
		if (taken == run->n)
			page_run_give(run, page);
		else
			page_push(&memory.free, page);
		pause_each();
	}
	return taken == run->n ? &page_array[place] : NULL;
}

struct page *(page_alloc_run)(enum page_use use, uint32_t n, uint32_t alignment, uint64_t least,
			      uint64_t end)
{
	struct page *first = NULL;
	struct run run;
	uint32_t place;

	if (!page_run_init(&run, use, n, alignment, least, end) || !page_run_is_allowed(&run))
		return NULL;
	for (unsigned i = 0; i < memory.n_ranges && first == NULL; i++)
		first = page_run_from_untouched(&run, &memory.ranges[i]);
	for (unsigned i = 0; i < memory.n_ranges && first == NULL; i++)
		if (page_run_search(&run, &memory.ranges[i], &place))
			first = page_run_take(&run, &memory.ranges[i], place);
	return first;
}

/* Trusts the structure: whoever holds a page has got it from this file. */
uint32_t page_physical(const struct page *page)
{
	return (uint32_t)(page - page_array) << PAGE_SHIFT;
}

void *page_data(const struct page *page)
{
	return phys_to_virt(page_physical(page));
}

/*
 * Checks what it finds: the address comes from a page table or a pointer.  The magic number of an
 * untouched page is whatever memory held, so a wrong address is not sure to be caught here.
 */
struct page *page_of_physical(uint32_t physical)
{
	uint32_t number = physical >> PAGE_SHIFT;
	struct page *page;

	assert(number < memory.limit);
	page = &page_array[number];
	assert(page->magic == PAGE_MAGIC);
	return page;
}

/* An address outside of the direct map becomes a page number beyond the limit. */
struct page *page_of_data(const void *data)
{
	return page_of_physical(virt_to_phys(data));
}

/* Counted where pages change hands, so that a balance costs nothing to take. */
uint32_t page_count(enum page_use use)
{
	assert(use < PAGE_USES);
	return memory.counts[use];
}

uint32_t page_count_all(void)
{
	uint32_t all = 0;

	for (unsigned use = 0; use < PAGE_USES; use++)
		all += memory.counts[use];
	return all;
}

#define LEVEL_SHARE   256u               /* Of so many pages one counts for the levels, */
#define LEVEL_MOST    (64 * LEVEL_SHARE) /* of so many at most, which are 64 MiB; */
#define LEVEL_RESERVE 16u                /* so many times that is the reserve. */

/*
 * Each level is a few pages, which is what one step of whoever needs them takes at most, and a part
 * of memory, as the more there is the more goes on at once; beyond 64 MiB that part does not grow.
 * The system cannot have 2.3 % of 4 MiB, 1.2 % of 16 MiB and 0.2 % of 256 MiB.  The reserve, a
 * sixteenth, is what some of root's programs need while nothing comes free.
 */
void page_levels_set(void)
{
	uint32_t part = page_count_all();

	part = (part < LEVEL_MOST ? part : LEVEL_MOST) / LEVEL_SHARE;
	page_levels.kernel = 12 + part;
	page_levels.user = page_levels.kernel + 4 + part;
	page_levels.wake = page_levels.user + 4 + part;
	page_levels.target = page_levels.wake + 8 + 2 * part;
	page_levels.reserve = LEVEL_RESERVE * part;
	page_levels.few = page_levels.wake + page_levels.reserve;
}
