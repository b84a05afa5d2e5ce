/* SPDX-License-Identifier: MIT */
/* Page tables: see pmap.h.  Guarded by the kernel lock. */
#include "i386/pmap.h"

#include <stddef.h>

#include "i386/memory.h"
#include "i386/pmap_entry.h"
#include "i386/shootdown.h"
#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "kern/lock.h"
#include "kern/work.h"

extern pte_t kernel_directory[TABLE_ENTRIES];
extern char kernel_start[], kernel_text_end[], kernel_data[], kernel_end[], boot_stack_guard[];

struct pmap kernel_pmap __attribute__((aligned(32)));

/* ---------------- Entries ---------------- */

static pte_t rights_bits(uint32_t rights)
{
	pte_t bits = PTE_MAPPED | (rights != 0 ? PTE_PRESENT : 0);

	if ((rights & PMAP_WRITE) != 0)
		bits |= PTE_WRITE;
	if ((rights & PMAP_EXECUTE) == 0 && cpu_features.nx)
		bits |= PTE_NX;
	return bits;
}

/* What an entry of a user's says that gives `rights` to `page`. */
static pte_t user_entry(const struct page *page, uint32_t rights)
{
	pte_t bits = rights_bits(rights) | PTE_USER;

	if ((bits & PTE_WRITE) != 0 && page->copying)
		bits ^= PTE_WRITE | PTE_COPY;
	return page_physical(page) | bits;
}

static pte_t kernel_bits(uint32_t rights)
{
	return rights_bits(rights) | (cpu_features.global_pages ? PTE_GLOBAL : 0);
}

static pte_t *directory_entry(struct pmap *pmap, uint32_t address)
{
	pte_t quarter = pmap->pdpt[address / QUARTER_SIZE];

	if ((quarter & PTE_PRESENT) == 0)
		return NULL;
	return &table_of(quarter)[address / LARGE_SIZE % TABLE_ENTRIES];
}

/* The entry of the last level for `address`, or NULL if its table is not there. */
static pte_t *entry(struct pmap *pmap, uint32_t address)
{
	pte_t *directory = directory_entry(pmap, address);

	if (directory == NULL || (*directory & PTE_PRESENT) == 0)
		return NULL;
	assert((*directory & PTE_LARGE) == 0);
	return &table_of(*directory)[address / PAGE_SIZE % TABLE_ENTRIES];
}

/* Makes `*slot` name a new, empty table; false when there is no memory. */
static bool table_add(pte_t *slot, pte_t bits, enum page_use use)
{
	struct page *page = page_alloc_zeroed(use);

	if (page == NULL)
		return false;
	page->span.first = TABLE_ENTRIES;
	page->span.end = 0;
	pte_set(slot, page_physical(page) | bits);
	return true;
}

/* Entry `n` of the user's table or directory is used from now on. */
static void note_use(struct page *table, uint32_t n)
{
	assert(table->use == PAGE_TABLE);
	if (n < table->span.first)
		table->span.first = (uint16_t)n;
	if (n >= table->span.end)
		table->span.end = (uint16_t)(n + 1);
}

/* ---------------- User address spaces ---------------- */

/*
 * The directory entry for `address`, its directory made if need be; NULL when there is no memory.
 */
static pte_t *directory_entry_made(struct pmap *pmap, uint32_t address)
{
	pte_t *quarter = &pmap->pdpt[address / QUARTER_SIZE];

	if ((*quarter & PTE_PRESENT) == 0) {
		if (!table_add(quarter, PTE_PRESENT, PAGE_TABLE))
			return NULL;
		/* The CPU keeps the four top entries in registers: load them anew. */
		shootdown_reload(pmap);
	}
	return directory_entry(pmap, address);
}

struct page *pmap_table_made(struct pmap *pmap, uint32_t address)
{
	pte_t *directory = directory_entry_made(pmap, address);

	assert(address < USER_END);
	if (directory == NULL)
		return NULL;
	if ((*directory & PTE_PRESENT) == 0) {
		if (!table_add(directory, PTE_PRESENT | PTE_WRITE | PTE_USER, PAGE_TABLE))
			return NULL;
		note_use(page_of_entry((uint32_t)pmap->pdpt[address / QUARTER_SIZE]),
			 address / LARGE_SIZE % TABLE_ENTRIES);
	}
	return page_of_entry((uint32_t)*directory);
}

kern_return_t pmap_enter(struct pmap *pmap, uint32_t address, struct page *page, uint32_t rights)
{
	struct page *table = pmap_table_made(pmap, address);
	uint32_t n = address / PAGE_SIZE % TABLE_ENTRIES;
	pte_t *pte;

	assert(kernel_locked());
	assert(address >= USER_START && address < USER_END);
	if (table == NULL)
		return KERN_RESOURCE_SHORTAGE;
	note_use(table, n);
	pte = (pte_t *)page_data(table) + n;
	assert((*pte & PTE_MAPPED) == 0);
	pte_set(pte, user_entry(page, rights));
	pmap->pages++;
	return KERN_SUCCESS;
}

void pmap_replace(struct pmap *pmap, uint32_t address, struct page *page)
{
	pte_t *pte = entry(pmap, address);
	pte_t old = *pte;

	assert((old & PTE_MAPPED) != 0);
	pte_set(pte, user_entry(page, pte_rights(old)));
	if ((old & PTE_FRAME) != page_physical(page))
		shootdown_range(pmap, address, address + PAGE_SIZE);
}

struct page *pmap_lookup_rights(struct pmap *pmap, uint32_t address, uint32_t *rights)
{
	pte_t *pte = entry(pmap, address);

	if (pte == NULL || (*pte & PTE_MAPPED) == 0)
		return NULL;
	*rights = pte_rights(*pte);
	return page_of_physical((uint32_t)(*pte & PTE_FRAME));
}

struct page *pmap_lookup(struct pmap *pmap, uint32_t address)
{
	uint32_t rights;

	return pmap_lookup_rights(pmap, address, &rights);
}

/* The end of what one table, or one directory that is missing, covers; never beyond `end`. */
static uint32_t skip(struct pmap *pmap, uint32_t address, uint32_t end)
{
	uint32_t step = directory_entry(pmap, address) == NULL ? QUARTER_SIZE : LARGE_SIZE;
	uint32_t next = (address & ~(step - 1)) + step;

	return next < end ? next : end;
}

uint32_t pmap_next(struct pmap *pmap, uint32_t address, uint32_t end)
{
	while (address < end) {
		pte_t *pte = entry(pmap, address);

		if (address % LARGE_SIZE == 0)
			kernel_pause();
		if (pte == NULL)
			address = skip(pmap, address, end);
		else if ((*pte & PTE_MAPPED) != 0)
			return address;
		else
			address += PAGE_SIZE;
	}
	return end;
}

uint32_t pmap_next_free(struct pmap *pmap, uint32_t address, uint32_t end)
{
	for (; address < end; address += PAGE_SIZE) {
		pte_t *pte = entry(pmap, address);

		if (address % LARGE_SIZE == 0)
			kernel_pause();
		if (pte == NULL || (*pte & PTE_MAPPED) == 0)
			return address;
	}
	return end;
}

void pmap_remove(struct pmap *pmap, uint32_t start, uint32_t end)
{
	uint32_t address = pmap_next(pmap, start, end);

	while (address < end) {
		pte_clear(entry(pmap, address));
		assert(pmap->pages > 0);
		pmap->pages--;
		address = pmap_next(pmap, address + PAGE_SIZE, end);
	}
	shootdown_range(pmap, start, end);
}

void pmap_protect(struct pmap *pmap, uint32_t start, uint32_t end, uint32_t rights)
{
	uint32_t address = pmap_next(pmap, start, end);

	while (address < end) {
		pte_t *pte = entry(pmap, address);

		pte_set(pte, user_entry(page_of_physical((uint32_t)(*pte & PTE_FRAME)), rights));
		address = pmap_next(pmap, address + PAGE_SIZE, end);
		if ((address / PAGE_SIZE) % 64 == 0)
			kernel_pause();
	}
	shootdown_range(pmap, start, end);
}

/* ---------------- The kernel's own gigabyte ---------------- */

bool pmap_enter_kernel(uint32_t address, struct page *page)
{
	pte_t *directory = directory_entry(&kernel_pmap, address);
	pte_t *pte;

	if ((*directory & PTE_PRESENT) == 0 &&
	    !table_add(directory, PTE_PRESENT | PTE_WRITE, PAGE_KERNEL_TABLE))
		return false;
	pte = entry(&kernel_pmap, address);
	assert((*pte & PTE_PRESENT) == 0);
	pte_set(pte, page_physical(page) | kernel_bits(PMAP_READ | PMAP_WRITE));
	return true;
}

void pmap_remove_kernel(uint32_t start, uint32_t end)
{
	assert(start >= STACK_BASE && start <= end);
	for (uint32_t address = start; address < end; address += PAGE_SIZE) {
		pte_t *pte = entry(&kernel_pmap, address);

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
static uint32_t image_rights(uint32_t address)
{
	if (address == (uint32_t)boot_stack_guard)
		return 0;
	if (address < (uint32_t)kernel_start || address >= (uint32_t)kernel_data)
		return PMAP_READ | PMAP_WRITE;
	if (address < page_round((uint32_t)kernel_text_end))
		return PMAP_READ | PMAP_EXECUTE;
	return PMAP_READ;
}

/* Replaces a large page of the direct map by a table with the rights of each page. */
static void split_large(uint32_t start)
{
	ALLOCATES_AT_BOOT;
	struct page *page = page_alloc_zeroed(PAGE_KERNEL_TABLE);
	pte_t *table;

	assert(page != NULL);
	table = page_data(page);
	for (unsigned n = 0; n < TABLE_ENTRIES; n++) {
		uint32_t address = start + n * PAGE_SIZE;
		uint32_t rights = image_rights(address);

		if (rights != 0)
			table[n] = (address - KERNEL_BASE) | kernel_bits(rights);
	}
	pte_set(directory_entry(&kernel_pmap, start),
		page_physical(page) | PTE_PRESENT | PTE_WRITE);
}

/* What is still mapped by large pages is data. */
static void protect_large_pages(void)
{
	for (uint32_t n = 0; n < DIRECT_MAP_SIZE / LARGE_SIZE; n++)
		if ((kernel_directory[n] & PTE_LARGE) != 0)
			kernel_directory[n] |=
				kernel_bits(PMAP_READ | PMAP_WRITE) & (PTE_NX | PTE_GLOBAL);
}

void pmap_init(void)
{
	kernel_pmap = (struct pmap){
		.magic = PMAP_MAGIC,
		.pdpt[3] = virt_to_phys(kernel_directory) | PTE_PRESENT,
	};
	for (uint32_t start = KERNEL_BASE; start < (uint32_t)kernel_end; start += LARGE_SIZE)
		split_large(start);
	protect_large_pages();
	pmap_load(cpu_self(), &kernel_pmap);
	cpu_global_pages_enable();
}

void pmap_set_executable(void *address, bool executable)
{
	pte_t *pte = entry(&kernel_pmap, (uint32_t)address);
	uint32_t rights = PMAP_READ | PMAP_WRITE | (executable ? PMAP_EXECUTE : 0);

	pte_set(pte, (*pte & PTE_FRAME) | kernel_bits(rights));
	shootdown_kernel_page((uint32_t)address);
}

/* ---------------- Devices ---------------- */

void device_map_at(uint32_t address, uint32_t physical)
{
	pte_t *directory = directory_entry(&kernel_pmap, address);
	bool made = (*directory & PTE_PRESENT) != 0 ||
		    table_add(directory, PTE_PRESENT | PTE_WRITE, PAGE_KERNEL_TABLE);

	assert(made);
	pte_set(entry(&kernel_pmap, address),
		page_trunc(physical) | kernel_bits(PMAP_READ | PMAP_WRITE) | PTE_UNCACHED);
	shootdown_kernel_page(address);
}

/* Whether `pages` pages from `address` on are free for a device. */
static bool device_room(uint32_t address, uint32_t pages)
{
	for (uint32_t n = 0; n < pages; n++) {
		pte_t *pte = entry(&kernel_pmap, address + n * PAGE_SIZE);

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
		if (!device_room(start, pages))
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
		pte_clear(entry(&kernel_pmap, start));
		shootdown_kernel_page(start);
	}
}
