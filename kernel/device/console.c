/* SPDX-License-Identifier: MIT */
/*
 * The device "console": see console.h.
 *
 * Owns the ring of bytes that have come and the list of reads that wait for some.  The ring has one
 * writer, the interrupt handler, on the one CPU that the interrupt goes to; everything else is
 * guarded by the kernel lock.
 */
#include "device/console.h"

#include <stddef.h>

#include "device/device.h"
#include "device/interrupt.h"
#include "kern/assert.h"
#include "kern/list.h"
#include "kern/lock.h"
#include "kern/log.h"
#include "kern/machine.h"
#include "kern/work.h"
#include "vm/copy.h"
#include "vm/page.h"

#define RING_SIZE 1024u /* A power of two. */

/* A line on which more than this comes at once is broken. */
#define BYTES_AT_ONCE 65536u

/* A slow line takes some 5 ms for so many; then others may have the kernel lock. */
#define CHUNK 64u

static struct {
	uint32_t come;  /* Bytes ever put in, by the interrupt handler, */
	uint32_t taken; /* and taken out.  Each is read by the other side: atomically. */
	char bytes[RING_SIZE];
} ring;

static struct list readers = LIST_INITIALIZER(readers);
static unsigned interrupt_number;

/* ---------------- The ring ---------------- */

/* A byte for which there is no room is lost, as if the line had been. */
static void ring_put(char byte)
{
	uint32_t taken = __atomic_load_n(&ring.taken, __ATOMIC_ACQUIRE);

	if (ring.come - taken == RING_SIZE)
		return;
	ring.bytes[ring.come % RING_SIZE] = byte;
	__atomic_store_n(&ring.come, ring.come + 1, __ATOMIC_RELEASE);
}

static uint32_t ring_length(void)
{
	return __atomic_load_n(&ring.come, __ATOMIC_ACQUIRE) - ring.taken;
}

/* Copies the first `n` bytes, which are there, and leaves them. */
static void ring_show(char *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = ring.bytes[(ring.taken + i) % RING_SIZE];
}

static void ring_drop(uint32_t n)
{
	__atomic_store_n(&ring.taken, ring.taken + n, __ATOMIC_RELEASE);
}

/* ---------------- Input ---------------- */

/* Copies what the request gets of the first `n` bytes; false when there is no memory. */
static bool show(struct device_request *request, uint32_t n)
{
	static char together[RING_SIZE]; /* Too much for a stack; used without a wait. */

	if (request->in_band) {
		ring_show(request->bytes, n);
		return true;
	}
	ring_show(together, n);
	request->data = copy_of_kernel(together, n);
	return request->data != NULL;
}

/* Answers a request for some bytes while there are some. */
static void give(struct device_request *request)
{
	uint32_t n = ring_length();

	if (n > request->size)
		n = request->size;
	if (!show(request, n)) {
		request_done(request, D_NO_MEMORY);
		return;
	}
	ring_drop(n);
	request->done = n;
	request_done(request, D_SUCCESS);
}

static struct device_request *request_of(struct list *link)
{
	return list_object(link, struct device_request, link);
}

/* Brings bytes and readers together, first to first. */
static void serve(void)
{
	assert(kernel_locked());
	for (unsigned turn = 1; !list_empty(&readers) && ring_length() > 0; turn++) {
		struct device_request *request = request_of(list_take_first(&readers));

		if (request_is_orphan(request))
			request_done(request, D_DEVICE_DOWN);
		else
			give(request);
		if (turn % 64 == 0)
			kernel_pause();
	}
}

static void console_work(struct device_interrupt *interrupt)
{
	(void)interrupt;
	serve();
}

/* In the interrupt handler. */
static bool take_input(struct device_interrupt *interrupt)
{
	unsigned n;
	char byte;

	(void)interrupt;
	for (n = 0; n < BYTES_AT_ONCE && machine_console_take(&byte); n++)
		ring_put(byte);
	return n > 0;
}

/* Readers that are gone would wait for input that may never come: the next one sees them off. */
static void drop_orphans(void)
{
	struct list *link, *after;
	unsigned turn = 0;

	list_for_each_removable (link, after, &readers) {
		if (++turn % 64 == 0)
			return; /* The rest is for the next one after. */
		if (!request_is_orphan(request_of(link)))
			continue;
		list_remove(link);
		request_done(request_of(link), D_DEVICE_DOWN);
	}
}

static io_return_t console_read(struct device *device, struct device_request *request)
{
	(void)device;
	if (request->size == 0) {
		request_done(request, D_SUCCESS);
		return D_SUCCESS;
	}
	drop_orphans();
	if ((request->mode & D_NOWAIT) != 0 && (ring_length() == 0 || !list_empty(&readers)))
		return D_WOULD_BLOCK;
	list_add_last(&readers, &request->link);
	serve();
	return D_SUCCESS;
}

/* ---------------- Output ---------------- */

/* May block. */
static void print(const char *bytes, uint32_t size)
{
	while (size > CHUNK) {
		console_write(bytes, CHUNK);
		kernel_rest();
		bytes += CHUNK;
		size -= CHUNK;
	}
	console_write(bytes, size);
}

/* Of out-of-line data what the first page has: the caller is told how much, and comes again. */
static io_return_t console_print(struct device *device, struct device_request *request)
{
	const char *bytes = request->bytes;

	(void)device;
	request->done = request->size;
	if (!request->in_band && request->size > 0) {
		struct copy *copy = request->data;
		struct page *page = list_first_object(&copy->pages, struct page, link);
		uint32_t room = PAGE_SIZE - copy->offset;

		assert(copy->kind == COPY_PAGES && !list_empty(&copy->pages));
		bytes = (const char *)page_data(page) + copy->offset;
		if (request->done > room)
			request->done = room;
	}
	print(bytes, request->done);
	request_done(request, D_SUCCESS);
	return D_SUCCESS;
}

/* ---------------- The device ---------------- */

static io_return_t console_open(struct device *device, dev_mode_t mode)
{
	(void)mode;
	if (device->opens == 0)
		machine_console_listen(interrupt_number, true);
	return D_SUCCESS;
}

/* What came for those who have it open no longer is nobody's. */
static void console_close(struct device *device)
{
	(void)device;
	machine_console_listen(interrupt_number, false);
	ring_drop(ring_length());
	for (unsigned turn = 1; !list_empty(&readers); turn++) {
		request_done(request_of(list_take_first(&readers)), D_DEVICE_DOWN);
		if (turn % 64 == 0)
			kernel_pause();
	}
}

static const struct driver driver = {
	.open = console_open,
	.close = console_close,
	.read = console_read,
	.write = console_print,
};

static struct device console = {
	.name = "console",
	.driver = &driver,
	.record_size = 1,
};

static struct device_interrupt input = {
	.acknowledge = take_input,
	.work = console_work,
};

void console_init(void)
{
	machine_console_prepare();
	interrupt_number = device_interrupt_add(&input);
	device_add(&console);
}
