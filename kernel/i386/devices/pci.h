/* SPDX-License-Identifier: MIT */
/*
 * PCI: which functions there are, their configuration space, and their interrupts.
 *
 * Firmware has given the registers of all functions their addresses; they are taken as they are.
 * Interrupts are messages (MSI-X), stores that a function makes to a local APIC: they need no pin,
 * are never shared, and come the same way whatever the chipset.  All of this is for boot.
 */
#ifndef I386_DEVICES_PCI_H
#define I386_DEVICES_PCI_H

#include <stdbool.h>
#include <stdint.h>

/* A function of a device: where it is, and who made it. */
struct pci_function {
	uint8_t bus, slot, number;
	uint16_t vendor, device;
};

/* Calls `found` for every function on the buses that firmware has numbered. */
void pci_for_each(void (*found)(const struct pci_function *function));

/* The configuration space, 256 bytes, by words of 32 bits; `offset` is a multiple of 4. */
uint32_t pci_read(const struct pci_function *function, uint8_t offset);
void pci_write(const struct pci_function *function, uint8_t offset, uint32_t value);

/* Lets the function answer in memory, and reach memory itself. */
void pci_enable(const struct pci_function *function);

/* The offset of the next capability `id` behind `after` (0: the first one), or 0. */
uint8_t pci_capability(const struct pci_function *function, uint8_t id, uint8_t after);

#define PCI_CAPABILITY_VENDOR 0x09
#define PCI_CAPABILITY_MSIX   0x11

/*
 * Maps `size` bytes at `offset` of the registers that the base address register `bar` has an
 * address for; NULL if those are ports, or beyond 4 GiB, or there is no room.
 */
void *pci_map(const struct pci_function *function, uint8_t bar, uint32_t offset, uint32_t size);

/*
 * The function's first message raises `vector` on the boot CPU from now on, and its others nothing;
 * false if it has no messages.
 */
bool pci_route(const struct pci_function *function, uint8_t vector);

#endif
