/* SPDX-License-Identifier: MIT */
/* Descriptor tables: see segment.h.  Each CPU's are written by the boot CPU before it starts. */
#include "i386/cpu/segment.h"

#include "i386/cpu/vectors.h"
#include "i386/entry/double_fault.h"
#include "i386/entry/entry.h"
#include "thread/cpu_state.h"

/* Types and attributes as they stand in a descriptor's access byte. */
#define ACCESS_LDT       0x82u
#define ACCESS_TASK_GATE 0x85u
#define ACCESS_TSS       0x89u
#define ACCESS_CALL_GATE 0x8cu
#define ACCESS_INTERRUPT 0x8eu
#define ACCESS_DATA      0x92u
#define ACCESS_CODE      0x9au
#define ACCESS_USER      0x60u

#define PAGES_32BIT 0xcu /* Limit in pages, 32-bit segment. */
#define BYTES       0x0u /* Limit in bytes. */

struct table_register {
	uint16_t limit;
	uint32_t base;
} __attribute__((packed));

static struct descriptor idt[VECTOR_COUNT] __attribute__((aligned(8)));
struct descriptor usual_ldt[LDT_ENTRIES] __attribute__((aligned(8)));

/* Bits of a descriptor's high word. */
#define HIGH_PRESENT 0x00008000u
#define HIGH_DPL     0x00006000u /* Both: user mode's. */
#define HIGH_SEGMENT 0x00001000u /* No gate and nothing of the system. */
#define HIGH_CODE    0x00000800u
#define HIGH_ACCESS  0x00000200u /* Data can be written, code can be read. */
#define HIGH_32BIT   0x00400000u

#define HIGH_USER (HIGH_PRESENT | HIGH_DPL | HIGH_SEGMENT)

static struct descriptor segment(uint32_t base, uint32_t limit, uint32_t access, uint32_t flags)
{
	return (struct descriptor){
		.low = (uint16_t)limit | base << 16,
		.high = (base & 0xff000000) | flags << 20 | (limit & 0xf0000) | access << 8 |
			(base >> 16 & 0xff),
	};
}

static struct descriptor segment_gate(uint32_t entry, uint16_t selector, uint32_t access)
{
	return (struct descriptor){
		.low = (uint32_t)selector << 16 | (uint16_t)entry,
		.high = (entry & 0xffff0000) | access << 8,
	};
}

static struct descriptor segment_user_code(void)
{
	return segment(0, 0xfffff, ACCESS_CODE | ACCESS_USER, PAGES_32BIT);
}

static struct descriptor segment_user_data(void)
{
	return segment(0, 0xfffff, ACCESS_DATA | ACCESS_USER, PAGES_32BIT);
}

static void segment_gdt_set(struct cpu *cpu, unsigned selector, struct descriptor descriptor)
{
	cpu->machine.gdt[selector / sizeof descriptor] = descriptor;
}

static void segment_gdt_init(struct cpu *cpu)
{
	const uint32_t tss_limit = sizeof(struct tss) - 1;
	const uint32_t tss_limit_with_ports = tss_limit + sizeof cpu->machine.io_bitmap;

	segment_gdt_set(cpu, KERNEL_CS, segment(0, 0xfffff, ACCESS_CODE, PAGES_32BIT));
	segment_gdt_set(cpu, KERNEL_DS, segment(0, 0xfffff, ACCESS_DATA, PAGES_32BIT));
	segment_gdt_set(cpu, USER_CS, segment_user_code());
	segment_gdt_set(cpu, USER_DS, segment_user_data());
	segment_gdt_set(cpu, KERNEL_PERCPU,
			segment((uint32_t)cpu, 0xfffff, ACCESS_DATA, PAGES_32BIT));
	segment_gdt_set(
		cpu, SELECTOR_TSS,
		segment((uint32_t)&cpu->machine.tss, tss_limit_with_ports, ACCESS_TSS, BYTES));
	segment_gdt_set(
		cpu, SELECTOR_DOUBLE_FAULT,
		segment((uint32_t)&cpu->machine.double_fault_tss, tss_limit, ACCESS_TSS, BYTES));
	segment_gdt_set(cpu, SELECTOR_LDT,
			segment((uint32_t)usual_ldt, sizeof usual_ldt - 1, ACCESS_LDT, BYTES));
}

static void segment_ldt_init(void)
{
	usual_ldt[LDT_GATE] =
		segment_gate((uint32_t)gate_entry, KERNEL_CS, ACCESS_CALL_GATE | ACCESS_USER);
	usual_ldt[LDT_USER_CODE] = segment_user_code();
	usual_ldt[LDT_USER_DATA] = segment_user_data();
}

/* Breakpoints and overflow traps are the instructions that user mode may raise a vector with. */
static void segment_idt_init(void)
{
	for (unsigned n = 0; n < interrupt_entry_count; n++) {
		const struct interrupt_entry *entry = &interrupt_entries[n];
		uint32_t access = ACCESS_INTERRUPT;

		if (entry->vector == VECTOR_BREAKPOINT || entry->vector == VECTOR_OVERFLOW)
			access |= ACCESS_USER;
		idt[entry->vector] = segment_gate((uint32_t)entry->code, KERNEL_CS, access);
	}
	idt[VECTOR_DOUBLE_FAULT] = segment_gate(0, SELECTOR_DOUBLE_FAULT, ACCESS_TASK_GATE);
}

void segment_init(struct cpu *cpu)
{
	segment_gdt_init(cpu);
	cpu->machine.tss.ss0 = KERNEL_DS;
	cpu->machine.tss.io_map = TSS_NO_PORTS;
	double_fault_init(cpu);
	if (cpu->number == 0) {
		segment_ldt_init();
		segment_idt_init();
	}
}

static void segment_load_code_segment(void)
{
	__asm__ volatile("ljmp %0, $1f; 1:" ::"i"(KERNEL_CS));
}

void segment_load(struct cpu *cpu)
{
	struct table_register gdtr = {sizeof cpu->machine.gdt - 1, (uint32_t)cpu->machine.gdt};
	struct table_register idtr = {sizeof idt - 1, (uint32_t)idt};

	__asm__ volatile("lgdt %0" ::"m"(gdtr));
	__asm__ volatile("lidt %0" ::"m"(idtr));
	segment_load_code_segment();
	__asm__ volatile("movw %w0, %%ss; movw %w0, %%ds; movw %w0, %%es" ::"r"(KERNEL_DS));
	__asm__ volatile("movw %w0, %%fs" ::"r"(KERNEL_PERCPU));
	__asm__ volatile("movw %w0, %%gs" ::"r"(0));
	__asm__ volatile("lldt %w0" ::"r"(SELECTOR_LDT));
	__asm__ volatile("ltr %w0" ::"r"(SELECTOR_TSS));
}

/* ---------------- Descriptors of users ---------------- */

void segment_load_ldt(struct cpu *cpu, const struct descriptor *table, uint32_t entries)
{
	segment_gdt_set(cpu, SELECTOR_LDT,
			segment((uint32_t)table, entries * sizeof *table - 1, ACCESS_LDT, BYTES));
	__asm__ volatile("lldt %w0" ::"r"(SELECTOR_LDT) : "memory");
}

void segment_load_slots(struct cpu *cpu, const struct descriptor slots[USER_GDT_SLOTS])
{
	for (unsigned n = 0; n < USER_GDT_SLOTS; n++)
		segment_gdt_set(cpu, USER_GDT + n * sizeof slots[0], slots[n]);
}

static bool segment_has(struct descriptor descriptor, uint32_t mask, uint32_t bits)
{
	return (descriptor.high & mask) == bits;
}

bool descriptor_is_present(struct descriptor descriptor)
{
	return segment_has(descriptor, HIGH_PRESENT, HIGH_PRESENT);
}

/*
 * Base and limit are free: pages protect the kernel's memory, whatever a segment says.  Data that
 * can be written could be a stack, and on a 16-bit stack iret leaves half of the kernel's stack
 * pointer in the user's: it must be a 32-bit segment.
 */
bool descriptor_is_acceptable(struct descriptor descriptor)
{
	return !descriptor_is_present(descriptor) || descriptor_is_user_code(descriptor) ||
	       descriptor_is_user_stack(descriptor) ||
	       segment_has(descriptor, HIGH_USER | HIGH_CODE | HIGH_ACCESS, HIGH_USER);
}

bool descriptor_is_user_code(struct descriptor descriptor)
{
	return segment_has(descriptor, HIGH_USER | HIGH_CODE, HIGH_USER | HIGH_CODE);
}

bool descriptor_is_user_stack(struct descriptor descriptor)
{
	return segment_has(descriptor, HIGH_USER | HIGH_CODE | HIGH_ACCESS | HIGH_32BIT,
			   HIGH_USER | HIGH_ACCESS | HIGH_32BIT);
}

bool descriptor_is_user_readable(struct descriptor descriptor)
{
	return segment_has(descriptor, HIGH_USER | HIGH_CODE, HIGH_USER) ||
	       segment_has(descriptor, HIGH_USER | HIGH_CODE | HIGH_ACCESS,
			   HIGH_USER | HIGH_CODE | HIGH_ACCESS);
}
