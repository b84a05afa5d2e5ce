/* SPDX-License-Identifier: MIT */
/* Interrupts of devices: see interrupt.h. */
#include "device/interrupt.h"

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/lock.h"
#include "thread/cpu_state.h"

/* Written at boot, each before its device can interrupt. */
static struct device_interrupt *interrupts[DEVICE_INTERRUPTS];
static unsigned n_interrupts;

/* A bit for each that has left work: set by handlers on any CPU, always atomically. */
static uint32_t pending;

_Static_assert(DEVICE_INTERRUPTS <= 32, "a bit each");

unsigned device_interrupt_add(struct device_interrupt *interrupt)
{
	assert(n_interrupts < DEVICE_INTERRUPTS && interrupt->work != NULL);
	interrupts[n_interrupts] = interrupt;
	return n_interrupts++;
}

/* The bit is set before the CPU's: who sees that finds this. */
void device_interrupt_note(unsigned number)
{
	struct device_interrupt *interrupt = interrupts[number];

	assert(interrupt != NULL);
	if (interrupt->acknowledge != NULL && !interrupt->acknowledge(interrupt))
		return;
	__atomic_or_fetch(&pending, 1u << number, __ATOMIC_SEQ_CST);
	cpu_set_work(cpu_self(), WORK_DEVICE);
}

void device_interrupt_work(void)
{
	uint32_t left;

	assert(kernel_locked());
	for (left = __atomic_exchange_n(&pending, 0, __ATOMIC_SEQ_CST); left != 0;
	     left &= left - 1) {
		struct device_interrupt *interrupt = interrupts[__builtin_ctz(left)];

		interrupt->work(interrupt);
	}
}
