/* SPDX-License-Identifier: MIT */
/*
 * Interrupts of devices, in two halves.
 *
 * At once, in the interrupt handler, the driver may only take what the device would lose.  The rest
 * is done in thread context under the kernel lock (interrupt_work()), on the CPU that had the
 * interrupt: before it goes on in user mode, and where the kernel pauses.
 */
#ifndef DEVICE_INTERRUPT_H
#define DEVICE_INTERRUPT_H

#include <stdbool.h>
#include <stdint.h>

/* How many there can be: each has a vector of its own. */
#define DEVICE_INTERRUPTS 16

struct device_interrupt {
	/*
	 * For whom the device has interrupted, as far as the driver can say beforehand; 0: that is
	 * the system's.  Written under the kernel lock, read by handlers at any time.
	 */
	uint32_t label;
	/*
	 * In the handler: takes no lock and touches nothing that threads do, but what only one CPU
	 * at a time writes.  Whether there is work to do.  NULL: there is.
	 */
	bool (*acknowledge)(struct device_interrupt *interrupt);
	/*
	 * Under the kernel lock, once for all interrupts since the last time; it may come without
	 * one.  Where it pauses it can be called again before it has returned.
	 */
	void (*work)(struct device_interrupt *interrupt);
};

/*
 * Gives the interrupt a number, below DEVICE_INTERRUPTS, for the machine to make a vector of
 * (i386/cpu/vectors.h).  At boot, and before the device can interrupt.
 */
unsigned device_interrupt_add(struct device_interrupt *interrupt);

/* For whom one with this number is that has come just now. */
uint32_t device_interrupt_label(unsigned number);

/* An interrupt has come: called by its handler. */
void device_interrupt_note(unsigned number);

/* Does what interrupts have left.  Holds the kernel lock. */
void device_interrupt_work(void);

#endif
