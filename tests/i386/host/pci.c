/* SPDX-License-Identifier: MIT */
/* links: i386/devices/pci.c */
/* flags: -Itests/lib/host/ports */
/*
 * PCI (i386/devices/pci.h), with configuration spaces made of arrays: what a function says of
 * itself is believed as far as it makes sense.
 */
#include "i386/devices/pci.h"

#include <string.h>

#include "host/kernel.h"
#include "i386/cpu/io.h"
#include "i386/mmu/pmap.h"
#include "thread/cpu_state.h"

#define PORT_ADDRESS 0xcf8
#define PORT_DATA    0xcfc
#define HAS_LIST     0x100000u /* In the word of command and status. */
#define MULTIPLE     0x800000u /* In that of the header's type. */
#define A_BRIDGE     0x010000u
#define VENDOR       0x1af4u
#define ENTRIES      4 /* Of a table of messages: address, its upper half, data, control. */

struct cpu cpus[MAX_CPUS];

/* The functions that there are; all else answers with ones. */
struct function {
	struct pci_function place;
	uint32_t words[64];
};

static struct function functions[6];
static unsigned n_functions;
static uint32_t address;
static uint32_t entries[ENTRIES][4]; /* What any registers are mapped to. */
static struct {
	uint32_t physical, size;
} mapped;

/* The word that was chosen; null: there is nobody. */
static uint32_t *chosen(void)
{
	EXPECT_EQ(address & 0x80000003u, 0x80000000u);
	for (unsigned n = 0; n < n_functions; n++) {
		const struct pci_function *place = &functions[n].place;

		if ((address >> 8 & 0xffffu) ==
		    ((uint32_t)place->bus << 8 | (uint32_t)place->slot << 3 | place->number))
			return &functions[n].words[(address & 0xff) / 4];
	}
	return NULL;
}

void outl(uint16_t port, uint32_t value)
{
	if (port == PORT_DATA && chosen() != NULL)
		*chosen() = value;
	if (port != PORT_DATA) {
		EXPECT_EQ(port, PORT_ADDRESS);
		address = value;
	}
}

uint32_t inl(uint16_t port)
{
	EXPECT_EQ(port, PORT_DATA);
	return chosen() != NULL ? *chosen() : UINT32_MAX;
}

void *device_map(uint32_t physical, uint32_t size)
{
	mapped.physical = physical;
	mapped.size = size;
	return entries;
}

static struct function *add(uint8_t bus, uint8_t slot, uint8_t number)
{
	struct function *function = &functions[n_functions++];

	*function = (struct function){.place = {.bus = bus, .slot = slot, .number = number}};
	function->words[0] = (0x1000u + n_functions) << 16 | VENDOR;
	return function;
}

static struct function *only(void)
{
	n_functions = 0;
	mapped.size = 0;
	return add(0, 3, 0);
}

/* ---------------- Capabilities ---------------- */

static void capability(struct function *function, uint8_t at, uint8_t id, uint8_t next)
{
	function->words[at / 4] = (uint32_t)next << 8 | id;
}

TEST(capabilities_are_found_one_behind_the_other)
{
	struct function *function = only();

	function->words[1] = HAS_LIST;
	function->words[0x34 / 4] = 0x40;
	capability(function, 0x40, PCI_CAPABILITY_VENDOR, 0x98);
	capability(function, 0x98, PCI_CAPABILITY_MSIX, 0x50);
	capability(function, 0x50, PCI_CAPABILITY_VENDOR, 0);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_MSIX, 0), 0x98);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0), 0x40);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0x40), 0x50);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0x50), 0);
	EXPECT_EQ(pci_capability(&function->place, 0x05, 0), 0);
}

/* The two lowest bits of a place in the list are reserved, and mean nothing. */
TEST(reserved_bits_of_a_capabilitys_place_mean_nothing)
{
	struct function *function = only();

	function->words[1] = HAS_LIST;
	function->words[0x34 / 4] = 0x43;
	capability(function, 0x40, PCI_CAPABILITY_VENDOR, 0x61);
	capability(function, 0x60, PCI_CAPABILITY_MSIX, 0x03);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0), 0x40);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_MSIX, 0), 0x60);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_MSIX, 0x60), 0);
}

TEST(lists_without_a_beginning_or_an_end)
{
	struct function *function = only();

	function->words[0x34 / 4] = 0x40;
	capability(function, 0x40, PCI_CAPABILITY_VENDOR, 0x40);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0), 0);
	function->words[1] = HAS_LIST;
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0), 0x40);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_MSIX, 0), 0);
	function->words[0x34 / 4] = 0x3c; /* In the header. */
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_VENDOR, 0), 0);
}

/* So many as there is room for, and the last one counts. */
TEST(the_longest_list)
{
	struct function *function = only();

	function->words[1] = HAS_LIST;
	function->words[0x34 / 4] = 0x40;
	for (unsigned at = 0x40; at < 0x100; at += 4)
		capability(function, (uint8_t)at, PCI_CAPABILITY_VENDOR, (uint8_t)(at + 4));
	capability(function, 0xfc, PCI_CAPABILITY_MSIX, 0);
	EXPECT_EQ(pci_capability(&function->place, PCI_CAPABILITY_MSIX, 0), 0xfc);
}

/* ---------------- Which functions there are ---------------- */

static unsigned n_found;
static struct pci_function found[8];

static void note(const struct pci_function *function)
{
	REQUIRE(n_found < 8);
	found[n_found++] = *function;
}

static void expect_found(unsigned n, uint8_t bus, uint8_t slot, uint8_t number, uint16_t device)
{
	EXPECT_EQ(found[n].bus, bus);
	EXPECT_EQ(found[n].slot, slot);
	EXPECT_EQ(found[n].number, number);
	EXPECT_EQ(found[n].vendor, VENDOR);
	EXPECT_EQ(found[n].device, device);
}

/* Of a slot only the first function, unless that says that there are more; buses behind bridges. */
TEST(functions_of_all_buses)
{
	struct function *first = only(), *bridge;

	first->words[3] = MULTIPLE;
	add(0, 3, 7);
	add(0, 4, 0);
	add(0, 4, 1); /* Nobody says that it is there. */
	bridge = add(0, 31, 0);
	bridge->words[2] = 0x06040000;
	bridge->words[3] = A_BRIDGE;
	bridge->words[6] = 5u << 8;
	add(5, 0, 0);
	n_found = 0;
	pci_for_each(note);
	EXPECT_EQ(n_found, 5);
	expect_found(0, 0, 3, 0, 0x1001);
	expect_found(1, 0, 3, 7, 0x1002);
	expect_found(2, 0, 4, 0, 0x1003);
	expect_found(3, 5, 0, 0, 0x1006);
	expect_found(4, 0, 31, 0, 0x1005);
}

TEST(a_bridge_to_its_own_bus)
{
	struct function *bridge = only();

	bridge->words[2] = 0x06040000;
	bridge->words[3] = A_BRIDGE;
	n_found = 0;
	pci_for_each(note);
	EXPECT_EQ(n_found, 1);
}

/* ---------------- Registers ---------------- */

static bool maps(struct function *function, uint8_t bar, uint32_t offset, uint32_t size)
{
	mapped.size = 0;
	return pci_map(&function->place, bar, offset, size) == entries && mapped.size == size;
}

TEST(registers_are_where_a_base_address_says)
{
	struct function *function = only();

	function->words[4] = 0xfebd1008; /* Flags in the lowest bits. */
	EXPECT(maps(function, 0, 0x800, 64));
	EXPECT_EQ(mapped.physical, 0xfebd1800);
	function->words[5] = 0xfebd2004; /* The lower half of one with 64 bits. */
	EXPECT(maps(function, 1, 0, 64));
	EXPECT_EQ(mapped.physical, 0xfebd2000);
	function->words[9] = 0xfebd3000;
	EXPECT(maps(function, 5, 0, 64));
}

TEST(registers_that_cannot_be_mapped)
{
	struct function *function = only();

	EXPECT(!maps(function, 0, 0, 64)); /* It has no address. */
	function->words[4] = 0xc001;
	EXPECT(!maps(function, 0, 0, 64)); /* Ports. */
	function->words[4] = 0xfebd1004;
	function->words[5] = 1;
	EXPECT(!maps(function, 0, 0, 64)); /* Beyond 4 GiB. */
	function->words[5] = 0;
	EXPECT(!maps(function, 0, 0, 0x01500000)); /* Up to there and further. */
	EXPECT(!maps(function, 0, 0x01500000, 64));
	function->words[10] = 0xfebd2000; /* What is behind the last one. */
	EXPECT(!maps(function, 6, 0, 64));
	function->words[3] = A_BRIDGE; /* Whose registers mean something else. */
	EXPECT(!maps(function, 0, 0, 64));
}

/* ---------------- Interrupts ---------------- */

static const uint32_t message[4] = {0xfee03000, 0, 0x55, 0}, masked[4] = {7, 7, 7, 1},
		      untouched[4] = {7, 7, 7, 7};

static bool is_entry(unsigned n, const uint32_t expected[4])
{
	return memcmp(entries[n], expected, sizeof entries[n]) == 0;
}

/* The first message is for the boot CPU, the others are masked; what is behind is not theirs. */
TEST(one_message_is_routed)
{
	struct function *function = only();

	for (unsigned n = 0; n < ENTRIES; n++)
		memcpy(entries[n], untouched, sizeof untouched);
	cpus[0].machine.apic_id = 3;
	function->words[1] = HAS_LIST;
	function->words[0x34 / 4] = 0x40;
	function->words[0x40 / 4] = 0x40020000u | PCI_CAPABILITY_MSIX; /* Three, all masked. */
	function->words[0x44 / 4] = 0x802; /* In the third base address's registers. */
	function->words[6] = 0xfebd1000;
	EXPECT(pci_route(&function->place, 0x55));
	EXPECT_EQ(mapped.physical, 0xfebd1800);
	EXPECT_EQ(mapped.size, 3 * sizeof entries[0]);
	EXPECT(is_entry(0, message) && is_entry(1, masked) && is_entry(2, masked));
	EXPECT(is_entry(3, untouched));
	EXPECT_EQ(function->words[0x40 / 4], 0x80020000u | PCI_CAPABILITY_MSIX);
}

TEST(functions_without_messages)
{
	struct function *function = only();

	EXPECT(!pci_route(&function->place, 0x55));
	function->words[1] = HAS_LIST;
	function->words[0x34 / 4] = 0x40;
	capability(function, 0x40, PCI_CAPABILITY_MSIX, 0);
	EXPECT(!pci_route(&function->place, 0x55)); /* The table is nowhere. */
	EXPECT_EQ(function->words[0x40 / 4], PCI_CAPABILITY_MSIX);
}

TEST(functions_are_enabled)
{
	struct function *function = only();

	function->words[1] = 0xffff0101;
	pci_enable(&function->place);
	EXPECT_EQ(function->words[1], 0x0107);
}
