/* SPDX-License-Identifier: MIT */
/*
 * Page tables (PAE): three levels, 2 MiB under each entry of a directory, NX where the CPU has it.
 *
 * A task's pmap is a page directory pointer table of four entries.  The fourth always names the
 * kernel's one directory; the others are made with first use.  Guarded by the kernel lock; the CPUs
 * that have a pmap loaded are in its `cpus` set and are told of every change that takes rights away
 * (i386/shootdown.h) before the call returns.
 *
 * A page that is mapped without any right has an entry that the CPU takes for absent and that still
 * names it.  To a page that is shared for copying (vm/page.h) no entry lets the CPU write, whatever
 * the rights: a bit of the entry keeps them.
 */
#ifndef I386_PMAP_H
#define I386_PMAP_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

#include "i386/memory.h"
#include "kern/assert.h"
#include "kern/cpu_state.h"
#include "vm/page.h"

struct io_permissions;

#define PMAP_READ    1u
#define PMAP_WRITE   2u
#define PMAP_EXECUTE 4u

#define PMAP_MAGIC 0x50414d50u

struct pmap {
	uint64_t pdpt[4]; /* First, for its alignment of 32; loaded by every switch to it. */
	uint32_t magic;
	uint32_t cpus;             /* The CPUs that have it loaded, a bit each. */
	uint32_t pages;            /* That are mapped. */
	struct io_permissions *io; /* Ports that its task may use, or NULL: i386/io_permission.h. */
};

/* The pmap with nothing below KERNEL_BASE, loaded where no task runs. */
extern struct pmap kernel_pmap;

/* Kernel start: gives the image its protections and leaves the boot loader's page tables. */
void pmap_init(void);

/* Zone of pmaps; after page_init(). */
void pmap_zone_init(void);

struct pmap *pmap_create(void); /* NULL when there is no memory. */

/*
 * Gives up all pages, those that no other map has go to the allocator, and the tables.  The pmap
 * must be loaded on no CPU.
 */
void pmap_destroy(struct pmap *pmap);

/* What becomes of a page that a child does not simply get to share for copying. */
typedef kern_return_t pmap_inherit_other(struct pmap *child, uint32_t address, struct page *page,
					 uint32_t rights);

/*
 * Gives `child`, which is empty, the pages of `parent`: those that page_is_for_copying() allows are
 * shared for copying, for each of the others `other` is called.  When it fails the child has some.
 */
kern_return_t pmap_inherit(struct pmap *child, struct pmap *parent, pmap_inherit_other *other);

/* Maps `page` at `address`, where nothing is mapped; KERN_RESOURCE_SHORTAGE without a table. */
kern_return_t pmap_enter(struct pmap *pmap, uint32_t address, struct page *page, uint32_t rights);

/* The table for user address `address`, made if need be; NULL when there is no memory. */
struct page *pmap_table_made(struct pmap *pmap, uint32_t address);

/*
 * Puts `page` in the place of what is mapped at `address`, with the same rights.  It may be the
 * page that is there: then the CPU's permission to write follows `copying`.
 */
void pmap_replace(struct pmap *pmap, uint32_t address, struct page *page);

/* Takes translations away, or changes their rights; addresses without one are passed over. */
void pmap_remove(struct pmap *pmap, uint32_t start, uint32_t end);
void pmap_protect(struct pmap *pmap, uint32_t start, uint32_t end, uint32_t rights);

/* The page at `address`, or NULL. */
struct page *pmap_lookup(struct pmap *pmap, uint32_t address);

/* The same, and what may be done with it: PMAP_WRITE and PMAP_EXECUTE never without PMAP_READ. */
struct page *pmap_lookup_rights(struct pmap *pmap, uint32_t address, uint32_t *rights);

/* The first address from `address` on where a page is mapped; `end` if there is none before it. */
uint32_t pmap_next(struct pmap *pmap, uint32_t address, uint32_t end);

/* The first address from `address` on where none is; `end` if there is none before it. */
uint32_t pmap_next_free(struct pmap *pmap, uint32_t address, uint32_t end);

/*
 * Loads `pmap` on this CPU, which has another one.  It is in the new pmap's set first: whoever
 * changes that from now on tells this CPU.  The kernel lock is held, so nobody changes the old one
 * meanwhile.
 */
static inline void pmap_load(struct cpu *cpu, struct pmap *pmap)
{
	uint32_t bit = 1u << cpu->number;

	pmap->cpus |= bit;
	__asm__ volatile("movl %0, %%cr3" ::"r"(virt_to_phys(pmap->pdpt)) : "memory");
	cpu->machine.cr3_loads++;
	if (cpu->machine.pmap != NULL)
		cpu->machine.pmap->cpus &= ~bit;
	cpu->machine.pmap = pmap;
}

/* Whether code at `address`, a page of the direct map below 2 MiB, may run: for starting CPUs. */
void pmap_set_executable(void *address, bool executable);

/* Maps one page of the kernel's own from STACK_BASE on; false without a table. */
bool pmap_enter_kernel(uint32_t address, struct page *page);

/* Takes all such pages of the range out again; no CPU knows of them when this returns. */
void pmap_remove_kernel(uint32_t start, uint32_t end);

/* Whether the kernel can read at `address`, which is in its gigabyte. */
bool pmap_kernel_is_mapped(uint32_t address);

/*
 * Maps device registers or firmware tables, uncached; any physical address below 4 GiB.  NULL when
 * there is no room.  device_unmap() takes what device_map() gave.
 */
void *device_map(uint32_t physical, uint32_t size);
void device_unmap(void *address, uint32_t size);

/* Maps one page of device registers at the fixed kernel address `address`. */
void device_map_at(uint32_t address, uint32_t physical);

#endif
