/* SPDX-License-Identifier: MIT */
/*
 * Page tables (PAE): three levels, 2 MiB under each entry of a directory, NX where the CPU has it.
 *
 * A task's pmap is a page directory pointer table of four entries.  The fourth always names the
 * kernel's one directory; the others are made with first use.  Guarded by the kernel lock; the CPUs
 * that have a pmap loaded are in its `cpus` set and are told of every change that takes rights away
 * (i386/mmu/shootdown.h) before the call returns.
 *
 * A pmap is a memory of what faults have found out in a map (vm/map/map.h): any translation of user
 * memory may be taken away at any time, and comes back with a fault.  Each page of a user's knows
 * where it is mapped (pmap_mapping.c), so that it can be taken away everywhere.
 */
#ifndef I386_MMU_PMAP_H
#define I386_MMU_PMAP_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>

#include "base/assert.h"
#include "i386/cpu/memory.h"
#include "thread/cpu_state.h"
#include "vm/page/page.h"

struct io_permissions;

/* Rights are VM_PROT_*; who may write or execute may read. */
#define PMAP_READ    1u
#define PMAP_WRITE   2u
#define PMAP_EXECUTE 4u

#define PMAP_MAGIC 0x50414d50u

struct pmap {
	uint64_t pdpt[4]; /* First, for its alignment of 32; loaded by every switch to it. */
	uint32_t magic;
	uint32_t cpus;       /* The CPUs that have it loaded, a bit each. */
	uint32_t pages;      /* Translations that it has. */
	uint32_t tables;     /* Tables and directories, for which somebody pays, */
	struct owner *payer; /* or NULL: nobody counts. */
	struct io_permissions
		*io; /* Ports that its task may use, or NULL: i386/thread/io_permission.h. */
};

/* The pmap with nothing below KERNEL_BASE, loaded where no task runs. */
extern struct pmap kernel_pmap;

/* Kernel start: gives the image its protections and leaves the boot loader's page tables. */
void pmap_init(void);

/* Zone of pmaps; after page_init(). */
void pmap_zone_init(void);

struct pmap *pmap_create(void); /* NULL when there is no memory. */

/* Takes all translations away and frees the tables.  The pmap must be loaded on no CPU. */
void pmap_destroy(struct pmap *pmap);

/*
 * Maps `page` at `address` with `rights`, which are not none, in the place of whatever is mapped
 * there.  False when there is no memory for a table or for noting another place of the page:
 * then nothing is mapped there.
 */
bool pmap_enter(struct pmap *pmap, uint32_t address, struct page *page, uint32_t rights);

/*
 * Takes translations away; or rights, those not in `rights`, and with them the translation if
 * VM_PROT_READ is not among them.  Addresses without one are passed over.  What the CPU knows of
 * pages being written to goes into `dirty`.  Where as much is removed as a table is for, tables
 * that are empty then are freed.
 */
void pmap_remove(struct pmap *pmap, uint32_t start, uint32_t end);
void pmap_protect(struct pmap *pmap, uint32_t start, uint32_t end, uint32_t rights);

/* Gives all empty tables back. */
void pmap_trim(struct pmap *pmap);

/* The page that is mapped at `address`, and what may be done with it; or NULL. */
struct page *pmap_lookup(struct pmap *pmap, uint32_t address, uint32_t *rights);

/*
 * Copies at most PMAP_MOVE_MAX bytes of a user's memory from one pmap to another, or to the same.
 * False, and nothing has changed, if something is not mapped now, may not be written to or is
 * mapped elsewhere too, or if the two overlap.
 */
#define PMAP_MOVE_MAX 0x10000u
bool pmap_move(const struct pmap *to, uint32_t target, const struct pmap *from, uint32_t source,
	       uint32_t size);

/* ---------------- By page: pmap_mapping.c ---------------- */

/* Takes the page's translations away, everywhere.  `dirty` is up to date then. */
void pmap_page_remove(struct page *page);

/*
 * Takes rights away, everywhere: without VM_PROT_READ in `rights` all, otherwise without
 * VM_PROT_WRITE the right to write.  The right to execute stays with that to read.  `dirty` is as
 * after pmap_remove() and pmap_protect().
 */
void pmap_page_protect(struct page *page, uint32_t rights);

/* Brings `dirty` up to date, and says what it is. */
bool pmap_page_is_dirty(struct page *page);

/* Makes the page clean: it is dirty again with the next write, wherever it is mapped. */
void pmap_page_clean(struct page *page);

static inline bool pmap_page_is_mapped(const struct page *page)
{
	return page->mappings != 0;
}

/* Whether one entry names the page, which is mapped: see pmap_mapping.h. */
static inline bool pmap_page_is_mapped_once(const struct page *page)
{
	return (page->mappings & 1) == 0;
}

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

/*
 * A window through which the current thread, which does not wait meanwhile, can write to what
 * nobody may: false without memory for a table.  pmap_window_show_text() has it show the page of
 * the image at `address` and the next one, at PATCH_WINDOW; pmap_window_close() takes it away.
 */
bool pmap_window_open(void);
void pmap_window_show_text(uint32_t address);
void pmap_window_close(void);

/*
 * Other windows under that one's table, which must be there: places in a row from `address` on,
 * each of which shows a page, or nothing.  pmap_window_show() has the first ones show others, with
 * none in between; what they show is said by pmap_window_view().  A CPU may do it for itself at any
 * time, with interrupts off too; another CPU that looks through the window knows after
 * pmap_window_tell().
 *
 * Pages can be shown with a mark, of PMAP_WINDOW_MARKS that there are, or none (0).
 * pmap_window_written() has the marks of pages that are shown and have been written to at these
 * places, or zeroes: the first in the lowest PMAP_WINDOW_MARK_BITS.  pmap_window_show() returns the
 * same of those that were shown until now.  If none of these has a mark, pmap_window_show_row()
 * does the same with less, of PMAP_WINDOW_ROW places from `address` on.
 */
#define PMAP_WINDOW_ROW       5u
#define PMAP_WINDOW_MARKS     7u
#define PMAP_WINDOW_MARK_BITS 4u

struct pmap_window;
struct pmap_window *pmap_window_at(uint32_t address);
uint32_t pmap_window_view(const void *page, uint32_t mark);
uint32_t pmap_window_show(struct pmap_window *window, const uint32_t views[], uint32_t n);
void pmap_window_show_row(uint32_t address, const uint32_t views[]);
uint32_t pmap_window_written(const struct pmap_window *window, uint32_t n);
void pmap_window_hide(struct pmap_window *window);
void pmap_window_tell(uint32_t start, uint32_t size);

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
