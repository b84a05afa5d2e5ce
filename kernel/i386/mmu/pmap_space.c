/* SPDX-License-Identifier: MIT */
/*
 * What goes through many of a task's translations: taking them or rights away, and the end of a
 * whole address space.  Guarded by the kernel lock.
 *
 * Most entries of most tables are absent.  The walks here look only at groups of them of which one
 * ever was used (`used` of a table).
 */
#include <stddef.h>

#include <assay/list.h>
#include "base/assert.h"
#include "base/lock.h"
#include "base/owner.h"
#include "base/zone.h"
#include "i386/mmu/pmap.h"
#include "i386/mmu/pmap_entry.h"
#include "i386/mmu/pmap_mapping.h"
#include "i386/mmu/shootdown.h"
#include "i386/thread/io_permission.h"
#include "thread/work.h"
#include "vm/page/page.h"

static struct zone pmap_zone;

void pmap_zone_init(void)
{
	zone_init(&pmap_zone, "pmaps", sizeof(struct pmap), 32);
	owner_set_price(OWNER_TABLES, 2 * PAGE_SIZE); /* It and its links. */
}

struct pmap *pmap_create(void)
{
	struct pmap *pmap = zone_alloc(&pmap_zone);

	if (pmap != NULL)
		*pmap = (struct pmap){.magic = PMAP_MAGIC, .pdpt[3] = kernel_pmap.pdpt[3]};
	return pmap;
}

/* The page of the table or directory that an entry names. */
static struct page *pmap_space_table_page(uint32_t low)
{
	struct page *table = page_of_entry(low);

	assert(table->use == PAGE_TABLE);
	return table;
}

/* The number of the first entry from `n` on that is present; `end` or more if there is none. */
static uint32_t pmap_space_next_present(const struct page *table, uint32_t n, uint32_t end)
{
	const struct halves *entries = page_data(table);

	while (n < end) {
		uint32_t used = table->table.used >> n / GROUP;

		if (used == 0)
			return end;
		if ((used & 1) == 0)
			n = (n / GROUP + (uint32_t)__builtin_ctz(used)) * GROUP;
		do {
			if (entries[n].low != 0)
				return n;
		} while (++n % GROUP != 0);
	}
	return end;
}

/* ---------------- Ranges ---------------- */

struct change {
	struct pmap *pmap;
	uint32_t start, end;    /* The range, */
	uint32_t rights;        /* and which rights are left there: 0, or some with PMAP_READ. */
	uint32_t changed_start; /* Where something has been taken away so far. */
	uint32_t changed_end;
};

/* The numbers of the entries of `table`, with `size` bytes under each, that the range is in. */
static inline uint32_t pmap_space_change_first(const struct change *change,
					       const struct page *table, uint32_t size)
{
	uint32_t base = table->table.base;

	return change->start > base ? (change->start - base) / size : 0;
}

static inline uint32_t pmap_space_change_end(const struct change *change, const struct page *table,
					     uint32_t size)
{
	uint32_t last = (change->end - 1 - table->table.base) / size;

	return last < TABLE_ENTRIES ? last + 1 : TABLE_ENTRIES;
}

/*
 * Leaves one that is present these rights; says whether there was something to take away that a CPU
 * may remember.
 */
static inline bool pmap_space_change_entry(struct page *table, struct halves *entry,
					   uint32_t rights)
{
	uint32_t low;

	if (rights != 0)
		return entry_restrict(entry, page_of_entry(entry->low), rights);
	low = entry_take(entry);
	mapping_remove(table, entry, low);
	return (low & LOW_USED) != 0;
}

static void pmap_space_change_table(struct change *change, struct page *table)
{
	struct halves *entries = page_data(table);
	uint32_t end = pmap_space_change_end(change, table, PAGE_SIZE);
	uint32_t n = pmap_space_next_present(
		table, pmap_space_change_first(change, table, PAGE_SIZE), end);

	while (n < end) {
		uint32_t address = table->table.base + n * PAGE_SIZE;

		if (pmap_space_change_entry(table, &entries[n], change->rights)) {
			if (change->changed_end == 0)
				change->changed_start = address;
			change->changed_end = address + PAGE_SIZE;
		}
		pause_each();
		n = pmap_space_next_present(table, n + 1, end);
	}
}

static void pmap_space_change_directory(struct change *change, const struct page *directory)
{
	const struct halves *entries = page_data(directory);
	uint32_t end = pmap_space_change_end(change, directory, LARGE_SIZE);
	uint32_t n = pmap_space_next_present(
		directory, pmap_space_change_first(change, directory, LARGE_SIZE), end);

	while (n < end) {
		pmap_space_change_table(change, pmap_space_table_page(entries[n].low));
		n = pmap_space_next_present(directory, n + 1, end);
		if (n < end)
			kernel_pause();
	}
}

/* Of a page alone one knows where its entry is. */
static void pmap_space_change_page(struct pmap *pmap, uint32_t address, uint32_t rights)
{
	uint32_t low = pmap_table_there(pmap, address);
	struct halves *entry;

	if (low == 0)
		return;
	entry = (struct halves *)table_of(low) + address / PAGE_SIZE % TABLE_ENTRIES;
	if (entry->low != 0 && pmap_space_change_entry(page_of_entry(low), entry, rights))
		shootdown_range(pmap, address, address + PAGE_SIZE);
}

/* All CPUs are told once, when all is done, and only of where something was done. */
static void pmap_space_change_range(struct pmap *pmap, uint32_t start, uint32_t end,
				    uint32_t rights)
{
	struct change change = {.pmap = pmap, .start = start, .end = end, .rights = rights};

	assert(kernel_locked());
	assert(start <= end && end <= USER_END);
	if (pmap->pages == 0 || start == end)
		return;
	if (end - start == PAGE_SIZE) {
		pmap_space_change_page(pmap, start, rights);
		return;
	}
	for (uint32_t n = start / QUARTER_SIZE; n <= (end - 1) / QUARTER_SIZE; n++)
		if ((pmap->pdpt[n] & PTE_PRESENT) != 0)
			pmap_space_change_directory(&change,
						    pmap_space_table_page((uint32_t)pmap->pdpt[n]));
	if (change.changed_end != 0)
		shootdown_range(pmap, change.changed_start, change.changed_end);
}

/* ---------------- Empty tables ---------------- */

static bool pmap_space_is_empty(const struct page *table)
{
	return pmap_space_next_present(table, 0, TABLE_ENTRIES) >= TABLE_ENTRIES;
}

/* Moves the empty tables that the range is in out of the directory. */
static void pmap_space_take_empty(const struct change *change, const struct page *directory,
				  struct list *tables)
{
	struct halves *entries = page_data(directory);
	uint32_t end = pmap_space_change_end(change, directory, LARGE_SIZE);
	uint32_t n = pmap_space_next_present(
		directory, pmap_space_change_first(change, directory, LARGE_SIZE), end);

	while (n < end) {
		struct page *table = pmap_space_table_page(entries[n].low);

		if (pmap_space_is_empty(table)) {
			assert(table->linked == 0);
			entry_take(&entries[n]);
			list_add_last(tables, &table->link);
		}
		kernel_pause();
		n = pmap_space_next_present(directory, n + 1, end);
	}
}

/* A CPU may remember where a table is, so all are told before it becomes something else. */
static void pmap_space_free_taken(struct pmap *pmap, struct list *tables)
{
	shootdown_reload(pmap);
	while (!list_empty(tables)) {
		page_free(list_object(list_take_first(tables), struct page, link));
		pmap->tables--;
		if (pmap->payer != NULL)
			owner_uncharge(pmap->payer, OWNER_TABLES, 1);
		pause_each();
	}
}

/* Directories stay: a task has three at most. */
static void pmap_space_free_empty(struct pmap *pmap, uint32_t start, uint32_t end)
{
	const struct change change = {.start = start, .end = end};
	struct list tables = LIST_INITIALIZER(tables);

	for (uint32_t n = start / QUARTER_SIZE; n <= (end - 1) / QUARTER_SIZE; n++)
		if ((pmap->pdpt[n] & PTE_PRESENT) != 0)
			pmap_space_take_empty(
				&change, pmap_space_table_page((uint32_t)pmap->pdpt[n]), &tables);
	if (!list_empty(&tables))
		pmap_space_free_taken(pmap, &tables);
}

void pmap_trim(struct pmap *pmap)
{
	assert(kernel_locked());
	pmap_space_free_empty(pmap, USER_START, USER_END);
}

/* ---------------- Removing and protecting ---------------- */

void pmap_remove(struct pmap *pmap, uint32_t start, uint32_t end)
{
	pmap_space_change_range(pmap, start, end, 0);
	if (end - start >= LARGE_SIZE)
		pmap_space_free_empty(pmap, start, end);
}

void pmap_protect(struct pmap *pmap, uint32_t start, uint32_t end, uint32_t rights)
{
	pmap_space_change_range(pmap, start, end, (rights & PMAP_READ) != 0 ? rights : 0);
}

/* ---------------- Ending ---------------- */

/* The entries stay as they are: the table goes, and nobody looks at it any more. */
static void pmap_space_destroy_table(struct pmap *pmap, struct page *table)
{
	struct halves *entries = page_data(table);
	uint32_t n = 0;

	while (pmap->pages != 0) {
		n = pmap_space_next_present(table, n, TABLE_ENTRIES);
		if (n == TABLE_ENTRIES)
			break;
		mapping_remove(table, &entries[n], entries[n].low);
		n++;
		pause_each();
	}
	assert(table->linked == 0);
	page_free(table);
}

static void pmap_space_destroy_directory(struct pmap *pmap, struct page *directory)
{
	const struct halves *entries = page_data(directory);
	uint32_t n = pmap_space_next_present(directory, 0, TABLE_ENTRIES);

	while (n < TABLE_ENTRIES) {
		pmap_space_destroy_table(pmap, pmap_space_table_page(entries[n].low));
		kernel_pause();
		n = pmap_space_next_present(directory, n + 1, TABLE_ENTRIES);
	}
	page_free(directory);
}

/* No CPU has it loaded, so that none remembers its translations. */
void pmap_destroy(struct pmap *pmap)
{
	assert(kernel_locked());
	assert(pmap->magic == PMAP_MAGIC);
	assert(pmap->cpus == 0);
	for (unsigned n = 0; n < USER_END / QUARTER_SIZE; n++)
		if ((pmap->pdpt[n] & PTE_PRESENT) != 0)
			pmap_space_destroy_directory(
				pmap, pmap_space_table_page((uint32_t)pmap->pdpt[n]));
	assert(pmap->pages == 0);
	io_permissions_free(pmap->io);
	pmap->magic = 0;
	zone_free(&pmap_zone, pmap);
}
