/* SPDX-License-Identifier: MIT */
/*
 * Virtio devices on PCI.
 *
 * A device says in capabilities of the vendor's kind where its registers are: which base address
 * register, and from where to where.  A device that cannot be used is left alone, with a line in
 * the log.
 */
#include "i386/devices/virtio_pci.h"

#include <stddef.h>

#include "base/log.h"
#include "device/interrupt.h"
#include "device/virtio.h"
#include "device/virtio_disk.h"
#include "i386/cpu/vectors.h"
#include "i386/devices/pci.h"

#define VENDOR            0x1af4
#define DEVICE_DISK       0x1042
#define DEVICE_DISK_BOTH  0x1001 /* A disk that older drivers know too. */
#define DEVICE_TYPE(word) ((word) >> 24)

/* Words of a capability; the first has the capability's id, the next one's place, size and type. */
#define CAPABILITY_BAR    4
#define CAPABILITY_OFFSET 8
#define CAPABILITY_SIZE   12
#define CAPABILITY_UNIT   16 /* Of notifications only. */

enum type {
	TYPE_COMMON = 1,
	TYPE_NOTIFY = 2,
	TYPE_CONFIG = 4,
};

/* Registers of one type, mapped. */
struct window {
	void *registers;
	uint32_t size;
	uint8_t capability;
};

/* No device has more registers of a type than this. */
#define WINDOW_MAX 0x10000u

/* Maps the registers of a type, of which there must be `least` bytes. */
static bool virtio_pci_window_map(const struct pci_function *function, enum type type,
				  uint32_t least, struct window *window)
{
	uint8_t at = 0;

	while ((at = pci_capability(function, PCI_CAPABILITY_VENDOR, at)) != 0) {
		uint32_t offset = pci_read(function, at + CAPABILITY_OFFSET);
		uint8_t bar = (uint8_t)pci_read(function, at + CAPABILITY_BAR);

		if (DEVICE_TYPE(pci_read(function, at)) != type)
			continue;
		window->capability = at;
		window->size = pci_read(function, at + CAPABILITY_SIZE);
		if (window->size < least || window->size > WINDOW_MAX || offset % 4 != 0)
			continue;
		window->registers = pci_map(function, bar, offset, window->size);
		if (window->registers != NULL)
			return true;
	}
	return false;
}

static bool virtio_pci_map(const struct pci_function *function, struct virtio *virtio)
{
	struct window common, notify, config;

	if (!virtio_pci_window_map(function, TYPE_COMMON, sizeof *virtio->common, &common) ||
	    !virtio_pci_window_map(function, TYPE_NOTIFY, sizeof *virtio->doorbell, &notify) ||
	    !virtio_pci_window_map(function, TYPE_CONFIG, sizeof *virtio->config, &config))
		return false;
	virtio->common = common.registers;
	virtio->notify = notify.registers;
	virtio->notify_size = notify.size;
	virtio->notify_unit = pci_read(function, notify.capability + CAPABILITY_UNIT);
	virtio->config = config.registers;
	virtio->config_size = config.size;
	return true;
}

/* NULL, or why the disk cannot be used. */
static const char *virtio_pci_start_disk(const struct pci_function *function)
{
	struct virtio *virtio = virtio_disk_next();

	if (virtio == NULL)
		return "there are disks enough";
	pci_enable(function);
	if (!virtio_pci_map(function, virtio))
		return "it is older than version 1 of virtio, or its registers are out of reach";
	if (!pci_route(function, VECTOR_DEVICE + device_interrupt_add(&virtio->interrupt)))
		return "it does not interrupt by messages (MSI-X)";
	return virtio_disk_start(virtio);
}

static void virtio_pci_look_at(const struct pci_function *function)
{
	const char *wrong;

	if (function->vendor != VENDOR ||
	    (function->device != DEVICE_DISK && function->device != DEVICE_DISK_BOTH))
		return;
	wrong = virtio_pci_start_disk(function);
	if (wrong != NULL)
		klog("pci: the virtio disk at %u:%u.%u is left alone: %s\n", function->bus,
		     function->slot, function->number, wrong);
}

void virtio_pci_find(void)
{
	pci_for_each(virtio_pci_look_at);
}
