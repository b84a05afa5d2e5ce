/* SPDX-License-Identifier: MIT */
/* Virtio devices: see virtio.h.  Names of bits and layouts are those of the specification. */
#include "device/virtio.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/log.h"
#include "vm/page/page.h"

#define STATUS_ACKNOWLEDGE 1u
#define STATUS_DRIVER      2u
#define STATUS_DRIVER_OK   4u
#define STATUS_FEATURES_OK 8u
#define STATUS_FAILED      128u

#define FEATURES_HIGH     1u /* Selects the upper 32: */
#define FEATURE_VERSION_1 1u /* bit 32. */

#define NO_VECTOR 0xffffu

#define DESCRIPTOR_NEXT  1u
#define DESCRIPTOR_WRITE 2u
#define NO_NOTIFY        1u

#define QUEUE_MAX (VIRTIO_SLOTS * VIRTIO_PARTS)

/* A reset is a matter of microseconds; a device that takes longer is none. */
#define RESET_TRIES 1000000

struct virtio_descriptor {
	uint64_t address;
	uint32_t size;
	uint16_t flags;
	uint16_t next;
};

/* `index` counts all entries ever made, modulo 2^16; an entry's place is that modulo the size. */
struct virtio_rings {
	struct {
		uint16_t flags;
		uint16_t index;
		uint16_t first[QUEUE_MAX]; /* The first descriptor of each chain. */
		uint16_t unused[2];
	} available;
	struct {
		uint16_t flags;
		uint16_t index;
		struct {
			uint32_t first;
			uint32_t written;
		} entries[QUEUE_MAX];
	} used;
};

_Static_assert(sizeof(struct virtio_common) == 56, "as the device has them");
_Static_assert(sizeof(struct virtio_descriptor) * QUEUE_MAX <= PAGE_SIZE, "a page of them");
_Static_assert(sizeof(struct virtio_rings) <= PAGE_SIZE, "the other page");
_Static_assert(offsetof(struct virtio_rings, used) % 4 == 0, "as the device wants it");

/* ---------------- The start ---------------- */

static bool virtio_reset(struct virtio *virtio)
{
	virtio->common->status = 0;
	for (unsigned n = 0; n < RESET_TRIES; n++) {
		if (virtio->common->status == 0)
			return true;
	}
	return false;
}

static void virtio_add_status(struct virtio *virtio, uint8_t bits)
{
	virtio->common->status |= bits;
}

static uint32_t virtio_offered(struct virtio *virtio, uint32_t half)
{
	virtio->common->device_features_select = half;
	return virtio->common->device_features;
}

static void virtio_accept(struct virtio *virtio, uint32_t half, uint32_t features)
{
	virtio->common->driver_features_select = half;
	virtio->common->driver_features = features;
}

const char *virtio_begin(struct virtio *virtio, uint32_t wanted)
{
	if (!virtio_reset(virtio))
		return "it does not answer a reset";
	virtio_add_status(virtio, STATUS_ACKNOWLEDGE);
	virtio_add_status(virtio, STATUS_DRIVER);
	virtio->features = virtio_offered(virtio, 0) & wanted;
	if ((virtio_offered(virtio, FEATURES_HIGH) & FEATURE_VERSION_1) == 0)
		return "it is older than version 1 of virtio";
	virtio_accept(virtio, 0, virtio->features);
	virtio_accept(virtio, FEATURES_HIGH, FEATURE_VERSION_1);
	virtio_add_status(virtio, STATUS_FEATURES_OK);
	if ((virtio->common->status & STATUS_FEATURES_OK) == 0)
		return "it does not agree on what both can do";
	return NULL;
}

/* The parts of a slot follow each other; where a chain ends is said when it is given. */
static void virtio_chain_slots(struct virtio *virtio)
{
	for (unsigned n = 0; n < virtio->slots * VIRTIO_PARTS; n++)
		virtio->descriptors[n].next = (uint16_t)(n + 1);
}

static void virtio_set_address(volatile uint32_t words[2], uint32_t physical)
{
	words[0] = physical;
	words[1] = 0;
}

/* Two pages: the allocator's addresses have nothing in their upper half. */
static bool virtio_allocate(struct virtio *virtio, uint16_t size)
{
	ALLOCATES_AT_BOOT;
	volatile struct virtio_common *common = virtio->common;
	struct page *descriptors = page_alloc_zeroed(PAGE_KERNEL);
	struct page *rings = page_alloc_zeroed(PAGE_KERNEL);
	uint32_t physical;

	if (descriptors == NULL || rings == NULL)
		return false; /* A kernel that cannot have two pages at boot does not live long. */
	virtio->descriptors = page_data(descriptors);
	virtio->rings = page_data(rings);
	virtio->slots = size / VIRTIO_PARTS;
	virtio_chain_slots(virtio);
	physical = page_physical(rings);
	common->queue_size = size;
	virtio_set_address(common->queue_descriptors, page_physical(descriptors));
	virtio_set_address(common->queue_available,
			   physical + offsetof(struct virtio_rings, available));
	virtio_set_address(common->queue_used, physical + offsetof(struct virtio_rings, used));
	return true;
}

const char *virtio_queue_init(struct virtio *virtio)
{
	volatile struct virtio_common *common = virtio->common;
	uint32_t doorbell;
	uint16_t size;

	common->config_vector = NO_VECTOR;
	common->queue_select = 0;
	size = common->queue_size < QUEUE_MAX ? common->queue_size : QUEUE_MAX;
	doorbell = common->queue_notify_offset * virtio->notify_unit;
	if (size < VIRTIO_PARTS || (size & (size - 1)) != 0)
		return "its queue is too short";
	if (doorbell > virtio->notify_size - sizeof *virtio->doorbell)
		return "it has no place for notifications";
	if (!virtio_allocate(virtio, size))
		return "there is no memory for its queue";
	virtio->doorbell = (volatile uint16_t *)(virtio->notify + doorbell);
	common->queue_vector = 0;
	if (common->queue_vector != 0)
		return "it has no interrupt for its queue";
	common->queue_enable = 1;
	return NULL;
}

void virtio_ready(struct virtio *virtio)
{
	virtio_add_status(virtio, STATUS_DRIVER_OK);
}

void virtio_fail(struct virtio *virtio)
{
	virtio_add_status(virtio, STATUS_FAILED);
}

/* ---------------- The queue ---------------- */

void virtio_part(struct virtio *virtio, unsigned slot, unsigned n, uint32_t physical, uint32_t size,
		 bool device_writes)
{
	struct virtio_descriptor *part = &virtio->descriptors[slot * VIRTIO_PARTS + n];

	assert(slot < virtio->slots && n < VIRTIO_PARTS);
	assert((virtio->flying & 1u << slot) == 0);
	part->address = physical;
	part->size = size;
	part->flags = DESCRIPTOR_NEXT | (device_writes ? DESCRIPTOR_WRITE : 0);
}

void virtio_give(struct virtio *virtio, unsigned slot, unsigned n)
{
	struct virtio_rings *rings = virtio->rings;
	uint16_t first = (uint16_t)(slot * VIRTIO_PARTS);
	uint16_t index = rings->available.index;

	assert(kernel_locked());
	assert(slot < virtio->slots && n > 0 && n <= VIRTIO_PARTS);
	assert((virtio->flying & 1u << slot) == 0);
	virtio->descriptors[first + n - 1].flags &= ~DESCRIPTOR_NEXT;
	virtio->flying |= 1u << slot;
	rings->available.first[index % (virtio->slots * VIRTIO_PARTS)] = first;
	/* The device may look from this store on: what it finds must be there. */
	__atomic_store_n(&rings->available.index, (uint16_t)(index + 1), __ATOMIC_RELEASE);
}

/* The device's wish not to be told is read after what it would have been told of is written. */
void virtio_kick(struct virtio *virtio)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	if ((__atomic_load_n(&virtio->rings->used.flags, __ATOMIC_RELAXED) & NO_NOTIFY) == 0)
		*virtio->doorbell = 0;
}

/* The slot is the driver's again before anybody can pause. */
unsigned virtio_take(struct virtio *virtio, uint32_t *written)
{
	struct virtio_rings *rings = virtio->rings;

	assert(kernel_locked());
	while (__atomic_load_n(&rings->used.index, __ATOMIC_ACQUIRE) != virtio->taken) {
		unsigned place = virtio->taken++ % (virtio->slots * VIRTIO_PARTS);
		uint32_t first = rings->used.entries[place].first;
		unsigned slot = first / VIRTIO_PARTS;

		*written = rings->used.entries[place].written;
		if (slot < virtio->slots && first % VIRTIO_PARTS == 0 &&
		    (virtio->flying & 1u << slot) != 0) {
			virtio->flying &= ~(1u << slot);
			return slot;
		}
		klog("virtio: a device gave back %u, which it does not have\n", first);
	}
	return VIRTIO_NONE;
}
