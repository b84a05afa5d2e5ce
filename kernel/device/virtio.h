/* SPDX-License-Identifier: MIT */
/*
 * Virtio devices (version 1), as far as they are alike: registers, the choice of features, and one
 * queue of requests.
 *
 * The queue's descriptors are divided into slots, each of which is one request: a chain of parts
 * that the device reads, followed by parts that it writes.  So a request needs no search for
 * descriptors, and what the device gives back names its slot.  The machine finds the device, maps
 * its registers and connects its interrupt (i386/devices/virtio_pci.h); the driver does the rest.
 * Guarded by the kernel lock.
 */
#ifndef DEVICE_VIRTIO_H
#define DEVICE_VIRTIO_H

#include <stdbool.h>
#include <stdint.h>

#include "device/interrupt.h"

#define VIRTIO_SLOTS 16
#define VIRTIO_PARTS 16 /* Of a slot. */

/* What virtio_take() says when the device has given nothing back. */
#define VIRTIO_NONE VIRTIO_SLOTS

/* The registers that all virtio devices have. */
struct virtio_common {
	uint32_t device_features_select;
	uint32_t device_features;
	uint32_t driver_features_select;
	uint32_t driver_features;
	uint16_t config_vector;
	uint16_t queues;
	uint8_t status;
	uint8_t generation;
	uint16_t queue_select;
	uint16_t queue_size;
	uint16_t queue_vector;
	uint16_t queue_enable;
	uint16_t queue_notify_offset;
	uint32_t queue_descriptors[2]; /* Physical addresses, the low half first: of descriptors, */
	uint32_t queue_available[2];   /* of what the driver offers, */
	uint32_t queue_used[2];        /* and of what the device gives back. */
};

struct virtio_descriptor;
struct virtio_rings;

struct virtio {
	struct device_interrupt interrupt; /* `work` is the driver's, set by the machine. */

	/* Where the machine has mapped the device's registers. */
	volatile struct virtio_common *common;
	volatile uint8_t *notify; /* Offsets from here, in units of `notify_unit`, */
	uint32_t notify_size;     /* are below this. */
	uint32_t notify_unit;
	volatile uint32_t *config; /* Those of its kind, of which there are */
	uint32_t config_size;      /* so many bytes. */

	uint32_t features; /* Low half of what both sides can. */
	uint32_t slots;    /* How many there are: 1 to VIRTIO_SLOTS. */
	volatile uint16_t *doorbell;
	struct virtio_descriptor *descriptors;
	struct virtio_rings *rings;
	uint16_t taken;  /* Requests that the device has given back, modulo 2^16. */
	uint32_t flying; /* Slots that the device has, a bit each. */
};

/*
 * Resets the device and agrees on features, no more than `wanted` of the low half; NULL, or in a
 * sentence why the device cannot be used.  What allocates does so at boot.
 */
const char *virtio_begin(struct virtio *virtio, uint32_t wanted);

/* Sets up the queue, with the first interrupt vector; NULL, or a sentence. */
const char *virtio_queue_init(struct virtio *virtio);

/* From here on the device takes requests; or never, because of what a sentence has told. */
void virtio_ready(struct virtio *virtio);
void virtio_fail(struct virtio *virtio);

/* Part `n` of a slot that the device does not have. */
void virtio_part(struct virtio *virtio, unsigned slot, unsigned n, uint32_t physical, uint32_t size,
		 bool device_writes);

/* Gives the device a slot of `n` parts.  It may not look before virtio_kick(). */
void virtio_give(struct virtio *virtio, unsigned slot, unsigned n);
void virtio_kick(struct virtio *virtio);

/* A slot that the device has given back, and how many bytes it wrote; or VIRTIO_NONE. */
unsigned virtio_take(struct virtio *virtio, uint32_t *written);

#endif
