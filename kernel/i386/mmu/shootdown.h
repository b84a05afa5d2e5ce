/* SPDX-License-Identifier: MIT */
/*
 * Telling other CPUs that translations have changed.
 *
 * The sender holds the kernel lock and waits, with interrupts on, until every CPU that has the
 * address space loaded has flushed.  The receiving handler takes no lock; a CPU that waits for the
 * kernel lock has its interrupts on; so nobody waits for ever.
 */
#ifndef I386_MMU_SHOOTDOWN_H
#define I386_MMU_SHOOTDOWN_H

#include <stdint.h>

struct pmap;
struct cpu;

/* Rights were taken away in [start, end) of `pmap`: flush it wherever it is loaded. */
void shootdown_range(struct pmap *pmap, uint32_t start, uint32_t end);

/*
 * As shootdown_range(), in two steps, for changes in several address spaces: on this CPU, and on
 * all others in the union of the address spaces' sets, which are told once.
 */
void shootdown_here(struct pmap *pmap, uint32_t start, uint32_t end);
void shootdown_others(uint32_t set);

/* A top entry of `pmap` was added: have it loaded anew wherever it is loaded. */
void shootdown_reload(struct pmap *pmap);

/* A translation of the kernel's gigabyte has changed: flush it everywhere. */
void shootdown_kernel_page(uint32_t address);

/* As shootdown_kernel_page(), for what only this CPU uses. */
void shootdown_kernel_page_here(uint32_t address);

/* As shootdown_kernel_page(), for a range, with one message to each CPU. */
void shootdown_kernel_range(uint32_t start, uint32_t end);

/* The interrupt, on the CPU that is told. */
void shootdown_interrupt(struct cpu *cpu);

#endif
