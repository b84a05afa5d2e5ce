/* SPDX-License-Identifier: MIT */
/* Unclaimed work: see unclaimed.h. */
#include "prof/unclaimed.h"

#include <mach/calls.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/string.h"
#include "device/device.h"
#include "ipc/port.h"
#include "ipc/space.h"
#include "prof/calls.h"
#include "prof/sampler.h"
#include "prof/requests.h"
#include "prof/stream.h"
#include "task/task.h"
#include "task/traps.h"
#include "thread/thread.h"

/* Room of an event for samples: the paper's. */
#define HELD_WORDS 1024u

/* One that is held, with its stream in front of it; or NULL: it has been handed over. */
struct held {
	struct stream *stream;
	struct prof_sample sample;
};

#define HELD_HEAD (offsetof(struct held, sample) / sizeof(uint32_t))

static struct {
	uint32_t words; /* Used. */
	uint32_t held[HELD_WORDS];
} events[UNCLAIMED_EVENTS];

static uint32_t n_events;

uint32_t unclaimed_add_event(void)
{
	assert(n_events < UNCLAIMED_EVENTS);
	return PROF_LABEL_EVENTS + n_events++;
}

uint32_t unclaimed_events(void)
{
	return n_events;
}

/* ---------------- Samples ---------------- */

static struct held *unclaimed_held(uint32_t event, uint32_t at)
{
	return (struct held *)&events[event].held[at];
}

static uint32_t unclaimed_behind(const struct held *held, uint32_t at)
{
	return at + (uint32_t)HELD_HEAD + held->sample.record.words;
}

static void unclaimed_hand_over(struct held *held, uint32_t label)
{
	struct stream *stream = held->stream;

	held->stream = NULL;
	held->sample.label = label;
	stream_take(stream, &held->sample, held->sample.record.words, 1);
}

bool unclaimed_hold(struct stream *stream, struct prof_sample *sample)
{
	uint32_t event = sample->label - PROF_LABEL_EVENTS, at, words = sample->record.words;
	struct held *held;

	assert(kernel_locked() && event < n_events);
	at = events[event].words;
	if (words + HELD_HEAD > HELD_WORDS - at) {
		sample->label = HOST_CALLS_SYSTEM;
		return false;
	}
	held = unclaimed_held(event, at);
	held->stream = stream;
	memcpy(&held->sample, sample, words * sizeof(uint32_t));
	events[event].words = unclaimed_behind(held, at);
	return true;
}

static void unclaimed_give_samples(uint32_t event, uint32_t label)
{
	struct held *held;

	for (uint32_t at = 0; at < events[event].words; at = unclaimed_behind(held, at)) {
		held = unclaimed_held(event, at);
		if (held->stream != NULL)
			unclaimed_hand_over(held, label);
	}
	events[event].words = 0;
}

/* Room that all have left is free again. */
static void unclaimed_flush_event(uint32_t event, const struct stream *stream)
{
	struct held *held;
	bool any = false;

	for (uint32_t at = 0; at < events[event].words; at = unclaimed_behind(held, at)) {
		held = unclaimed_held(event, at);
		if (held->stream == stream)
			unclaimed_hand_over(held, HOST_CALLS_SYSTEM);
		any = any || held->stream != NULL;
	}
	if (!any)
		events[event].words = 0;
}

void unclaimed_flush(struct stream *stream)
{
	assert(kernel_locked());
	for (uint32_t event = 0; event < n_events; event++)
		unclaimed_flush_event(event, stream);
}

void unclaimed_attribute(uint32_t event, uint32_t label)
{
	assert(kernel_locked());
	if (!unclaimed_is_event(event) || label == event)
		return;
	/* Some of its samples may not have been read yet. */
	sampler_work_all();
	unclaimed_give_samples(event - PROF_LABEL_EVENTS, label);
	calls_attribute(event, label);
	requests_attribute(event, label);
}

/* ---------------- Servers ---------------- */

/* The device that the caller has a right to by this name, if it is one with an event; or NULL. */
static struct device *unclaimed_device(uint32_t name)
{
	const struct entry *entry = space_find(current_task()->space, name);
	struct device *device;

	if (entry == NULL || (entry->type & MACH_PORT_TYPE_SEND) == 0 ||
	    entry->port->kind != OBJECT_DEVICE)
		return NULL;
	device = entry->port->object;
	return device->event != HOST_CALLS_SYSTEM ? device : NULL;
}

/* What the device brings from now on is for whom the caller works; or else nobody knows yet. */
TRAP_ABI kern_return_t trap_event_pass(uint32_t name, uint32_t known)
{
	struct device *device = unclaimed_device(name);

	if (device == NULL)
		return KERN_INVALID_ARGUMENT;
	device->driver->pass(device, known != 0 ? current_thread()->label : device->event);
	return KERN_SUCCESS;
}

/* What it has brought until now, and nobody knew for whom, was for whom the caller works. */
TRAP_ABI kern_return_t trap_event_attribute(uint32_t name)
{
	const struct device *device = unclaimed_device(name);

	if (device == NULL)
		return KERN_INVALID_ARGUMENT;
	unclaimed_attribute(device->event, current_thread()->label);
	return KERN_SUCCESS;
}
