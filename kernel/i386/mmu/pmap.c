/* SPDX-License-Identifier: MIT */
/* Page tables: see pmap.h.  Guarded by the kernel lock. */
#include "i386/mmu/pmap.h"

#include <stddef.h>

#include "base/lock.h"
#include "base/owner.h"
#include "i386/mmu/pmap_entry.h"
#include "i386/mmu/pmap_mapping.h"
#include "i386/mmu/shootdown.h"

extern pte_t kernel_directory[TABLE_ENTRIES];
extern char kernel_start[], kernel_text_end[], kernel_data[], kernel_end[], boot_stack_guard[];
extern char call_thunks[];

struct pmap kernel_pmap __attribute__((aligned(32)));

/* ---------------- Entries ---------------- */

pte_t pmap_kernel_bits(uint32_t rights)
{
	pte_t bits = PTE_PRESENT | (cpu_features.global_pages ? PTE_GLOBAL : 0);

	if ((rights & PMAP_WRITE) != 0)
		bits |= PTE_WRITE;
	if ((rights & PMAP_EXECUTE) == 0 && cpu_features.nx)
		bits |= PTE_NX;
	return bits;
}

/* The kernel's entry of the last level for `address`, or NULL if its table is not there. */
static pte_t *pmap_kernel_entry(uint32_t address)
{
	pte_t directory = kernel_directory[address / LARGE_SIZE % TABLE_ENTRIES];

	if ((directory & PTE_PRESENT) == 0)
		return NULL;
	assert((directory & PTE_LARGE) == 0);
	return &table_of(directory)[address / PAGE_SIZE % TABLE_ENTRIES];
}

struct page *pmap_lookup(struct pmap *pmap, uint32_t address, uint32_t *rights)
{
	uint32_t table = pmap_table_there(pmap, address);
	const struct halves *entry;

	if (table == 0)
		return NULL;
	entry = (struct halves *)table_of(table) + address / PAGE_SIZE % TABLE_ENTRIES;
	if (entry->low == 0)
		return NULL;
	*rights = entry_rights(entry);
	return page_of_entry(entry->low);
}

/* ---------------- User address spaces ---------------- */

/*
 * A new, empty table or directory for what lies from `base` on; NULL when there is no memory.  Who
 * touches memory may be without a table at any time, so this is no place that tests let fail.
 */
static struct page *pmap_table_new(struct pmap *pmap, uint32_t base)
{
	struct page *table;

	if (pmap->payer != NULL && !owner_may_have(pmap->payer, OWNER_TABLES, 1))
		return NULL;
	table = (page_alloc_zeroed)(PAGE_TABLE);
	if (table == NULL)
		return NULL;
	pmap->tables++;
	if (pmap->payer != NULL)
		owner_burden(pmap->payer, OWNER_TABLES, 1);
	table->pmap = pmap;
	table->linked = 0;
	table->mappings = 0;
	table->table.base = base;
	table->table.used = 0;
	return table;
}

/*
 * Makes the table for `address`, which is not there, and its directory if need be.  As for
 * pmap_table_made().  Not inlined: else pmap_enter() takes four instructions more (tools/bench
 * allocate-touch).
 */
static __attribute__((noinline)) uint32_t pmap_table_make(struct pmap *pmap, uint32_t address)
{
	pte_t *quarter = &pmap->pdpt[address / QUARTER_SIZE];
	uint32_t n = address / LARGE_SIZE % TABLE_ENTRIES;
	struct page *directory, *table;

	assert(kernel_locked());
	assert(address >= USER_START && address < USER_END);
	if ((*quarter & PTE_PRESENT) == 0) {
		directory = pmap_table_new(pmap, address & ~(QUARTER_SIZE - 1));
		if (directory == NULL)
			return 0;
		pte_set(quarter, page_physical(directory) | PTE_PRESENT);
		/* The CPU keeps the four top entries in registers: load them anew. */
		shootdown_reload(pmap);
	}
	directory = page_of_entry((uint32_t)*quarter);
	table = pmap_table_new(pmap, address & ~(LARGE_SIZE - 1));
	if (table == NULL)
		return 0;
	directory->table.used |= group_bit(n);
	pte_set(table_of(*quarter) + n, page_physical(table) | PTE_WRITE | LOW_USER);
	return page_physical(table);
}

/*
 * The physical address of the table for `address`, made if need be, and some bits more below it; 0
 * when there is no memory.
 */
static inline uint32_t pmap_table_made(struct pmap *pmap, uint32_t address)
{
	uint32_t table = pmap_table_there(pmap, address);

	return __builtin_expect(table != 0, 1) ? table : pmap_table_make(pmap, address);
}

/* Gives the page of an entry that is present `rights`, more or fewer than it has. */
static void pmap_change_rights(struct pmap *pmap, uint32_t address, struct halves *entry,
			       struct page *page, uint32_t rights)
{
	if (entry_restrict(entry, page, rights))
		shootdown_range(pmap, address, address + PAGE_SIZE);
	((volatile struct halves *)entry)->high = rights_high(rights);
	__atomic_or_fetch(&entry->low, rights & PMAP_WRITE, __ATOMIC_SEQ_CST);
}

/*
 * Where something is mapped already: changes its rights if it is `page`, else takes it away.  Says
 * whether `page` is still to be mapped.
 */
static bool pmap_make_way(struct pmap *pmap, uint32_t address, struct halves *entry,
			  struct page *page, uint32_t rights)
{
	if (page_of_entry(entry->low) == page) {
		pmap_change_rights(pmap, address, entry, page, rights);
		return false;
	}
	mapping_remove(page_of_entry(virt_to_phys(entry)), entry, entry_take(entry));
	shootdown_range(pmap, address, address + PAGE_SIZE);
	return true;
}

/* The end of most faults: where a table is, nothing is mapped, and the page nowhere else either. */
bool pmap_enter(struct pmap *pmap, uint32_t address, struct page *page, uint32_t rights)
{
	uint32_t low = pmap_table_made(pmap, address);
	uint32_t n = address / PAGE_SIZE % TABLE_ENTRIES;
	struct page *table = page_of_entry(low);
	struct halves *entry = (struct halves *)table_of(low) + n;

	assert(page->use == PAGE_USER);
	if (low == 0)
		return false;
	if (entry->low != 0 && !pmap_make_way(pmap, address, entry, page, rights))
		return true;
	if (!mapping_add(page, table, entry))
		return false;
	table->table.used |= group_bit(n);
	entry_set(entry, page, rights);
	pmap->pages++;
	return true;
}

/* ---------------- The kernel's own gigabyte ---------------- */

/* Makes `*slot` name a new, empty table, for good; false when there is no memory. */
static bool pmap_kernel_table_add(pte_t *slot)
{
	struct page *page = page_alloc_zeroed(PAGE_KERNEL_TABLE);

	if (page == NULL)
		return false;
	pte_set(slot, page_physical(page) | PTE_PRESENT | PTE_WRITE);
	return true;
}

pte_t *pmap_kernel_table(uint32_t address)
{
	pte_t *directory = &kernel_directory[address / LARGE_SIZE % TABLE_ENTRIES];

	if ((*directory & PTE_PRESENT) == 0 && !pmap_kernel_table_add(directory))
		return NULL;
	return table_of(*directory);
}

bool pmap_enter_kernel(uint32_t address, struct page *page)
{
	pte_t *table = pmap_kernel_table(address), *pte;

	if (table == NULL)
		return false;
	pte = &table[address / PAGE_SIZE % TABLE_ENTRIES];
	assert((*pte & PTE_PRESENT) == 0);
	pte_set(pte, page_physical(page) | pmap_kernel_bits(PMAP_READ | PMAP_WRITE));
	return true;
}

void pmap_remove_kernel(uint32_t start, uint32_t end)
{
	assert(start >= STACK_BASE && start <= end);
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		pte_t *pte = pmap_kernel_entry(address);

		assert(pte != NULL && (*pte & PTE_PRESENT) != 0);
		pte_clear(pte);
	}
	shootdown_kernel_range(start, end);
}

bool pmap_kernel_is_mapped(uint32_t address)
{
	pte_t directory = kernel_directory[address / LARGE_SIZE % TABLE_ENTRIES];

	if ((directory & PTE_PRESENT) == 0)
		return false;
	if ((directory & PTE_LARGE) != 0)
		return true;
	return (table_of(directory)[address / PAGE_SIZE % TABLE_ENTRIES] & PTE_PRESENT) != 0;
}

/* What the kernel may do with its own memory at `address`; 0: not even read. */
static uint32_t pmap_image_rights(uint32_t address)
{
	if (address == (uint32_t)boot_stack_guard)
		return 0;
	if (address >= (uint32_t)call_thunks && address < (uint32_t)kernel_end)
		return PMAP_READ | PMAP_EXECUTE;
	if (address < (uint32_t)kernel_start || address >= (uint32_t)kernel_data)
		return PMAP_READ | PMAP_WRITE;
	if (address < page_round((uint32_t)kernel_text_end))
		return PMAP_READ | PMAP_EXECUTE;
	return PMAP_READ;
}

/* Replaces a large page of the direct map by a table with the rights of each page. */
static void pmap_split_large(uint32_t start)
{
	ALLOCATES_AT_BOOT;
	struct page *page = page_alloc_zeroed(PAGE_KERNEL_TABLE);
	pte_t *table;

	assert(page != NULL);
	table = page_data(page);
	for (unsigned n = 0; n < TABLE_ENTRIES; n++) {
		uint32_t address = start + n * PAGE_SIZE;
		uint32_t rights = pmap_image_rights(address);

		if (rights != 0)
			table[n] = (address - KERNEL_BASE) | pmap_kernel_bits(rights);
	}
	pte_set(&kernel_directory[start / LARGE_SIZE % TABLE_ENTRIES],
		page_physical(page) | PTE_PRESENT | PTE_WRITE);
}

/* What is still mapped by large pages is data. */
static void pmap_protect_large_pages(void)
{
	for (uint32_t n = 0; n < DIRECT_MAP_SIZE / LARGE_SIZE; n++)
		if ((kernel_directory[n] & PTE_LARGE) != 0)
			kernel_directory[n] |=
				pmap_kernel_bits(PMAP_READ | PMAP_WRITE) & (PTE_NX | PTE_GLOBAL);
}

void pmap_init(void)
{
	kernel_pmap = (struct pmap){
		.magic = PMAP_MAGIC,
		.pdpt[3] = virt_to_phys(kernel_directory) | PTE_PRESENT,
	};
	for (uint32_t start = KERNEL_BASE; start < (uint32_t)kernel_end; start += LARGE_SIZE)
		pmap_split_large(start);
	pmap_protect_large_pages();
	pmap_load(cpu_self(), &kernel_pmap);
	cpu_global_pages_enable();
}

void pmap_set_executable(void *address, bool executable)
{
	pte_t *pte = pmap_kernel_entry((uint32_t)address);
	uint32_t rights = PMAP_READ | PMAP_WRITE | (executable ? PMAP_EXECUTE : 0);

	pte_set(pte, (*pte & PTE_FRAME) | pmap_kernel_bits(rights));
	shootdown_kernel_page((uint32_t)address);
}

/* ---------------- Devices ---------------- */

void device_map_at(uint32_t address, uint32_t physical)
{
	pte_t *table = pmap_kernel_table(address);

	assert(table != NULL);
	pte_set(&table[address / PAGE_SIZE % TABLE_ENTRIES],
		page_trunc(physical) | pmap_kernel_bits(PMAP_READ | PMAP_WRITE) | PTE_UNCACHED);
	shootdown_kernel_page(address);
}

/* Whether `pages` pages from `address` on are free for a device. */
static bool pmap_device_room(uint32_t address, uint32_t pages)
{
	for (uint32_t n = 0; n < pages; n++) {
		pte_t *pte = pmap_kernel_entry(address + n * PAGE_SIZE);

		if (pte != NULL && (*pte & PTE_PRESENT) != 0)
			return false;
	}
	return true;
}

void *device_map(uint32_t physical, uint32_t size)
{
	uint32_t offset = physical & PAGE_MASK;
	uint32_t pages;

	if (size == 0 || size > DEVICE_END - DEVICE_BASE - PAGE_SIZE)
		return NULL;
	pages = page_round(offset + size) / PAGE_SIZE;
	for (uint32_t start = DEVICE_BASE; start <= DEVICE_END - pages * PAGE_SIZE;
	     start += PAGE_SIZE) {
		if (!pmap_device_room(start, pages))
			continue;
		for (uint32_t n = 0; n < pages; n++)
			device_map_at(start + n * PAGE_SIZE, physical + n * PAGE_SIZE);
		return (void *)(start + offset);
	}
	return NULL;
}

void device_unmap(void *address, uint32_t size)
{
	uint32_t start = page_trunc((uint32_t)address);
	uint32_t end = page_round((uint32_t)address + size);

	for (; start < end; start += PAGE_SIZE) {
		pte_clear(pmap_kernel_entry(start));
		shootdown_kernel_page(start);
	}
}
