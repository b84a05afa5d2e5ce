/* SPDX-License-Identifier: MIT */
/*
 * The entries of page tables, for the files pmap*.c of this folder alone: nobody else looks into a
 * table.
 */
#ifndef I386_MMU_PMAP_ENTRY_H
#define I386_MMU_PMAP_ENTRY_H

#include <stdbool.h>
#include <stdint.h>

#include "i386/cpu/cpu.h"
#include "i386/cpu/memory.h"
#include "i386/mmu/pmap.h"

#define PTE_PRESENT  0x001ull
#define PTE_WRITE    0x002ull
#define PTE_USER     0x004ull
#define PTE_UNCACHED 0x018ull
#define PTE_USED     0x020ull /* Set by a CPU before it remembers what the entry says. */
#define PTE_DIRTY    0x040ull /* Set by the CPU, with a write through a writable entry. */
#define PTE_LARGE    0x080ull
#define PTE_GLOBAL   0x100ull
#define PTE_MARK     0xe00ull /* Left to the system: windows have a mark there. */
#define PTE_NX       (1ull << 63)
#define PTE_FRAME    0x000ffffffffff000ull

#define TABLE_ENTRIES 512
#define LARGE_SIZE    0x200000u /* What one directory entry covers. */
#define QUARTER_SIZE  0x40000000u

typedef uint64_t pte_t;

/*
 * Writes an entry half by half, so that what is there in between is never more than before or
 * after.  One that was not present becomes so last.  Of one that is in use only the rights change:
 * W goes before NX does, and NX comes before W.
 */
static inline void pte_set(pte_t *pte, pte_t value)
{
	volatile uint32_t *half = (volatile uint32_t *)pte;

	if ((half[0] & PTE_PRESENT) != 0 && (value & PTE_WRITE) == 0) {
		half[0] = (uint32_t)value;
		half[1] = (uint32_t)(value >> 32);
	} else {
		half[1] = (uint32_t)(value >> 32);
		half[0] = (uint32_t)value;
	}
}

static inline void pte_clear(pte_t *pte)
{
	volatile uint32_t *half = (volatile uint32_t *)pte;

	half[0] = 0;
	half[1] = 0;
}

static inline pte_t *table_of(pte_t entry)
{
	return phys_to_virt((uint32_t)(entry & PTE_FRAME));
}

/* The physical address of the table for `address`, with some bits more below it; or 0. */
static inline uint32_t pmap_table_there(const struct pmap *pmap, uint32_t address)
{
	uint32_t directory = (uint32_t)pmap->pdpt[address / QUARTER_SIZE];

	return directory == 0 ? 0
			      : (uint32_t)table_of(directory)[address / LARGE_SIZE % TABLE_ENTRIES];
}

/* What an entry of the kernel's has beside its page; from PMAP_* bits. */
pte_t pmap_kernel_bits(uint32_t rights);

/* The table for an address of the kernel's, made if need be, for good; NULL without memory. */
pte_t *pmap_kernel_table(uint32_t address);

/* ---------------- Entries for a task's pages ---------------- */

/*
 * An entry in two halves: the upper one has NX and no more.  Absent is one whose lower half
 * is 0; there are no others that are not present.  Of a present one that is writable the CPUs may
 * set PTE_DIRTY at any moment, so its lower half changes by atomic instructions only.
 */
struct halves {
	uint32_t low;
	uint32_t high;
};

#define LOW_WRITE ((uint32_t)PTE_WRITE)
#define LOW_DIRTY ((uint32_t)PTE_DIRTY)
#define LOW_USED  ((uint32_t)PTE_USED)
#define LOW_USER  ((uint32_t)(PTE_PRESENT | PTE_USER))
#define HIGH_NX   0x80000000u

_Static_assert(PMAP_WRITE == PTE_WRITE, "a right is its own bit");

/* The bit of entry `n` in its table's `used`. */
#define GROUP 16u

static inline uint32_t group_bit(uint32_t n)
{
	return 1u << (n / GROUP % 32);
}

static inline uint32_t rights_high(uint32_t rights)
{
	return (rights & PMAP_EXECUTE) != 0 ? 0 : (uint32_t)cpu_features.nx << 31;
}

/* Makes an absent entry name `page` with `rights`. */
static inline void entry_set(struct halves *entry, const struct page *page, uint32_t rights)
{
	volatile struct halves *halves = entry;

	halves->high = rights_high(rights);
	halves->low = page_physical(page) | (rights & PMAP_WRITE) | LOW_USER;
}

/* Makes an entry absent; returns what its lower half was in the end. */
static inline uint32_t entry_take(struct halves *entry)
{
	uint32_t low = __atomic_exchange_n(&entry->low, 0, __ATOMIC_SEQ_CST);

	((volatile struct halves *)entry)->high = 0;
	return low;
}

static inline void entry_clear_bit(struct halves *entry, uint32_t bit)
{
	__atomic_and_fetch(&entry->low, ~bit, __ATOMIC_SEQ_CST);
}

/* Takes the right to write away.  Whether the page was written to is in `dirty` from then on. */
static inline void entry_forbid_write(struct halves *entry, struct page *page)
{
	entry_clear_bit(entry, LOW_WRITE);
	if ((((volatile struct halves *)entry)->low & LOW_DIRTY) != 0)
		page->dirty = true;
}

/* Takes the rights not in `rights` away, of which one is to read; says whether there were any. */
static inline bool entry_restrict(struct halves *entry, struct page *page, uint32_t rights)
{
	uint32_t high = rights_high(rights);
	bool less = false;

	if ((high & ~entry->high) != 0) {
		((volatile struct halves *)entry)->high = high;
		less = true;
	}
	if ((entry->low & LOW_WRITE & ~rights) != 0) {
		entry_forbid_write(entry, page);
		less = true;
	}
	return less;
}

/* What the task may do with the page. */
static inline uint32_t entry_rights(const struct halves *entry)
{
	return PMAP_READ | (entry->low & LOW_WRITE) |
	       ((entry->high & HIGH_NX) == 0 ? PMAP_EXECUTE : 0);
}

#endif
