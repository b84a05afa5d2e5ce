/* SPDX-License-Identifier: MIT */
/* Windows in the kernel's address space, all under one table: see pmap.h. */
#include "base/assert.h"
#include "base/lock.h"
#include "i386/mmu/pmap_entry.h"
#include "i386/mmu/shootdown.h"

#define WINDOW_PAGES 2u /* Of that for patching. */

#define LOW_MARK   ((uint32_t)PTE_MARK)
#define MARK_SHIFT 9u

_Static_assert(PMAP_WINDOW_MARKS << MARK_SHIFT == PTE_MARK, "as many as the bits can tell apart");
_Static_assert(PMAP_WINDOW_MARKS < 1u << PMAP_WINDOW_MARK_BITS, "a mark has room");
_Static_assert(PATCH_WINDOW % LARGE_SIZE == 0 &&
		       COUNTERS_WINDOW + COUNTERS_WINDOW_SIZE <= PATCH_WINDOW + LARGE_SIZE,
	       "one table");

/* An entry of the table; those of a row are one behind the other. */
struct pmap_window {
	struct halves entry;
};

static struct halves *window_table; /* NULL: not needed yet.  Once there it stays. */
static pte_t window_bits;           /* What all entries have but their pages. */

static volatile uint32_t *pmap_window_entry(uint32_t address)
{
	return &window_table[address / PAGE_SIZE % TABLE_ENTRIES].low;
}

/* ---------------- Patching ---------------- */

/* All entries have their upper halves from the beginning, and change by the lower one alone. */
static void pmap_window_begin(void)
{
	window_bits = pmap_kernel_bits(PMAP_READ | PMAP_WRITE);
	for (uint32_t n = 0; n < TABLE_ENTRIES; n++)
		window_table[n].high = (uint32_t)(window_bits >> 32);
}

bool pmap_window_open(void)
{
	if (window_table == NULL) {
		window_table = (struct halves *)pmap_kernel_table(PATCH_WINDOW);
		if (window_table != NULL)
			pmap_window_begin();
	}
	return window_table != NULL;
}

/* Only this CPU looks through the window; what others may know of it they forget at the end. */
void pmap_window_show_text(uint32_t address)
{
	uint32_t physical = virt_to_phys((const void *)page_trunc(address));

	assert(kernel_locked());
	for (uint32_t at = 0; at < WINDOW_PAGES * PAGE_SIZE; at += PAGE_SIZE) {
		volatile uint32_t *entry = pmap_window_entry(PATCH_WINDOW + at);

		*entry = 0;
		shootdown_kernel_page_here(PATCH_WINDOW + at);
		*entry = (physical + at) | (uint32_t)window_bits;
	}
}

void pmap_window_close(void)
{
	for (uint32_t at = 0; at < WINDOW_PAGES * PAGE_SIZE; at += PAGE_SIZE)
		*pmap_window_entry(PATCH_WINDOW + at) = 0;
	shootdown_kernel_range(PATCH_WINDOW, PATCH_WINDOW + WINDOW_PAGES * PAGE_SIZE);
}

/* ---------------- Places in a row ---------------- */

struct pmap_window *pmap_window_at(uint32_t address)
{
	return (struct pmap_window *)&window_table[address / PAGE_SIZE % TABLE_ENTRIES];
}

static uint32_t pmap_window_address(const struct pmap_window *window)
{
	const struct pmap_window *first = (const struct pmap_window *)window_table;

	return PATCH_WINDOW + (uint32_t)(window - first) * PAGE_SIZE;
}

uint32_t pmap_window_view(const void *page, uint32_t mark)
{
	assert(mark <= PMAP_WINDOW_MARKS);
	return virt_to_phys(page) | mark << MARK_SHIFT | (uint32_t)window_bits;
}

static uint32_t pmap_window_mark(uint32_t low)
{
	return (low & LOW_DIRTY) != 0 ? (low & LOW_MARK) >> MARK_SHIFT : 0;
}

static inline __attribute__((always_inline)) void
pmap_window_show_one(struct pmap_window *row, uint32_t address, const uint32_t views[], uint32_t n)
{
	((volatile struct halves *)&row[n].entry)->low = views[n];
	__asm__ volatile("invlpg %c1(%0)" ::"r"(address), "i"(n * PAGE_SIZE) : "memory");
}

/* Nobody wants to know what was written to, so a store each is enough; it is done often. */
void pmap_window_show_row(uint32_t address, const uint32_t views[])
{
	struct pmap_window *row = pmap_window_at(address);

	pmap_window_show_one(row, address, views, 0);
	pmap_window_show_one(row, address, views, 1);
	pmap_window_show_one(row, address, views, 2);
	pmap_window_show_one(row, address, views, 3);
	pmap_window_show_one(row, address, views, 4);
	_Static_assert(PMAP_WINDOW_ROW == 5, "as many as stand here");
	cpu_self()->machine.tlb_flushes += PMAP_WINDOW_ROW;
}

/*
 * Each place in one step: the CPU itself may write through the entry, and say so there, up to that.
 * What it remembers of an entry it may go by until that is flushed, but it says so before.
 */
uint32_t pmap_window_show(struct pmap_window *window, const uint32_t views[], uint32_t n)
{
	uint32_t address = pmap_window_address(window), written = 0;

	for (uint32_t i = 0; i < n; i++, address += PAGE_SIZE) {
		uint32_t before =
			__atomic_exchange_n(&window[i].entry.low, views[i], __ATOMIC_SEQ_CST);

		if (__builtin_expect((before & LOW_MARK) != 0, 0))
			written |= pmap_window_mark(before) << i * PMAP_WINDOW_MARK_BITS;
		shootdown_kernel_page_here(address);
	}
	return written;
}

uint32_t pmap_window_written(const struct pmap_window *window, uint32_t n)
{
	uint32_t written = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t low = ((const volatile struct halves *)&window[i].entry)->low;

		written |= pmap_window_mark(low) << i * PMAP_WINDOW_MARK_BITS;
	}
	return written;
}

void pmap_window_hide(struct pmap_window *window)
{
	window->entry.low = 0;
}

void pmap_window_tell(uint32_t start, uint32_t size)
{
	shootdown_kernel_range(start, start + size);
}
