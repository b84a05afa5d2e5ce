/* SPDX-License-Identifier: MIT */
/* Interrupts of devices: see interrupt.h. */
#include "device/interrupt.h"

#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "base/lock.h"
#include "i386/patch/label_site.h"
#include "thread/cpu_state.h"
#include "thread/thread.h"

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

uint32_t device_interrupt_label(unsigned number)
{
	assert(interrupts[number] != NULL);
	return interrupts[number]->label;
}

/*
 * Whether there is work to do.  Here and below no label site has the label back: what comes up to
 * the end of the interrupt, or of its work, is counted for the same (i386/patch/follow.h).
 */
static bool device_interrupt_acknowledge(struct device_interrupt *interrupt)
{
	struct thread *thread = current_thread();
	uint32_t label = thread->label;
	bool works;

	if (interrupt->acknowledge == NULL)
		return true;
	machine_label_set(thread, interrupt->label);
	works = interrupt->acknowledge(interrupt);
	thread->label = label;
	return works;
}

/* The bit is set before the CPU's: who sees that finds this. */
void device_interrupt_note(unsigned number)
{
	assert(interrupts[number] != NULL);
	if (!device_interrupt_acknowledge(interrupts[number]))
		return;
	__atomic_or_fetch(&pending, 1u << number, __ATOMIC_SEQ_CST);
	cpu_set_work(cpu_self(), WORK_DEVICE);
}

void device_interrupt_work(void)
{
	struct thread *thread = current_thread();
	uint32_t left, label = thread->label;

	assert(kernel_locked());
	for (left = __atomic_exchange_n(&pending, 0, __ATOMIC_SEQ_CST); left != 0;
	     left &= left - 1) {
		struct device_interrupt *interrupt = interrupts[__builtin_ctz(left)];

		machine_label_set(thread, interrupt->label);
		interrupt->work(interrupt);
		thread->label = label;
	}
}
