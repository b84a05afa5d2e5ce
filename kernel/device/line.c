/* SPDX-License-Identifier: MIT */
/* Lines: see line.h, which says who may touch what. */
#include "device/line.h"

#include "base/assert.h"
#include "base/lock.h"
#include "prof/unclaimed.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/page.h"

/* A line on which more than this comes at once is broken. */
#define BYTES_AT_ONCE 65536u

/* A slow line takes some 10 ms for so many; then others may have the kernel lock. */
#define CHUNK 128u

static struct line *line_of(struct device *device)
{
	return device->state;
}

/* ---------------- The ring ---------------- */

/* A byte for which there is no room is lost, as if the line had been. */
static void line_put(struct line *line, char byte)
{
	uint32_t taken = __atomic_load_n(&line->taken, __ATOMIC_ACQUIRE);

	if (line->come - taken == LINE_RING_SIZE)
		return;
	line->ring[line->come % LINE_RING_SIZE] = byte;
	__atomic_store_n(&line->come, line->come + 1, __ATOMIC_RELEASE);
}

static uint32_t line_ring_length(const struct line *line)
{
	return __atomic_load_n(&line->come, __ATOMIC_ACQUIRE) - line->taken;
}

/* Copies the first `n` bytes, which are there, and leaves them. */
static void line_ring_show(const struct line *line, char *to, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		to[i] = line->ring[(line->taken + i) % LINE_RING_SIZE];
}

static void line_ring_drop(struct line *line, uint32_t n)
{
	__atomic_store_n(&line->taken, line->taken + n, __ATOMIC_RELEASE);
}

/* ---------------- For whom ---------------- */

static struct device_request *line_request_of(struct list *link)
{
	return list_object(link, struct device_request, link);
}

/* Whoever waits for what comes next has it; after each change of that. */
static void line_set_label(struct line *line)
{
	line->input.label = list_empty(&line->readers) ? line->device.whose
						       : line_request_of(line->readers.next)->label;
}

static void line_pass(struct device *device, uint32_t label)
{
	struct line *line = line_of(device);

	device->whose = label;
	list_for_each_object (struct device_request, request, &line->readers, link)
		if (request->is_passed)
			request->label = label;
	line_set_label(line);
}

/* ---------------- Input ---------------- */

/* Copies what the request gets of the first `n` bytes; false when there is no memory. */
static bool line_show(const struct line *line, struct device_request *request, uint32_t n)
{
	static char together[LINE_RING_SIZE]; /* Too much for a stack; used without a wait. */

	if (request->in_band) {
		line_ring_show(line, request->bytes, n);
		return true;
	}
	line_ring_show(line, together, n);
	request->data = copy_of_kernel(together, n);
	return request->data != NULL;
}

/* Answers a request for some bytes while there are some. */
static void line_give(struct line *line, struct device_request *request)
{
	uint32_t n = line_ring_length(line);

	if (n > request->size)
		n = request->size;
	if (!line_show(line, request, n)) {
		request_done(request, D_NO_MEMORY);
		return;
	}
	unclaimed_attribute(line->device.event, request->label);
	line_ring_drop(line, n);
	request->done = n;
	request_done(request, D_SUCCESS);
}

/* Brings bytes and readers together, first to first. */
static void line_serve(struct line *line)
{
	assert(kernel_locked());
	while (!list_empty(&line->readers) && line_ring_length(line) > 0) {
		struct device_request *request = line_request_of(list_take_first(&line->readers));

		if (request_is_orphan(request))
			request_done(request, D_DEVICE_DOWN);
		else
			line_give(line, request);
		pause_each();
	}
	line_set_label(line);
}

static void line_work(struct device_interrupt *interrupt)
{
	line_serve(list_object(interrupt, struct line, input));
}

/* In the interrupt handler. */
static bool line_take_input(struct device_interrupt *interrupt)
{
	struct line *line = list_object(interrupt, struct line, input);
	unsigned n;
	char byte;

	for (n = 0; n < BYTES_AT_ONCE && machine_console_take(line->console, &byte); n++)
		line_put(line, byte);
	return n > 0;
}

/*
 * Readers that are gone would wait for input that may never come: the next one sees them off, the
 * first PAUSE_TURNS of all.  Off the list first: in a pause input may come and serve what is on it.
 */
static void line_drop_orphans(struct line *line)
{
	struct list orphans = LIST_INITIALIZER(orphans), *link, *after;
	unsigned turns = PAUSE_TURNS;

	list_for_each_removable (link, after, &line->readers) {
		if (turns-- == 0)
			break;
		if (request_is_orphan(line_request_of(link))) {
			list_remove(link);
			list_add_last(&orphans, link);
		}
	}
	while (!list_empty(&orphans))
		request_done(line_request_of(list_take_first(&orphans)), D_DEVICE_DOWN);
	line_set_label(line);
}

static io_return_t line_read(struct device *device, struct device_request *request)
{
	struct line *line = line_of(device);

	if (request->size == 0) {
		request_done(request, D_SUCCESS);
		return D_SUCCESS;
	}
	/* Who works for the line has said so when that may have been somebody else. */
	request->is_passed = request->label == device->event ||
			     thread_serves_input(current_thread(), device->event);
	if (request->is_passed)
		request->label = device->whose;
	line_drop_orphans(line);
	if ((request->mode & D_NOWAIT) != 0 &&
	    (line_ring_length(line) == 0 || !list_empty(&line->readers)))
		return D_WOULD_BLOCK;
	list_add_last(&line->readers, &request->link);
	line_serve(line);
	return D_SUCCESS;
}

/* ---------------- Output ---------------- */

/* Up to the end of the first line in them, if that is not too long. */
static uint32_t line_chunk_of(const char *bytes, uint32_t size)
{
	uint32_t n = 0;

	while (n < size && n < CHUNK)
		if (bytes[n++] == '\n')
			break;
	return n;
}

io_return_t line_print(struct device_request *request,
		       void (*put)(const char *bytes, size_t length))
{
	const char *bytes = request->bytes;
	uint32_t n;

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
	for (uint32_t written = 0; written < request->done; written += n) {
		if (written > 0)
			kernel_rest();
		n = line_chunk_of(bytes + written, request->done - written);
		put(bytes + written, n);
	}
	request_done(request, D_SUCCESS);
	return D_SUCCESS;
}

static io_return_t line_write(struct device *device, struct device_request *request)
{
	return line_print(request, line_of(device)->put);
}

/* ---------------- The device ---------------- */

static io_return_t line_open(struct device *device, dev_mode_t mode)
{
	const struct line *line = line_of(device);

	(void)mode;
	if (device->opens == 0)
		machine_console_listen(line->console, line->number, true);
	return D_SUCCESS;
}

/* What came for those who have it open no longer is nobody's. */
static void line_close(struct device *device)
{
	struct line *line = line_of(device);

	machine_console_listen(line->console, line->number, false);
	line_ring_drop(line, line_ring_length(line));
	device->whose = device->event;
	while (!list_empty(&line->readers)) {
		request_done(line_request_of(list_take_first(&line->readers)), D_DEVICE_DOWN);
		pause_each();
	}
	line_set_label(line);
}

static const struct driver driver = {
	.open = line_open,
	.close = line_close,
	.read = line_read,
	.write = line_write,
	.pass = line_pass,
};

void line_add(struct line *line, const char *name, enum machine_console console,
	      void (*put)(const char *bytes, size_t length))
{
	line->device = (struct device){
		.name = name,
		.driver = &driver,
		.state = line,
		.record_size = 1,
		.event = unclaimed_add_event(),
	};
	line->device.whose = line->device.event;
	line->input = (struct device_interrupt){.acknowledge = line_take_input, .work = line_work};
	line->input.label = line->device.whose;
	line->console = console;
	line->put = put;
	list_init(&line->readers);
	line->number = device_interrupt_add(&line->input);
	device_add(&line->device);
}
