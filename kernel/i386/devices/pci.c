/* SPDX-License-Identifier: MIT */
/* PCI by the first configuration mechanism: an address, then data.  See pci.h. */
#include "i386/devices/pci.h"

#include <stddef.h>

#include "base/assert.h"
#include "i386/cpu/cpu.h"
#include "i386/cpu/io.h"
#include "i386/mmu/pmap.h"
#include "thread/cpu_state.h"

#define PORT_ADDRESS 0xcf8
#define PORT_DATA    0xcfc
#define ADDRESS_ON   0x80000000u

#define BUSES     256
#define SLOTS     32
#define FUNCTIONS 8
#define NOBODY    0xffffu /* The vendor where there is no function. */

/* Words of the configuration space. */
#define CONFIG_ID      0x00
#define CONFIG_COMMAND 0x04 /* In the upper half the status, where a zero changes nothing. */
#define CONFIG_CLASS   0x08
#define CONFIG_HEADER  0x0c
#define CONFIG_BAR     0x10
#define CONFIG_BUSES   0x18 /* Of a bridge. */
#define CONFIG_FIRST   0x34 /* Where the first capability is. */

#define COMMAND_MASK     0xffffu
#define COMMAND_MEMORY   0x2u
#define COMMAND_MASTER   0x4u
#define STATUS_LIST      0x100000u
#define HEADER_MULTIPLE  0x800000u
#define HEADER_TYPE(w)   ((w) >> 16 & 0x7f)
#define TYPE_DEVICE      0
#define TYPE_BRIDGE      1
#define CLASS_BRIDGE     0x0604u
#define FIRST_CAPABILITY 0x40
#define MAX_CAPABILITIES 48 /* More do not fit; a list that is longer is a circle. */

#define BARS        6
#define BAR_PORTS   0x1u
#define BAR_WIDTH   0x6u
#define BAR_64_BITS 0x4u
#define BAR_FLAGS   0xfu

/* MSI-X: the control word is the upper half of the capability's first. */
#define MSIX_TABLE        4 /* The word that says where the table is. */
#define MSIX_TABLE_BAR    7u
#define MSIX_ON           0x80000000u
#define MSIX_ALL_MASKED   0x40000000u
#define MSIX_COUNT(w)     (((w) >> 16 & 0x7ff) + 1)
#define MSIX_ENTRY_MASKED 1u

/* An entry of the table, and where a store is a message to a local APIC. */
struct msix_entry {
	uint32_t address;
	uint32_t address_high;
	uint32_t data;
	uint32_t control;
};

#define MESSAGE_ADDRESS  0xfee00000u
#define MESSAGE_ID_SHIFT 12

/* ---------------- Configuration space ---------------- */

static void pci_select(const struct pci_function *function, uint8_t offset)
{
	assert(offset % 4 == 0);
	outl(PORT_ADDRESS, ADDRESS_ON | (uint32_t)function->bus << 16 |
				   (uint32_t)function->slot << 11 |
				   (uint32_t)function->number << 8 | offset);
}

uint32_t pci_read(const struct pci_function *function, uint8_t offset)
{
	pci_select(function, offset);
	return inl(PORT_DATA);
}

void pci_write(const struct pci_function *function, uint8_t offset, uint32_t value)
{
	pci_select(function, offset);
	outl(PORT_DATA, value);
}

void pci_enable(const struct pci_function *function)
{
	uint32_t command = pci_read(function, CONFIG_COMMAND) & COMMAND_MASK;

	pci_write(function, CONFIG_COMMAND, command | COMMAND_MEMORY | COMMAND_MASTER);
}

static uint8_t pci_byte_at(const struct pci_function *function, uint8_t offset)
{
	return (uint8_t)(pci_read(function, offset & ~3u) >> 8 * (offset % 4));
}

/* The list is the function's own: whatever it says, this comes to an end. */
uint8_t pci_capability(const struct pci_function *function, uint8_t id, uint8_t after)
{
	uint8_t at = CONFIG_FIRST;

	if ((pci_read(function, CONFIG_COMMAND) & STATUS_LIST) == 0)
		return 0;
	if (after != 0)
		at = after + 1;
	for (unsigned n = 0; n < MAX_CAPABILITIES; n++) {
		at = pci_byte_at(function, at) & ~3u;
		if (at < FIRST_CAPABILITY)
			return 0;
		if (pci_byte_at(function, at) == id)
			return at;
		at++;
	}
	return 0;
}

/* ---------------- Which functions there are ---------------- */

struct walk {
	void (*found)(const struct pci_function *function);
	uint32_t seen[BUSES / 32]; /* A bit for each bus: none is looked at twice. */
};

static void pci_walk_bus(struct walk *walk, uint8_t bus);

/* Looks whether the function is there, and behind it if it is a bridge. */
static bool pci_walk_function(struct walk *walk, struct pci_function *function)
{
	uint32_t id = pci_read(function, CONFIG_ID);

	function->vendor = (uint16_t)id;
	function->device = id >> 16;
	if (function->vendor == NOBODY)
		return false;
	if (HEADER_TYPE(pci_read(function, CONFIG_HEADER)) == TYPE_BRIDGE &&
	    pci_read(function, CONFIG_CLASS) >> 16 == CLASS_BRIDGE)
		pci_walk_bus(walk, (uint8_t)(pci_read(function, CONFIG_BUSES) >> 8));
	walk->found(function);
	return true;
}

static void pci_walk_slot(struct walk *walk, uint8_t bus, uint8_t slot)
{
	struct pci_function function = {.bus = bus, .slot = slot};

	if (!pci_walk_function(walk, &function) ||
	    (pci_read(&function, CONFIG_HEADER) & HEADER_MULTIPLE) == 0)
		return;
	for (function.number = 1; function.number < FUNCTIONS; function.number++)
		pci_walk_function(walk, &function);
}

static void pci_walk_bus(struct walk *walk, uint8_t bus)
{
	uint32_t bit = 1u << bus % 32;

	if ((walk->seen[bus / 32] & bit) != 0)
		return;
	walk->seen[bus / 32] |= bit;
	for (uint8_t slot = 0; slot < SLOTS; slot++)
		pci_walk_slot(walk, bus, slot);
}

void pci_for_each(void (*found)(const struct pci_function *function))
{
	struct walk walk = {.found = found};

	pci_walk_bus(&walk, 0);
}

/* ---------------- Registers and interrupts ---------------- */

void *pci_map(const struct pci_function *function, uint8_t bar, uint32_t offset, uint32_t size)
{
	uint32_t low, high = 0;

	if (bar >= BARS || HEADER_TYPE(pci_read(function, CONFIG_HEADER)) != TYPE_DEVICE)
		return NULL;
	low = pci_read(function, CONFIG_BAR + 4 * bar);
	if ((low & BAR_WIDTH) == BAR_64_BITS && bar + 1 < BARS)
		high = pci_read(function, CONFIG_BAR + 4 * (bar + 1));
	if ((low & BAR_PORTS) != 0 || (low & ~BAR_FLAGS) == 0 || high != 0)
		return NULL;
	low &= ~BAR_FLAGS;
	if (offset > UINT32_MAX - low || size > UINT32_MAX - low - offset)
		return NULL;
	return device_map(low + offset, size);
}

/* All entries of the table are masked until the first one is right. */
bool pci_route(const struct pci_function *function, uint8_t vector)
{
	uint8_t capability = pci_capability(function, PCI_CAPABILITY_MSIX, 0);
	volatile struct msix_entry *entries;
	uint32_t control, table;
	unsigned n;

	if (capability == 0)
		return false;
	control = pci_read(function, capability);
	table = pci_read(function, capability + MSIX_TABLE);
	n = MSIX_COUNT(control);
	entries = pci_map(function, table & MSIX_TABLE_BAR, table & ~MSIX_TABLE_BAR,
			  n * sizeof *entries);
	if (entries == NULL)
		return false;
	pci_write(function, capability, control | MSIX_ON | MSIX_ALL_MASKED);
	while (n-- > 1)
		entries[n].control = MSIX_ENTRY_MASKED;
	entries[0].address = MESSAGE_ADDRESS | cpus[0].machine.apic_id << MESSAGE_ID_SHIFT;
	entries[0].address_high = 0;
	entries[0].data = vector;
	entries[0].control = 0;
	pci_write(function, capability, (control | MSIX_ON) & ~MSIX_ALL_MASKED);
	return true;
}
