/* SPDX-License-Identifier: MIT */
/*
 * The entries of page tables, for pmap.c and pmap_space.c alone: nobody else looks into a table.
 */
#ifndef I386_PMAP_ENTRY_H
#define I386_PMAP_ENTRY_H

#include <stdint.h>

#include "i386/memory.h"
#include "i386/pmap.h"

#define PTE_PRESENT  0x001ull
#define PTE_WRITE    0x002ull
#define PTE_USER     0x004ull
#define PTE_UNCACHED 0x018ull
#define PTE_LARGE    0x080ull
#define PTE_GLOBAL   0x100ull
#define PTE_MAPPED   0x200ull /* Ours: names a page, also where the CPU may not use it. */
#define PTE_COPY     0x400ull /* Ours: the task may write, but has to get its own copy first. */
#define PTE_NX       (1ull << 63)
#define PTE_FRAME    0x000ffffffffff000ull

#define TABLE_ENTRIES 512
#define LARGE_SIZE    0x200000u /* What one directory entry covers. */
#define QUARTER_SIZE  0x40000000u

typedef uint64_t pte_t;

/*
 * Writes an entry half by half, so that what is there in between is never more than before or
 * after.  One that was not present becomes so last.  Of one that is in use the rights change, or,
 * for a copy, the frame, which is all in the lower half: W goes before NX does, and NX comes before
 * W.
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

/* What the task may do with the page. */
static inline uint32_t pte_rights(pte_t entry)
{
	if ((entry & PTE_PRESENT) == 0)
		return 0;
	return PMAP_READ | ((entry & (PTE_WRITE | PTE_COPY)) != 0 ? PMAP_WRITE : 0) |
	       ((entry & PTE_NX) == 0 ? PMAP_EXECUTE : 0);
}

#endif
