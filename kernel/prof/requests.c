/* SPDX-License-Identifier: MIT */
/*
 * Requests to servers, counted: see requests.h.
 *
 * Each different one has a place in a list, found by a hash table of places.  It is counted before
 * it is sent, since who sends it may never come back, and taken back if it could not be sent.
 */
#include "prof/requests.h"

#include <mach/calls.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/machine.h"
#include "base/string.h"
#include "ipc/port.h"
#include "ipc/space.h"
#include "mach/assay_server.h"
#include "prof/calls.h"
#include "prof/sampler.h"
#include "prof/unclaimed.h"
#include "task/task.h"
#include "task/traps.h"
#include "thread/thread.h"
#include "vm/map/copy.h"
#include "vm/page/kernel_memory.h"

#define HASH_SIZE (2 * HOST_REQUESTS_MAX)
#define TRIES     64u /* Of places: more than chance asks for, and a user chooses what is hashed. */
#define KEY_WORDS (offsetof(struct host_request, count) / sizeof(uint32_t))

/* MACH_SEND_INVALID_DATA and the like, apart from MACH_RCV_TIMED_OUT and so on. */
#define ERROR_KINDS 0x10004000
#define SEND_ERRORS 0x10000000

static struct requests {
	struct host_request list[HOST_REQUESTS_MAX]; /* From a page's beginning on: it is copied. */
	uint32_t used;
	uint32_t lost;
	/* Places in the list, from 1 on; 0: none. */
	uint16_t hash[HASH_SIZE];
	uint16_t of_event[UNCLAIMED_EVENTS]; /* The last of a server's calls for each event, */
	uint16_t before[HOST_REQUESTS_MAX];  /* and which was the one before it. */
} * requests;                                /* NULL: nobody wants it. */

static uint32_t era; /* How often they were emptied: older tickets are worth nothing. */

_Static_assert((HASH_SIZE & (HASH_SIZE - 1)) == 0, "the hash is masked");

bool requests_are_wanted(void)
{
	return requests != NULL;
}

kern_return_t host_requests_count(struct host *host)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (requests != NULL)
		return KERN_SUCCESS;
	requests = kernel_memory_alloc(sizeof *requests);
	requests_clear();
	return requests != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

void requests_end(void)
{
	if (requests != NULL)
		kernel_memory_free(requests, sizeof *requests);
	requests = NULL;
}

void requests_clear(void)
{
	era++;
	if (requests != NULL)
		memset(&requests->used, 0, sizeof *requests - offsetof(struct requests, used));
}

/* ---------------- Which ---------------- */

/* Words that say which it is: those behind the last frame do not matter.  And a sum of them. */
static uint32_t requests_key(const struct host_request *request, uint32_t *sum)
{
	uint32_t n = 0;

	*sum = (request->label + request->task * 31 + request->server) * 31 + request->id;
	while (n < HOST_REQUEST_FRAMES && request->frames[n] != 0)
		*sum = *sum * 31 + request->frames[n++];
	*sum *= 2654435761u;
	return offsetof(struct host_request, frames) / sizeof(uint32_t) + n;
}

/* From the last word on, where they differ soonest; behind it there is a 0, or it is the last. */
static bool requests_are_same(const uint32_t *words, const uint32_t *others, uint32_t key)
{
	if (key < KEY_WORDS && others[key] != 0)
		return false;
	while (key > 0 && words[key - 1] == others[key - 1])
		key--;
	return key == 0;
}

/* Its place, or where it is to be; NULL: too many others lie there. */
static uint16_t *requests_find(const struct host_request *request)
{
	const uint32_t *words = (const uint32_t *)request;
	uint32_t n, key = requests_key(request, &n);

	for (uint32_t end = (n >>= 16) + TRIES; n < end; n++) {
		uint16_t *place = &requests->hash[n % HASH_SIZE];
		const struct host_request *found = requests->list + *place - 1;

		if (*place == 0 || requests_are_same(words, (const uint32_t *)found, key))
			return place;
	}
	return NULL;
}

/* Puts a new one into its place, in which nobody has counted yet. */
static void requests_put(const struct host_request *request, uint16_t *place)
{
	uint32_t event = request->label - PROF_LABEL_EVENTS;

	requests->list[requests->used] = *request;
	*place = (uint16_t)(requests->used + 1);
	if (request->server == HOST_REQUEST_CALL && event < UNCLAIMED_EVENTS) {
		requests->before[requests->used] = requests->of_event[event];
		requests->of_event[event] = *place;
	}
	requests->used++;
}

/* `count` more, by the two halves; its place, or 0 if there is no room. */
static uint16_t requests_add(const struct host_request *request, const uint32_t count[2])
{
	uint16_t *place = requests_find(request);
	struct host_request *found;

	if (place == NULL || (*place == 0 && requests->used == HOST_REQUESTS_MAX))
		return 0;
	if (*place == 0)
		requests_put(request, place);
	found = &requests->list[*place - 1];
	found->count[0] += count[0];
	found->count[1] += count[1] + (found->count[0] < count[0]);
	return *place;
}

/* One more; a ticket, or 0 if there is no room. */
static uint32_t requests_add_one(const struct host_request *request)
{
	uint16_t place = requests_add(request, (const uint32_t[]){1, 0});

	requests->lost += place == 0;
	return place != 0 ? era * (HOST_REQUESTS_MAX + 1) + place : 0;
}

/* Who has the receive right; of a port that is in a message it is nobody. */
static uint32_t requests_server(const struct port *port)
{
	return port->state == PORT_HELD ? port->receiver->task : 0;
}

/* ---------------- At a trap ---------------- */

uint32_t requests_count(const struct mach_msg_words *words)
{
	const struct thread *thread = current_thread();
	struct host_request request = {.label = calls_label(thread->label)};
	mach_msg_header_t header;
	const struct entry *entry;

	if ((words->option & MACH_SEND_MSG) == 0 ||
	    !copyin_short(&header, words->message, sizeof header) || requests == NULL)
		return 0;
	entry = space_find(thread->task->space, header.msgh_remote_port);
	if (entry == NULL || (entry->type & (MACH_PORT_TYPE_SEND | MACH_PORT_TYPE_RECEIVE)) == 0 ||
	    MACH_MSGH_BITS_REMOTE(header.msgh_bits) == MACH_MSG_TYPE_MAKE_SEND_ONCE)
		return 0;
	request.server = requests_server(entry->port);
	request.id = (uint32_t)header.msgh_id;
	if (request.label != HOST_CALLS_OTHERS) {
		request.task = thread->home;
		sampler_own_stack(request.frames, HOST_REQUEST_FRAMES);
	}
	return requests_add_one(&request);
}

mach_msg_return_t requests_done(mach_msg_return_t result, uint32_t ticket)
{
	bool is_unsent = (result & ERROR_KINDS) == SEND_ERRORS && result != MACH_SEND_WILL_NOTIFY;

	if (is_unsent && requests != NULL && ticket / (HOST_REQUESTS_MAX + 1) == era) {
		struct host_request *request =
			&requests->list[ticket % (HOST_REQUESTS_MAX + 1) - 1];

		if (request->count[0]-- == 0)
			request->count[1]--;
	}
	return result;
}

/* Of a program that counts its own calls, and does not know for whom it makes them. */
TRAP_ABI kern_return_t trap_count_call(uint32_t from, uint32_t self)
{
	const struct thread *thread = current_thread();
	const struct host_request call = {
		.label = thread->label == thread->home ? thread->home : calls_label(thread->label),
		.task = thread->home,
		.frames = {from},
		.server = HOST_REQUEST_CALL,
		.id = self,
	};

	if (requests == NULL || !calls_are_counted())
		return KERN_FAILURE;
	requests_add_one(&call);
	return KERN_SUCCESS;
}

/* What finds no room among his stays the event's. */
void requests_attribute(uint32_t event, uint32_t label)
{
	uint32_t n = requests != NULL ? requests->of_event[event - PROF_LABEL_EVENTS] : 0;

	for (; n != 0; n = requests->before[n - 1]) {
		struct host_request *from = &requests->list[n - 1], request = *from;

		request.label = label == from->task ? label : calls_label(label);
		memset(request.count, 0, sizeof request.count);
		if (prof_u64(from->count) != 0 && requests_add(&request, from->count) != 0)
			memset(from->count, 0, sizeof from->count);
	}
}

/* ---------------- What is told ---------------- */

/* Of one moment: who copies lets interrupts have their work done, but nobody send anything. */
kern_return_t host_requests_get(struct host *host, unsigned *lost, host_request_array_t *list,
				mach_msg_type_number_t *n_words)
{
	uint32_t n;

	if (host == NULL)
		return KERN_INVALID_HOST;
	if (requests == NULL)
		return KERN_INVALID_ARGUMENT;
	n = requests->used;
	*lost = requests->lost;
	*list = NULL;
	if (n > 0)
		*list = (host_request_array_t)copy_of_kernel(requests->list,
							     n * sizeof requests->list[0]);
	*n_words = n * HOST_REQUEST_WORDS;
	return n == 0 || *list != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}
