/* SPDX-License-Identifier: MIT */
/* Virtio devices on PCI: finds the disks, maps their registers, connects their interrupts. */
#ifndef I386_DEVICES_VIRTIO_PCI_H
#define I386_DEVICES_VIRTIO_PCI_H

/* At boot, when there are memory, the boot CPU's local APIC, and device_add(). */
void virtio_pci_find(void);

#endif
