/* SPDX-License-Identifier: MIT */
/*
 * ACPI tables: the pointer (RSDP) in low memory, the list of tables (RSDT or XSDT), the table of
 * interrupt controllers (MADT).
 *
 * What firmware says is an allegation: every length is checked before what it covers is read, every
 * checksum before its table is believed, and what does not fit is answered with a sentence.  Tables
 * may lie anywhere below 4 GiB, so each is mapped for as long as it is read.  Fields are at odd
 * places, so they are read byte by byte.
 */
#include "i386/devices/acpi.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/log.h"
#include "i386/mmu/pmap.h"

/* Where firmware puts the pointer: in the first KiB of its data area, or in its ROM. */
#define EBDA_SEGMENT 0x40e
#define EBDA_MIN     0x80000
#define EBDA_MAX     0xa0000
#define EBDA_SIZE    1024
#define ROM_START    0xe0000
#define ROM_SIZE     0x20000
#define RSDP_ALIGN   16

#define RSDP_REVISION 15
#define RSDP_RSDT     16
#define RSDP_SIZE     20 /* The first revision, with a checksum of its own. */
#define RSDP_XSDT     24
#define RSDP_SIZE_2   36

#define HEADER_LENGTH 4
#define HEADER_SIZE   36
#define TABLE_MAX     0x100000u /* Longer than any table that is not nonsense. */

#define MADT_LAPIC_ADDRESS 36
#define MADT_ENTRIES       44
#define CPU_ENABLED        1u
#define ID_BROADCAST       0xff
#define FLAGS_POLARITY     0x3u
#define FLAGS_ACTIVE_LOW   0x3u
#define FLAGS_TRIGGER      0xcu
#define FLAGS_LEVEL        0xcu

#define PAGE_OFFSET 0xfffu

/* A table, or another piece of memory, while it is mapped. */
struct table {
	const uint8_t *bytes;
	uint32_t size;
};

static const char no_room[] = "there is no room to map an ACPI table";

static uint32_t acpi_get16(const uint8_t *p)
{
	return p[0] | (uint32_t)p[1] << 8;
}

static uint32_t acpi_get32(const uint8_t *p)
{
	return acpi_get16(p) | acpi_get16(p + 2) << 16;
}

static bool acpi_has_signature(const uint8_t *p, const char *signature)
{
	for (unsigned i = 0; signature[i] != '\0'; i++) {
		if (p[i] != (uint8_t)signature[i])
			return false;
	}
	return true;
}

/* All bytes of a table, its checksum among them, add up to zero. */
static bool acpi_adds_up(const uint8_t *p, uint32_t size)
{
	uint8_t sum = 0;

	for (uint32_t i = 0; i < size; i++)
		sum += p[i];
	return sum == 0;
}

static bool acpi_map(struct table *table, uint32_t physical, uint32_t size)
{
	assert(size > 0 && size <= TABLE_MAX);
	if (physical > UINT32_MAX - size)
		return false;
	table->bytes = device_map(physical, size);
	table->size = size;
	return table->bytes != NULL;
}

static void acpi_unmap(struct table *table)
{
	assert(table->bytes != NULL);
	device_unmap((void *)(uintptr_t)table->bytes, table->size);
	table->bytes = NULL;
}

/* Maps the table at `physical` once its signature, length and checksum are right. */
static const char *acpi_table_map(struct table *table, uint32_t physical, const char *signature)
{
	uint32_t length;
	bool right;

	if (!acpi_map(table, physical, HEADER_SIZE))
		return no_room;
	length = acpi_get32(table->bytes + HEADER_LENGTH);
	right = acpi_has_signature(table->bytes, signature);
	acpi_unmap(table);
	if (!right)
		return "an ACPI table is not where the firmware says";
	if (length < HEADER_SIZE || length > TABLE_MAX)
		return "an ACPI table has an impossible length";
	if (!acpi_map(table, physical, length))
		return no_room;
	if (acpi_adds_up(table->bytes, length))
		return NULL;
	acpi_unmap(table);
	return "an ACPI table has a wrong checksum";
}

/* ---- The pointer ---- */

/* What the pointer names: the root table, with entries of 4 or 8 bytes. */
struct root {
	uint32_t physical;
	unsigned entry_size;
};

/* An XSDT counts if it lies where we can reach it and the longer pointer's checksum is right. */
static bool acpi_has_xsdt(const uint8_t *rsdp, uint32_t room)
{
	return rsdp[RSDP_REVISION] >= 2 && room >= RSDP_SIZE_2 && acpi_adds_up(rsdp, RSDP_SIZE_2) &&
	       acpi_get32(rsdp + RSDP_XSDT) != 0 && acpi_get32(rsdp + RSDP_XSDT + 4) == 0;
}

static bool acpi_find_rsdp(uint32_t physical, uint32_t size, struct root *root)
{
	struct table area;
	bool found = false;

	if (!acpi_map(&area, physical, size))
		return false;
	for (uint32_t at = 0; at + RSDP_SIZE <= size && !found; at += RSDP_ALIGN) {
		const uint8_t *rsdp = area.bytes + at;

		if (!acpi_has_signature(rsdp, "RSD PTR ") || !acpi_adds_up(rsdp, RSDP_SIZE))
			continue;
		found = true;
		if (acpi_has_xsdt(rsdp, size - at))
			*root = (struct root){acpi_get32(rsdp + RSDP_XSDT), 8};
		else
			*root = (struct root){acpi_get32(rsdp + RSDP_RSDT), 4};
	}
	acpi_unmap(&area);
	return found;
}

/* The firmware's data area; 0 if it has none at a sensible place. */
static uint32_t acpi_ebda(void)
{
	struct table word;
	uint32_t address;

	if (!acpi_map(&word, EBDA_SEGMENT, 2))
		return 0;
	address = acpi_get16(word.bytes) << 4;
	acpi_unmap(&word);
	return address >= EBDA_MIN && address <= EBDA_MAX - EBDA_SIZE ? address : 0;
}

static const char *acpi_find_root(struct root *root)
{
	uint32_t area = acpi_ebda();

	if (area != 0 && acpi_find_rsdp(area, EBDA_SIZE, root))
		return NULL;
	if (acpi_find_rsdp(ROM_START, ROM_SIZE, root))
		return NULL;
	return "there are no ACPI tables";
}

/* ---- The list of tables ---- */

static bool acpi_is_madt(uint32_t physical)
{
	struct table header;
	bool is;

	if (!acpi_map(&header, physical, HEADER_SIZE))
		return false;
	is = acpi_has_signature(header.bytes, "APIC");
	acpi_unmap(&header);
	return is;
}

/* The entry at `at`; 0, which is nobody's address, if it lies beyond 4 GiB. */
static uint32_t acpi_root_entry(const struct table *list, uint32_t at, unsigned entry_size)
{
	if (entry_size == 8 && acpi_get32(list->bytes + at + 4) != 0)
		return 0;
	return acpi_get32(list->bytes + at);
}

static const char *acpi_find_madt(const struct root *root, uint32_t *madt)
{
	struct table list;
	const char *wrong =
		acpi_table_map(&list, root->physical, root->entry_size == 8 ? "XSDT" : "RSDT");

	if (wrong != NULL)
		return wrong;
	*madt = 0;
	for (uint32_t at = HEADER_SIZE; at + root->entry_size <= list.size && *madt == 0;
	     at += root->entry_size) {
		uint32_t physical = acpi_root_entry(&list, at, root->entry_size);

		if (physical != 0 && acpi_is_madt(physical))
			*madt = physical;
	}
	acpi_unmap(&list);
	return *madt == 0 ? "the ACPI tables do not list the interrupt controllers" : NULL;
}

/* ---- The interrupt controllers ---- */

static bool acpi_knows_cpu(const struct acpi_machine *machine, uint8_t id)
{
	for (unsigned i = 0; i < machine->n_cpus; i++) {
		if (machine->apic_ids[i] == id)
			return true;
	}
	return false;
}

static const char *acpi_add_cpu(struct acpi_machine *machine, const uint8_t *entry)
{
	uint8_t id = entry[3];

	if ((acpi_get32(entry + 4) & CPU_ENABLED) == 0 || id == ID_BROADCAST ||
	    acpi_knows_cpu(machine, id))
		return NULL;
	if (machine->n_cpus < MAX_CPUS)
		machine->apic_ids[machine->n_cpus++] = id;
	else
		klog("acpi: the CPU with APIC id %u is left alone, %u are enough\n", id, MAX_CPUS);
	return NULL;
}

static const char *acpi_add_ioapic(struct acpi_machine *machine, const uint8_t *entry)
{
	struct acpi_ioapic ioapic = {acpi_get32(entry + 4), acpi_get32(entry + 8)};

	if (ioapic.address == 0 || ioapic.address % 4 != 0)
		return "an I/O APIC has an impossible address";
	if (machine->n_ioapics < ACPI_MAX_IOAPICS)
		machine->ioapics[machine->n_ioapics++] = ioapic;
	else
		klog("acpi: the I/O APIC at 0x%x is left alone\n", ioapic.address);
	return NULL;
}

/* An ISA interrupt that goes elsewhere, or is signalled otherwise, than ISA has it. */
static const char *acpi_add_override(struct acpi_machine *machine, const uint8_t *entry)
{
	uint8_t bus = entry[2], irq = entry[3];
	uint32_t flags = acpi_get16(entry + 8);

	if (bus != 0 || irq >= ISA_IRQS)
		return "an interrupt override is for no ISA interrupt";
	machine->isa[irq] = (struct acpi_isa_irq){
		.gsi = acpi_get32(entry + 4),
		.active_low = (flags & FLAGS_POLARITY) == FLAGS_ACTIVE_LOW,
		.level = (flags & FLAGS_TRIGGER) == FLAGS_LEVEL,
	};
	return NULL;
}

static const char *acpi_set_lapic_address(struct acpi_machine *machine, const uint8_t *entry)
{
	if (acpi_get32(entry + 8) != 0)
		return "the local APICs are beyond 4 GiB";
	machine->lapic_address = acpi_get32(entry + 4);
	return NULL;
}

struct entry_kind {
	uint8_t type;
	uint8_t length; /* At least; the rest is a later revision's. */
	const char *(*add)(struct acpi_machine *machine, const uint8_t *entry);
};

static const struct entry_kind entry_kinds[] = {
	{0, 8, acpi_add_cpu},
	{1, 12, acpi_add_ioapic},
	{2, 10, acpi_add_override},
	{5, 12, acpi_set_lapic_address},
};

/* The entry lies within the table; others than these kinds do not concern us. */
static const char *acpi_add_entry(struct acpi_machine *machine, const uint8_t *entry)
{
	for (unsigned i = 0; i < sizeof entry_kinds / sizeof entry_kinds[0]; i++) {
		const struct entry_kind *kind = &entry_kinds[i];

		if (entry[0] != kind->type)
			continue;
		if (entry[1] < kind->length)
			return "an entry of the ACPI interrupt table is too short";
		return kind->add(machine, entry);
	}
	return NULL;
}

static const char *acpi_read_entries(struct acpi_machine *machine, const struct table *madt)
{
	const char *wrong = NULL;
	uint32_t left, at = MADT_ENTRIES;

	for (left = madt->size - at; left >= 2 && wrong == NULL; left = madt->size - at) {
		uint8_t length = madt->bytes[at + 1];

		if (length < 2 || length > left)
			return "an entry of the ACPI interrupt table does not fit in it";
		wrong = acpi_add_entry(machine, madt->bytes + at);
		at += length;
	}
	return wrong;
}

static const char *acpi_read_madt(struct acpi_machine *machine, uint32_t physical)
{
	struct table madt;
	const char *wrong = acpi_table_map(&madt, physical, "APIC");

	if (wrong != NULL)
		return wrong;
	if (madt.size < MADT_ENTRIES) {
		wrong = "the ACPI interrupt table is too short";
	} else {
		machine->lapic_address = acpi_get32(madt.bytes + MADT_LAPIC_ADDRESS);
		wrong = acpi_read_entries(machine, &madt);
	}
	acpi_unmap(&madt);
	return wrong;
}

/* Nothing yet; ISA interrupts are wired as the bus has them until an override says otherwise. */
static void acpi_machine_clear(struct acpi_machine *machine)
{
	*machine = (struct acpi_machine){0};
	for (unsigned irq = 0; irq < ISA_IRQS; irq++)
		machine->isa[irq].gsi = irq;
}

static const char *acpi_judge(const struct acpi_machine *machine)
{
	if (machine->n_cpus == 0)
		return "the ACPI tables list no CPU";
	if (machine->n_ioapics == 0)
		return "there is no I/O APIC";
	if (machine->lapic_address == 0 || (machine->lapic_address & PAGE_OFFSET) != 0)
		return "the local APICs have an impossible address";
	return NULL;
}

const char *acpi_read(struct acpi_machine *machine)
{
	struct root root;
	uint32_t madt;
	const char *wrong;

	acpi_machine_clear(machine);
	wrong = acpi_find_root(&root);
	if (wrong == NULL)
		wrong = acpi_find_madt(&root, &madt);
	if (wrong == NULL)
		wrong = acpi_read_madt(machine, madt);
	return wrong != NULL ? wrong : acpi_judge(machine);
}
