/* SPDX-License-Identifier: MIT */
/*
 * The local APIC.
 *
 * Every function works on the APIC of the CPU that calls it.  What all CPUs share, the timer's
 * rate, is written at boot and constant after it.
 */
#include "i386/cpu/lapic.h"

#include "base/assert.h"
#include "base/divide.h"
#include "i386/cpu/cpu.h"
#include "i386/cpu/relax.h"
#include "i386/cpu/vectors.h"
#include "i386/mmu/pmap.h"

/* Registers, in bytes from LAPIC_BASE. */
#define ID              0x020
#define VERSION         0x030
#define TASK_PRIORITY   0x080
#define LOGICAL_ID      0x0d0
#define LOGICAL_FORMAT  0x0e0
#define SPURIOUS        0x0f0
#define ERROR_STATUS    0x280
#define COMMAND         0x300
#define COMMAND_TO      0x310
#define LVT_TIMER       0x320
#define LVT_THERMAL     0x330
#define LVT_PERFORMANCE 0x340
#define LVT_LINT0       0x350
#define LVT_LINT1       0x360
#define LVT_ERROR       0x370
#define TIMER_INITIAL   0x380
#define TIMER_CURRENT   0x390
#define TIMER_DIVIDE    0x3e0

#define ID_SHIFT         24
#define FORMAT_FLAT      0xffffffffu
#define SPURIOUS_ENABLE  0x100u
#define LVT_MASKED       0x10000u
#define DELIVER_NMI      0x400u
#define DELIVER_INIT     0x500u
#define DELIVER_STARTUP  0x600u
#define COMMAND_PENDING  0x1000u
#define COMMAND_ASSERT   0x4000u
#define COMMAND_LEVEL    0x8000u
#define COMMAND_SELF     0x40000u
#define DIVIDE_BY_1      0xbu
#define MSR_APIC_BASE    0x1bu
#define APIC_BASE_X2APIC 0x400u

#define TIMER_MAX 0xffffffffu

/* Entries of the local vector table beyond the first four, by the version register's count. */
#define LVT_COUNT_SHIFT       16
#define LVT_COUNT_PERFORMANCE 4
#define LVT_COUNT_THERMAL     5

/*
 * Timer counts in a TSC cycle, as a fraction of 2^28: room for a timer up to 16 times as fast as
 * the TSC, and for one 250 times slower with an error of one in a million.
 */
#define RATIO_SHIFT 28

static uint32_t counts_per_cycle;

static inline uint32_t lapic_read(uint32_t reg)
{
	return *(volatile uint32_t *)(LAPIC_BASE + reg);
}

static inline void lapic_write(uint32_t reg, uint32_t value)
{
	*(volatile uint32_t *)(LAPIC_BASE + reg) = value;
}

bool lapic_is_x2apic(void)
{
	uint32_t low, high;

	__asm__ volatile("rdmsr" : "=a"(low), "=d"(high) : "c"(MSR_APIC_BASE));
	return (low & APIC_BASE_X2APIC) != 0;
}

void lapic_map(uint32_t physical)
{
	assert((physical & PAGE_MASK) == 0);
	device_map_at(LAPIC_BASE, physical);
}

uint32_t lapic_id(void)
{
	return lapic_read(ID) >> ID_SHIFT;
}

/* Firmware may have left these on, with vectors of its own. */
static void lapic_mask_what_is_not_used(void)
{
	uint32_t count = lapic_read(VERSION) >> LVT_COUNT_SHIFT & 0xff;

	lapic_write(LVT_LINT0, LVT_MASKED); /* The 8259s, which are silent. */
	lapic_write(LVT_ERROR, LVT_MASKED | VECTOR_SPURIOUS);
	if (count >= LVT_COUNT_PERFORMANCE)
		lapic_write(LVT_PERFORMANCE, LVT_MASKED);
	if (count >= LVT_COUNT_THERMAL)
		lapic_write(LVT_THERMAL, LVT_MASKED);
}

/*
 * Interrupts for "all CPUs" are addressed to every logical id.  Only a CPU that came here has one:
 * an NMI to a CPU that was not started would start it in the firmware.
 */
static void lapic_set_logical_id(void)
{
	lapic_write(LOGICAL_FORMAT, FORMAT_FLAT);
	lapic_write(LOGICAL_ID, 1u << (lapic_id() % 8) << ID_SHIFT);
}

void lapic_enable(void)
{
	lapic_write(SPURIOUS, SPURIOUS_ENABLE | VECTOR_SPURIOUS);
	lapic_mask_what_is_not_used();
	lapic_write(LVT_LINT1, DELIVER_NMI);
	lapic_set_logical_id();
	lapic_write(TIMER_INITIAL, 0);
	lapic_write(TIMER_DIVIDE, DIVIDE_BY_1);
	lapic_write(LVT_TIMER, VECTOR_TIMER); /* One-shot is mode 0. */
	lapic_write(ERROR_STATUS, 0);
	lapic_write(TASK_PRIORITY, 0);
	lapic_eoi(); /* Of an interrupt that firmware may have left unfinished. */
}

/* The timer counts without an interrupt until the calibration ends. */
void lapic_calibration_begin(void)
{
	lapic_write(LVT_TIMER, LVT_MASKED | VECTOR_TIMER);
	lapic_write(TIMER_INITIAL, TIMER_MAX);
}

uint32_t lapic_calibration_counts(void)
{
	return TIMER_MAX - lapic_read(TIMER_CURRENT);
}

/*
 * The count that was under way is one, and the ratio is rounded up: a shot must not come early.  A
 * rate beyond what the ratio can say is not refused here; the caller judges the rate itself.
 */
void lapic_calibration_end(uint32_t counts, uint64_t cycles)
{
	uint64_t ratio = divide(((uint64_t)counts + 1) << RATIO_SHIFT, cycles) + 1;

	lapic_write(TIMER_INITIAL, 0);
	lapic_write(LVT_TIMER, VECTOR_TIMER);
	counts_per_cycle = ratio > UINT32_MAX ? UINT32_MAX : (uint32_t)ratio;
}

/* Rounded up: never early. */
void lapic_timer_arm(uint32_t cycles)
{
	assert(counts_per_cycle != 0);
	lapic_write(TIMER_INITIAL,
		    (uint32_t)((uint64_t)cycles * counts_per_cycle >> RATIO_SHIFT) + 1);
}

static void lapic_wait_for_command(void)
{
	while (lapic_read(COMMAND) & COMMAND_PENDING)
		machine_relax();
}

/*
 * A command is two stores.  An interrupt between them could send one of its own and leave its
 * address behind, so they are made with interrupts off; an NMI sends only in a panic, and stays, or
 * by lapic_send_self(), which needs no address.
 */
static void lapic_send(uint32_t apic_id, uint32_t command)
{
	bool were_on = interrupts_are_on();

	interrupts_off();
	lapic_wait_for_command();
	lapic_write(COMMAND_TO, apic_id << ID_SHIFT);
	lapic_write(COMMAND, command);
	if (were_on)
		interrupts_on();
}

void lapic_send_vector(uint32_t apic_id, uint8_t vector)
{
	assert(vector >= VECTOR_EXCEPTIONS);
	lapic_send(apic_id, COMMAND_ASSERT | vector);
}

void lapic_send_self(uint8_t vector)
{
	lapic_wait_for_command();
	lapic_write(COMMAND, COMMAND_SELF | COMMAND_ASSERT | vector);
	lapic_wait_for_command();
}

void lapic_send_nmi(uint32_t apic_id)
{
	lapic_send(apic_id, COMMAND_ASSERT | DELIVER_NMI);
}

/* Asserted and taken back: an old APIC waits for both, a new one ignores the second. */
void lapic_send_init(uint32_t apic_id)
{
	lapic_send(apic_id, COMMAND_LEVEL | COMMAND_ASSERT | DELIVER_INIT);
	lapic_send(apic_id, COMMAND_LEVEL | DELIVER_INIT);
	lapic_wait_for_command();
}

void lapic_send_startup(uint32_t apic_id, uint32_t physical_page)
{
	assert(physical_page < 0x100); /* Below 1 MiB, where a CPU starts. */
	lapic_send(apic_id, COMMAND_ASSERT | DELIVER_STARTUP | physical_page);
	lapic_wait_for_command();
}
