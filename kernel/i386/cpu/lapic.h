/* SPDX-License-Identifier: MIT */
/*
 * The local APIC: each CPU's own interrupts, its timer, and messages to other CPUs.
 *
 * Registers are mapped at one fixed address, where every CPU sees its own, so that the end of an
 * interrupt is one store.
 */
#ifndef I386_CPU_LAPIC_H
#define I386_CPU_LAPIC_H

#define LAPIC_BASE 0xffffe000 /* Where pmap maps the registers, uncached. */
#define LAPIC_EOI  0xb0       /* Where the end of an interrupt is stored. */

#ifndef __ASSEMBLER__

#include <stdbool.h>
#include <stdint.h>

static inline void lapic_eoi(void)
{
	*(volatile uint32_t *)(LAPIC_BASE + LAPIC_EOI) = 0;
}

/* Whether firmware left the APIC in the mode in which its registers are not in memory. */
bool lapic_is_x2apic(void);

/* Maps the registers (once, by the boot CPU). */
void lapic_map(uint32_t physical);

/* Enables this CPU's APIC: spurious vector, LINT1 as NMI, timer one-shot and silent, errors off. */
void lapic_enable(void);

uint32_t lapic_id(void);

/*
 * Learns the timer's rate: begin, then ask how far it has counted, then say how many TSC cycles
 * went by from the begin to the asking.
 */
void lapic_calibration_begin(void);
uint32_t lapic_calibration_counts(void);
void lapic_calibration_end(uint32_t counts, uint64_t cycles);

/*
 * Raises the timer's interrupt on this CPU once, `cycles` TSC cycles from now and not before, as
 * long as both clocks keep the rates that they had at boot.  An emulator's may drift apart by some
 * parts in a million, so whoever arms the timer looks at the time when the interrupt comes.
 */
void lapic_timer_arm(uint32_t cycles);

/*
 * Messages to another CPU, named by its APIC id.  They wait for the sending register, not the CPU.
 * Startup takes the number of the page, below 1 MiB, where the other CPU begins.
 */
void lapic_send_vector(uint32_t apic_id, uint8_t vector);
void lapic_send_nmi(uint32_t apic_id);
void lapic_send_init(uint32_t apic_id);
void lapic_send_startup(uint32_t apic_id, uint32_t physical_page);

/* A message of this CPU to itself; also from an NMI in the middle of sending another. */
void lapic_send_self(uint8_t vector);

#endif
#endif
