/* SPDX-License-Identifier: MIT */
/*
 * Virtio disks: see virtio_disk.h.
 *
 * A request that has a slot is given to the device piece by piece, each as large as a slot allows,
 * one after the other; one that has none yet waits in a list.
 */
#include "device/virtio_disk.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/log.h"
#include "device/device.h"
#include "device/disk.h"
#include "device/virtio.h"
#include "vm/map/copy.h"
#include "vm/page/page.h"

#define MAX_DISKS 4

/* A piece has a header, which the device reads, data, and a status, which it writes. */
#define MAX_PAGES (VIRTIO_PARTS - 2)
#define MIN_PAGES 2 /* So that a piece has a whole record, wherever in a page the data begins. */

#define FEATURE_SIZE_MAX  0x2u /* Registers say how long a part may be, */
#define FEATURE_SEG_MAX   0x4u /* and how many parts of data there may be. */
#define FEATURE_READ_ONLY 0x20u
#define FEATURE_BLK_SIZE  0x40u /* Registers say what the disk is made of. */

#define FEATURES (FEATURE_SIZE_MAX | FEATURE_SEG_MAX | FEATURE_READ_ONLY | FEATURE_BLK_SIZE)

enum type {
	TYPE_READ,
	TYPE_WRITE,
};

#define STATUS_SUCCESS 0u
#define STATUS_NONE    0xffu /* As no device writes it. */

/* Registers of a disk; the capacity is in records. */
enum config {
	CONFIG_CAPACITY,
	CONFIG_CAPACITY_HIGH,
	CONFIG_SIZE_MAX,
	CONFIG_SEG_MAX,
	CONFIG_GEOMETRY,
	CONFIG_BLK_SIZE,
	CONFIG_WORDS,
};

struct header {
	uint32_t type;
	uint32_t unused;
	uint64_t record;
};

/* What the device reads and writes of a slot beyond the data. */
struct envelope {
	struct header header;
	uint8_t status;
};

/* A request that has a slot, and the piece of it that the device has. */
struct flight {
	struct device_request *request; /* NULL: the slot is free. */
	struct list *page;              /* Where the next piece goes on, */
	uint32_t offset;                /* and where in that page. */
	uint32_t piece;                 /* Bytes of data in this one. */
};

struct disk {
	struct virtio virtio; /* First: what the interrupt knows. */
	struct device device;
	uint32_t records;
	uint32_t max_pages; /* In a piece. */
	bool read_only;
	bool has_failed;     /* The log knows: it is told once. */
	struct list waiting; /* Requests without a slot. */
	struct flight flights[VIRTIO_SLOTS];
	unsigned flying;            /* Slots in use. */
	struct envelope *envelopes; /* A page; one for each slot. */
	uint32_t envelopes_physical;
};

_Static_assert(sizeof(struct header) == 16, "as the device reads it");
_Static_assert(sizeof(struct envelope) * VIRTIO_SLOTS <= PAGE_SIZE, "all of them in a page");
_Static_assert(offsetof(struct disk, virtio) == 0 && offsetof(struct virtio, interrupt) == 0,
	       "an interrupt is a disk");

static struct disk disks[MAX_DISKS];
static char names[MAX_DISKS][4] = {"vd0", "vd1", "vd2", "vd3"};
static unsigned n_disks;

/* ---------------- Requests under way ---------------- */

/* How much of the request the next piece takes: whole records. */
static uint32_t virtio_disk_piece_size(const struct disk *disk, const struct flight *flight)
{
	uint32_t left = flight->request->size - flight->request->done;
	uint32_t most = disk->max_pages * PAGE_SIZE - flight->offset;

	return left <= most ? left : most - most % DISK_RECORD_SIZE;
}

/* Names the pages of the piece from part 1 on; returns the number of the part behind them. */
static unsigned disk_add_pages(struct disk *disk, unsigned slot)
{
	struct flight *flight = &disk->flights[slot];
	uint32_t left = flight->piece;
	unsigned part;

	for (part = 1; left != 0; part++) {
		struct page *page = list_object(flight->page, struct page, link);
		uint32_t room = PAGE_SIZE - flight->offset;
		uint32_t bytes = left < room ? left : room;

		assert(flight->page != &flight->request->data->pages);
		virtio_part(&disk->virtio, slot, part, page_physical(page) + flight->offset, bytes,
			    !flight->request->write);
		left -= bytes;
		flight->offset += bytes;
		if (flight->offset == PAGE_SIZE) {
			flight->page = flight->page->next;
			flight->offset = 0;
		}
	}
	return part;
}

static void virtio_disk_send_piece(struct disk *disk, unsigned slot)
{
	struct flight *flight = &disk->flights[slot];
	const struct device_request *request = flight->request;
	struct envelope *envelope = &disk->envelopes[slot];
	uint32_t physical = disk->envelopes_physical + slot * sizeof *envelope;
	unsigned last;

	envelope->header = (struct header){
		.type = request->write ? TYPE_WRITE : TYPE_READ,
		.record = (uint64_t)request->record + request->done / DISK_RECORD_SIZE,
	};
	envelope->status = STATUS_NONE;
	flight->piece = virtio_disk_piece_size(disk, flight);
	virtio_part(&disk->virtio, slot, 0, physical, sizeof envelope->header, false);
	last = disk_add_pages(disk, slot);
	virtio_part(&disk->virtio, slot, last, physical + offsetof(struct envelope, status),
		    sizeof envelope->status, true);
	virtio_give(&disk->virtio, slot, last + 1);
}

/* A slot that is free, or VIRTIO_NONE. */
static unsigned disk_free_slot(const struct disk *disk)
{
	for (unsigned slot = 0; slot < disk->virtio.slots; slot++) {
		if (disk->flights[slot].request == NULL)
			return slot;
	}
	return VIRTIO_NONE;
}

/* One more is in flight: as long as all are for the same label, so is an interrupt. */
static void disk_note_label(struct disk *disk, uint32_t label)
{
	if (disk->flying++ == 0)
		disk->virtio.interrupt.label = label;
	else if (disk->virtio.interrupt.label != label)
		disk->virtio.interrupt.label = 0;
}

/* Gives slots to requests as long as there are both. */
static void virtio_disk_start_waiting(struct disk *disk)
{
	bool any = false;
	unsigned slot;

	while (!list_empty(&disk->waiting) && (slot = disk_free_slot(disk)) != VIRTIO_NONE) {
		struct list *link = list_take_first(&disk->waiting);
		struct device_request *request = list_object(link, struct device_request, link);

		disk->flights[slot] = (struct flight){
			.request = request,
			.page = request->data->pages.next,
			.offset = request->data->offset,
		};
		disk_note_label(disk, request->label);
		virtio_disk_send_piece(disk, slot);
		any = true;
	}
	if (any)
		virtio_kick(&disk->virtio);
}

/* What became of a piece: a device that wrote less than it should have left old data in a page. */
static io_return_t disk_judge(const struct disk *disk, unsigned slot, uint32_t written)
{
	const struct flight *flight = &disk->flights[slot];
	uint32_t expected = sizeof disk->envelopes[slot].status;

	if (!flight->request->write)
		expected += flight->piece;
	if (disk->envelopes[slot].status != STATUS_SUCCESS || written < expected)
		return D_IO_ERROR;
	return D_SUCCESS;
}

/* The slot is free before the request is answered. */
static void virtio_disk_piece_done(struct disk *disk, unsigned slot, uint32_t written)
{
	struct flight *flight = &disk->flights[slot];
	struct device_request *request = flight->request;
	io_return_t result = disk_judge(disk, slot, written);

	if (result == D_SUCCESS) {
		request->done += flight->piece;
		if (request->done < request->size) {
			virtio_disk_send_piece(disk, slot);
			virtio_kick(&disk->virtio);
			return;
		}
	} else if (!disk->has_failed) {
		disk->has_failed = true;
		klog("%s: record %u cannot be %s\n", disk->device.name,
		     request->record + request->done / DISK_RECORD_SIZE,
		     request->write ? "written" : "read");
	}
	flight->request = NULL;
	disk->flying--;
	request_done(request, result);
}

static void disk_work(struct device_interrupt *interrupt)
{
	struct disk *disk = (struct disk *)interrupt;
	uint32_t written;
	unsigned slot;

	assert(kernel_locked());
	while ((slot = virtio_take(&disk->virtio, &written)) != VIRTIO_NONE)
		virtio_disk_piece_done(disk, slot, written);
	virtio_disk_start_waiting(disk);
}

/* ---------------- The device ---------------- */

static io_return_t disk_take(struct disk *disk, struct device_request *request)
{
	assert(request->data->kind == COPY_PAGES && request->data->size >= request->size);
	request->done = 0;
	list_add_last(&disk->waiting, &request->link);
	virtio_disk_start_waiting(disk);
	return D_SUCCESS;
}

/* The pages are the caller's affair: he may have memory where whoever completes has none. */
static io_return_t disk_read(struct device *device, struct device_request *request)
{
	struct disk *disk = device->state;
	io_return_t result = disk_check(request, disk->records);

	if (result != D_SUCCESS)
		return result;
	return disk_make_room(request) ? disk_take(disk, request) : D_NO_MEMORY;
}

static io_return_t disk_write(struct device *device, struct device_request *request)
{
	struct disk *disk = device->state;
	io_return_t result = disk->read_only ? D_READ_ONLY : disk_check(request, disk->records);

	return result == D_SUCCESS ? disk_take(disk, request) : result;
}

static io_return_t disk_status(struct device *device, dev_flavor_t flavor, int *status, uint32_t *n)
{
	const struct disk *disk = device->state;

	return disk_get_status(disk->records, flavor, status, n);
}

static const struct driver disk_driver = {
	.read = disk_read,
	.write = disk_write,
	.get_status = disk_status,
};

/* ---------------- The start ---------------- */

struct virtio *virtio_disk_next(void)
{
	if (n_disks == MAX_DISKS)
		return NULL;
	disks[n_disks].virtio.interrupt.work = disk_work;
	return &disks[n_disks].virtio;
}

/* Records are counted in 32 bits: what is beyond 2 TiB is left alone. */
static uint32_t virtio_disk_capacity(const struct disk *disk)
{
	const volatile uint32_t *config = disk->virtio.config;

	return config[CONFIG_CAPACITY_HIGH] != 0 ? UINT32_MAX : config[CONFIG_CAPACITY];
}

/* How many pages a piece may have; false if they are too few, or records are too small for it. */
static bool virtio_disk_read_limits(struct disk *disk)
{
	const volatile uint32_t *config = disk->virtio.config;
	uint32_t features = disk->virtio.features;

	disk->max_pages = MAX_PAGES;
	if ((features & FEATURE_SEG_MAX) != 0 && config[CONFIG_SEG_MAX] < MAX_PAGES)
		disk->max_pages = config[CONFIG_SEG_MAX];
	if ((features & FEATURE_SIZE_MAX) != 0 && config[CONFIG_SIZE_MAX] < PAGE_SIZE)
		return false;
	if ((features & FEATURE_BLK_SIZE) != 0 && config[CONFIG_BLK_SIZE] > DISK_RECORD_SIZE)
		return false;
	return disk->max_pages >= MIN_PAGES;
}

static const char *disk_set_up(struct disk *disk)
{
	ALLOCATES_AT_BOOT;
	struct virtio *virtio = &disk->virtio;
	struct page *envelopes;
	const char *wrong = virtio_begin(virtio, FEATURES);

	if (wrong != NULL)
		return wrong;
	if (virtio->config_size < CONFIG_WORDS * sizeof *virtio->config ||
	    !virtio_disk_read_limits(disk))
		return "its blocks are too large, or its requests too small";
	if (virtio_disk_capacity(disk) == 0)
		return "it has no room";
	envelopes = page_alloc_zeroed(PAGE_KERNEL);
	if (envelopes == NULL)
		return "there is no memory for it";
	disk->envelopes = page_data(envelopes);
	disk->envelopes_physical = page_physical(envelopes);
	return virtio_queue_init(virtio);
}

const char *virtio_disk_start(struct virtio *virtio)
{
	struct disk *disk = &disks[n_disks];
	const char *wrong;

	assert(n_disks < MAX_DISKS && virtio == &disk->virtio);
	wrong = disk_set_up(disk);
	if (wrong != NULL) {
		virtio_fail(virtio);
		return wrong;
	}
	list_init(&disk->waiting);
	disk->records = virtio_disk_capacity(disk);
	disk->read_only = (virtio->features & FEATURE_READ_ONLY) != 0;
	disk->device = (struct device){
		.name = names[n_disks],
		.driver = &disk_driver,
		.state = disk,
		.record_size = DISK_RECORD_SIZE,
	};
	n_disks++;
	virtio_ready(virtio);
	device_add(&disk->device);
	klog("%s: %u records on a virtio disk%s\n", disk->device.name, disk->records,
	     disk->read_only ? ", read-only" : "");
	return NULL;
}
