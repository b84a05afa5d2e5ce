/* SPDX-License-Identifier: MIT */
/*
 * Pagers: their beginning and end, and what they are asked (vm/pager/pager.h).  Guarded by the
 * kernel lock.
 *
 * A pager lives as long as its object and what is on its way to it.  The memory object's port knows
 * it until they part: when the object ends, when the port dies, or when the program says so.
 */
#include "vm/pager/pager.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/owner.h"
#include "base/zone.h"
#include "ipc/message.h"
#include "ipc/port.h"
#include "thread/thread.h"
#include "thread/work.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/pager/pager_internal.h"
#include "vm/pager/pager_messages.h"

static struct zone pager_zone;

uint32_t pager_lookups;
uint32_t pager_hits;

void pager_module_init(void)
{
	zone_init(&pager_zone, "pagers", sizeof(struct pager), 4);
}

/* ---------------- Beginning and end ---------------- */

struct pager *pager_create(struct object *object, struct port *port, bool is_swap)
{
	struct pager *pager = zone_alloc(&pager_zone);

	assert(port->pager == NULL && port->kind == OBJECT_NONE);
	if (pager == NULL)
		return NULL;
	*pager = (struct pager){
		.magic = PAGER_MAGIC,
		.refs = 1,
		.state = PAGER_MAPPED,
		.is_swap = is_swap,
		.strategy = MEMORY_OBJECT_COPY_DELAY,
		.object = object,
		.port = port,
	};
	pager->farewell = message_alloc(PAGER_MESSAGE_SIZE);
	pager->control = port_create(OBJECT_PAGER, pager, port->owner);
	pager->name = port_create(OBJECT_PAGER_NAME, pager, port->owner);
	if (pager->farewell == NULL || pager->control == NULL || pager->name == NULL) {
		pager_undo(pager);
		return NULL;
	}
	port->pager = pager;
	return pager;
}

static void pager_destroy_own_ports(struct pager *pager)
{
	struct port *control = pager->control;
	struct port *name = pager->name;

	pager->control = NULL;
	pager->name = NULL;
	if (control != NULL)
		port_destroy(control);
	if (name != NULL)
		port_destroy(name);
}

static void pager_drop_farewell(struct pager *pager)
{
	if (pager->farewell != NULL)
		message_free(pager->farewell);
	pager->farewell = NULL;
}

void pager_undo(struct pager *pager)
{
	pager_destroy_own_ports(pager);
	pager_drop_farewell(pager);
	pager->port->pager = NULL;
	pager->port = NULL;
	pager->object = NULL;
	pager->state = PAGER_DEAD;
	pager_release(pager);
}

void pager_release(struct pager *pager)
{
	assert(pager->magic == PAGER_MAGIC && pager->refs > 0);
	if (--pager->refs > 0)
		return;
	assert(pager->object == NULL && pager->port == NULL && pager->control == NULL);
	assert(pager->farewell == NULL);
	assert(pager->in_flight == 0 && page_tree_is_empty(&pager->asked));
	pager->magic = 0;
	zone_free(&pager_zone, pager);
}

void pager_landed(struct pager *pager)
{
	assert(pager->in_flight > 0);
	pager->in_flight--;
	if (pager->is_swap)
		pager_swap_flights--;
	pager_release(pager);
}

static void *pager_stands_for(const struct port *port, enum object_kind kind)
{
	if (!port_is_valid(port) || port->kind != kind || !port_is_alive(port))
		return NULL;
	assert(port->magic == PORT_MAGIC);
	return port->object;
}

/* The ports are the pager's as long as it has its object. */
struct pager *pager_of_control(const struct port *port)
{
	return pager_stands_for(port, OBJECT_PAGER);
}

struct pager *pager_of_name(const struct port *port)
{
	return pager_stands_for(port, OBJECT_PAGER_NAME);
}

struct object *pager_hold_object(struct pager *pager)
{
	struct object *object = pager->object;

	assert(pager->magic == PAGER_MAGIC && object->magic == OBJECT_MAGIC);
	assert(!object->terminating);
	if (object->refs == 0)
		pager_cache_remove(object);
	return object_reference(object);
}

/* ---------------- The queue ---------------- */

static bool pager_port_has_room(const struct port *port)
{
	return port->n_messages < PAGER_QUEUED;
}

bool pager_has_room(const struct pager *pager)
{
	return !pager_is_live(pager) || pager_port_has_room(pager->port);
}

/* Messages are received one by one, so none passes this by. */
void pager_note_received(struct pager *pager)
{
	if (pager->port->n_messages == PAGER_QUEUED - 1)
		thread_wake_all(&pager->object->waiters);
}

/* ---------------- Mapping ---------------- */

/* The object that a memory object has already. */
static struct object *pager_known_object(struct pager *pager, uint32_t size)
{
	struct object *object = pager_hold_object(pager);

	pager_hits++;
	if (object->size < size)
		object->size = size;
	return object;
}

/* A new object for a memory object, which is told; NULL when there is no memory. */
static struct object *pager_make_object(struct port *port, uint32_t size)
{
	struct owner *payer = port->owner == NULL ? NULL : owner_limited(port->owner);
	struct object *object = object_create_for(payer, size);
	struct message *message = message_alloc(PAGER_MESSAGE_SIZE);
	struct pager *pager = NULL;

	if (object != NULL && message != NULL)
		pager = pager_create(object, port_add_send(port), false);
	if (pager != NULL) {
		object->pager = pager;
		pager_send_init(pager, message);
		return object;
	}
	if (object != NULL && message != NULL)
		port_release_send(port);
	if (message != NULL)
		message_free(message);
	if (object != NULL)
		object_release(object);
	return NULL;
}

/* As pager_make_object(), but a port that is not received from has no new objects without end. */
static struct object *pager_new_object(struct port *port, uint32_t size)
{
	return pager_port_has_room(port) ? pager_make_object(port, size) : NULL;
}

kern_return_t pager_object(struct port *port, uint32_t size, struct object **object)
{
	assert(port_is_valid(port) && port_is_alive(port));
	if (port->kind == OBJECT_MEMORY) {
		*object = port->object;
		if (size > (*object)->size)
			return KERN_INVALID_ARGUMENT;
		object_reference(*object);
		return KERN_SUCCESS;
	}
	if (port->kind != OBJECT_NONE || (port->pager != NULL && port->pager->is_swap))
		return KERN_INVALID_ARGUMENT;
	pager_lookups++;
	if (port->pager != NULL)
		*object = pager_known_object(port->pager, size);
	else
		*object = pager_new_object(port, size);
	return *object != NULL ? KERN_SUCCESS : KERN_RESOURCE_SHORTAGE;
}

struct port *pager_name_right(const struct object *object)
{
	if (object->pager == NULL || object->pager->name == NULL)
		return PORT_NULL;
	return port_make_send(object->pager->name);
}

/*
 * The new memory object is mapped as any other: its memory_object_init is the first message that
 * the pager finds in it.
 */
kern_return_t pager_copy(struct object *object, uint32_t index, uint32_t size, struct object **copy)
{
	struct pager *pager = object->pager;
	struct message *message;
	struct port *port;

	if (!pager_is_live(pager))
		return KERN_MEMORY_FAILURE;
	if (!pager_has_room(pager))
		return KERN_RESOURCE_SHORTAGE;
	message = message_alloc(PAGER_MESSAGE_SIZE);
	port = port_create(OBJECT_NONE, NULL, object->payer);
	*copy = NULL;
	if (message != NULL && port != NULL) {
		struct port *right = port_make_send(port);

		*copy = pager_new_object(port, size);
		port_release_send(right);
	}
	if (*copy != NULL) {
		pager_send_copy(pager, message, index, size, port);
		return KERN_SUCCESS;
	}
	if (message != NULL)
		message_free(message);
	if (port != NULL)
		port_destroy(port);
	return KERN_RESOURCE_SHORTAGE;
}

/* ---------------- What is asked ---------------- */

kern_return_t pager_await_ready(struct object *object)
{
	struct pager *pager = object->pager;

	while (pager != NULL && pager->state == PAGER_MAPPED)
		if (thread_wait(&object->waiters, WAIT_FOREVER, WAIT_PAGE) != WAIT_WOKEN)
			return KERN_ABORTED;
	return pager == NULL || pager->state == PAGER_READY ? KERN_SUCCESS : KERN_MEMORY_FAILURE;
}

/* Marks a slot as asked for; false when there is no memory. */
static bool pager_mark_requested(struct pager *pager, uint32_t index)
{
	if (pager->is_swap && !page_tree_set(&pager->asked, index, SLOT_REQUESTED))
		return false;
	if (object_mark(pager->object, index, SLOT_REQUESTED))
		return true;
	pager_answered(pager, index);
	return false;
}

/* A fault comes here, so that it is not for tests to let the allocation fail. */
kern_return_t pager_request(struct object *object, uint32_t index, const struct page *mark,
			    uint32_t rights, struct thread **woken)
{
	bool swapped = mark == SLOT_SWAPPED;
	struct pager *pager = swapped ? object->swap : object->pager;
	struct message *message;

	if (!pager_is_live(pager))
		return KERN_MEMORY_FAILURE;
	message = (message_alloc)(PAGER_MESSAGE_SIZE);
	if (message == NULL)
		return KERN_RESOURCE_SHORTAGE;
	if (!pager_mark_requested(pager, index)) {
		message_free(message);
		return KERN_RESOURCE_SHORTAGE;
	}
	pager_send_request(pager, message, index, rights, woken);
	return KERN_SUCCESS;
}

void pager_failure_told(struct object *object, uint32_t index)
{
	bool swapped = pager_swap_asked(object, index);

	assert(object_slot(object, index) == SLOT_FAILED);
	if (object->swap != NULL)
		pager_answered(object->swap, index);
	object_mark(object, index, swapped ? SLOT_SWAPPED : SLOT_EMPTY);
}

kern_return_t pager_unlock(struct page *page, uint32_t rights, struct thread **woken)
{
	struct pager *pager = page->object->pager;
	struct message *message;

	if (!pager_is_live(pager))
		return KERN_MEMORY_FAILURE;
	*woken = NULL;
	if (page->unlocking)
		return KERN_SUCCESS;
	message = (message_alloc)(PAGER_MESSAGE_SIZE);
	if (message == NULL)
		return KERN_RESOURCE_SHORTAGE;
	page->unlocking = true;
	pager_send_unlock(pager, message, page->index, rights, woken);
	return KERN_SUCCESS;
}

/* ---------------- Parting ---------------- */

/*
 * What the object's own pager was asked for will not come.  Threads that wait for a page to be
 * unlocked find that out too.
 */
static void pager_fail_requested(struct object *object)
{
	uint32_t index = 0;
	struct page *slot;

	for (; (slot = page_tree_next(&object->slots, &index, object->size)) != SLOT_EMPTY;
	     index++) {
		if (slot == SLOT_REQUESTED && !pager_swap_asked(object, index))
			object_mark(object, index, SLOT_FAILED);
		pause_each();
	}
	thread_wake_all(&object->waiters);
}

/*
 * The port and the pager do not know each other any more.  One that lives gets the ports of the
 * kernel's and the right to itself.
 */
static void pager_leave_port(struct pager *pager)
{
	struct port *port = pager->port;
	struct message *farewell = pager->farewell;

	port->pager = NULL;
	if (port_is_alive(port)) {
		pager->farewell = NULL;
		pager_send_terminate(pager, farewell);
		return;
	}
	pager->port = NULL;
	pager_destroy_own_ports(pager);
	pager_drop_farewell(pager);
	port_release_send(port);
}

void pager_part(struct pager *pager)
{
	struct object *object = pager->object;

	assert(pager->magic == PAGER_MAGIC);
	if (pager->state == PAGER_DEAD)
		return;
	pager_leave_port(pager);
	pager->state = PAGER_DEAD;
	if (object->terminating)
		return;
	if (pager->is_swap) {
		pager_lose_swap(pager);
		return;
	}
	pager_fail_requested(object);
	object->dead = true;
	if (object->refs == 0) {
		pager_cache_remove(object);
		object_terminate(object);
	}
}

/* An object that ends, or that leaves its swap, gives the pager up, so that is kept meanwhile. */
void pager_port_died(struct pager *pager)
{
	pager_reference(pager);
	pager_part(pager);
	pager_release(pager);
}

void pager_forget_asked(struct pager *pager)
{
	uint32_t index = 0;

	for (; page_tree_next(&pager->asked, &index, pager->object->size) != SLOT_EMPTY; index++) {
		page_tree_set(&pager->asked, index, SLOT_EMPTY);
		pause_each();
	}
}

void pager_terminate(struct pager *pager)
{
	struct object *object = pager->object;

	assert(object->refs == 0 && object->terminating);
	if (pager->is_swap) {
		pager_forget_asked(pager);
		object->swap = NULL;
	} else {
		if (pager_is_live(pager) && !pager->temporary)
			pager_return_all(object);
		object->pager = NULL;
	}
	pager_part(pager);
	pager->object = NULL;
	pager_release(pager);
}
