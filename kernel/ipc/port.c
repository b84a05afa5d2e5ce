/* SPDX-License-Identifier: MIT */
/*
 * Ports: see port.h.
 *
 * Owns the zone of ports.  Guarded by the kernel lock; nothing here blocks.
 */
#include "ipc/port.h"

#include <stddef.h>

#include "base/alloc_site.h"
#include "base/lock.h"
#include "base/owner.h"
#include "base/string.h"
#include "base/zone.h"
#include "device/device.h"
#include "ipc/notify.h"
#include "ipc/port_set.h"
#include "ipc/queue.h"
#include "ipc/request.h"
#include "prof/stream.h"
#include "thread/work.h"
#include "vm/map/proxy.h"
#include "vm/object/object.h"
#include "vm/pager/pager.h"

/* Ports that have ended are kept, so that the next one costs a few instructions: but for what
 * port_begin() sets they are as ports begin. */
static struct zone port_zone;

#define KEPT_LINK offsetof(struct port, object)

void port_module_init(void)
{
	zone_init(&port_zone, "ports", sizeof(struct port), 4);
	zone_init_kept(&port_zone, KEPT_LINK, ZONE_KEPT);
	owner_set_price(OWNER_PORTS, sizeof(struct port));
}

/* Gives back the charge for a port; `owner` is NULL if nobody pays for it. */
static inline void port_uncharge(struct owner *owner)
{
	if (owner != NULL)
		owner_uncharge(owner, OWNER_PORTS, 1);
}

/* A port that is none yet; NULL when there is no memory. */
static struct port *port_alloc(void)
{
	struct port *port = (zone_alloc)(&port_zone);

	if (port == NULL)
		return NULL;
	memset(port, 0, offsetof(struct port, messages));
	list_init(&port->messages);
	wait_queue_init(&port->receivers);
	wait_queue_init(&port->senders);
	list_init(&port->set_link);
	list_init(&port->dead_name_requests);
	return port;
}

static struct port *port_take_port(void)
{
	struct port *port = zone_take_kept(&port_zone, KEPT_LINK);

	return port != NULL ? port : port_alloc();
}

static inline void port_begin(struct port *port, enum object_kind kind, void *object,
			      struct owner *owner)
{
	port->magic = PORT_MAGIC;
	port->refs = 1;
	port->owner = owner;
	port->state = PORT_KERNEL;
	port->kind = kind;
	port->object = object;
	port->make_send_count = 0;
	port->seqno = 0;
	port->label = 0;
	port->limit = PORT_LIMIT_DEFAULT;
}

/* Returns a port whose one reference is that of its receive right, which the kernel holds. */
struct port *port_create(enum object_kind kind, void *object, struct owner *owner)
{
	struct port *port;

	assert(kind != OBJECT_NONE || object == NULL);
	if (owner != NULL && !owner_charge(owner, OWNER_PORTS, 1))
		return NULL;
	port = ALLOC_SITE(port_take_port());
	if (port == NULL) {
		port_uncharge(owner);
		return NULL;
	}
	port_begin(port, kind, object, owner);
	return port;
}

void port_free(struct port *port)
{
	assert(port->state == PORT_DEAD);
	assert(port->receiver == NULL && port->name == MACH_PORT_NULL);
	assert((port->send_rights | port->send_once_rights | port->n_messages) == 0);
	assert(list_empty(&port->messages) && list_empty(&port->dead_name_requests));
	assert(list_empty(&port->receivers.waiters) && list_empty(&port->senders.waiters));
	assert(port->set == NULL && port->destination == NULL && port->pager == NULL);
	assert(port->stream == NULL);
	assert(port->no_senders == PORT_NULL && port->port_destroyed == PORT_NULL);
	assert(!port->one_way_counts && !port->has_payload && port->payload == 0);
	port->magic = 0;
	port_uncharge(port->owner);
	if (!zone_keep(&port_zone, port, KEPT_LINK))
		zone_free(&port_zone, port);
}

/* ---------------- Rights ---------------- */

/* A kernel's object that nobody owns but who has a right to its port ends. */
static void port_end_object(struct port *port)
{
	void *object = port->object;

	switch (port->kind) {
	case OBJECT_IO_PERM:
		port_destroy(port);
		break;
	case OBJECT_DEVICE:
		device_no_senders(object);
		break;
	case OBJECT_MEMORY:
		port_destroy(port);
		object_release(object);
		break;
	case OBJECT_PROXY:
		port_destroy(port);
		proxy_destroy(object);
		break;
	default:
		break;
	}
}

/* The last send right of a port is gone: the receiver is told if it asked for that.  The
 * notification takes the request's right. */
void port_no_more_senders(struct port *port)
{
	struct port *notify = port->no_senders;

	if (notify != PORT_NULL) {
		port->no_senders = PORT_NULL;
		notify_no_senders(notify, port->make_send_count);
	} else {
		port_end_object(port);
	}
}

/* Takes the right and its reference.  If the port lives they go into the notification's message. */
void port_release_send_once(struct port *port)
{
	if (!port_is_valid(port))
		return;
	assert(port->magic == PORT_MAGIC && port->send_once_rights > 0);
	if (port_is_alive(port) && port->kind != OBJECT_SINK)
		notify_send_once(port);
	else
		port_forget_send_once(port);
}

void port_forget_send_once(struct port *port)
{
	bool ends = port->kind == OBJECT_SINK && port->send_once_rights == 1;

	port_use_send_once(port);
	if (ends)
		port_destroy(port);
}

/* Drops the reference that `destination` holds, if it is set. */
static void port_clear_destination(struct port *port)
{
	struct port *destination = port->destination;

	port->destination = NULL;
	if (destination != NULL)
		port_release(destination);
}

/*
 * Takes the right and its reference: into the message to who asked for it, unless the message would
 * lie in the port itself, or to the port's end.
 */
void port_release_receive(struct port *port)
{
	struct port *notify;

	if (!port_is_valid(port))
		return;
	assert(port->magic == PORT_MAGIC && port->state == PORT_MOVING);
	notify = port->port_destroyed;
	port->port_destroyed = PORT_NULL;
	port_clear_destination(port);
	if (notify == PORT_NULL) {
		port_destroy(port);
	} else if (!port_is_alive(notify) || port_makes_cycle(port, notify)) {
		port_destroy(port);
		port_release_send_once(notify);
	} else {
		port->destination = port_reference(notify);
		notify_port_destroyed(notify, port);
	}
}

/* ---------------- Receivers ---------------- */

void port_clear_receiver(struct port *port)
{
	assert(port->state == PORT_HELD);
	if (port->set != NULL)
		port_set_remove(port);
	queue_interrupt_receivers(&port->receivers, MACH_RCV_PORT_DIED);
	port->state = PORT_MOVING;
	port->receiver = NULL;
	port->name = MACH_PORT_NULL;
	port->make_send_count = 0;
	port->seqno = 0;
	port->one_way_counts = false;
	port->has_payload = false;
	port->payload = 0;
}

/*
 * Nobody waits: messages to an object's port were calls, and to the kernel's others nobody sends.
 * Nor is anybody to wait as long as the right is on its way: who sends may be who is to receive it.
 */
void port_give_up(struct port *port, struct port *destination)
{
	assert(port->state == PORT_KERNEL);
	assert(port->kind == OBJECT_NONE || port->n_messages == 0);
	assert(port->destination == NULL && port != destination);
	port->kind = OBJECT_NONE;
	port->object = NULL;
	port->make_send_count = 0;
	port->seqno = 0;
	port->limit = UINT32_MAX;
	port->state = PORT_MOVING;
	port->destination = port_reference(destination);
}

/* The receive right's reference is the entry's from now on; that of the destination is gone. */
void port_set_receiver(struct port *port, struct space *space, uint32_t name)
{
	assert(port->state == PORT_MOVING || port->state == PORT_KERNEL);
	assert(port->kind == OBJECT_NONE);
	port_clear_destination(port);
	if (port->limit > PORT_LIMIT_MAX)
		port->limit = PORT_LIMIT_DEFAULT;
	port->state = PORT_HELD;
	port->receiver = space;
	port->name = name;
}

/* Ports that move form chains, never circles: whoever would close one is stopped by this. */
bool port_makes_cycle(const struct port *port, const struct port *destination)
{
	while (destination != NULL && destination != port) {
		if (destination->state != PORT_MOVING)
			return false;
		destination = destination->destination;
		pause_each();
	}
	return destination == port;
}

/* ---------------- The end ---------------- */

/* Requests about a port that can no longer come true: their send-once rights are given back. */
static void port_drop_requests(struct port *port)
{
	struct port *no_senders = port->no_senders;

	port->no_senders = PORT_NULL;
	port_release_send_once(no_senders);
}

/*
 * Takes the reference of the receive right, which keeps the port while others lose theirs.  It is
 * dead before anything else happens, so that nothing comes back to it.
 */
void port_destroy(struct port *port)
{
	assert(kernel_locked());
	assert(port->magic == PORT_MAGIC);
	assert(port->state == PORT_MOVING || port->state == PORT_KERNEL);
	assert(port->port_destroyed == PORT_NULL);
	assert(port->set == NULL);
	port->state = PORT_DEAD;
	port->kind = OBJECT_NONE;
	port->object = NULL;
	port_clear_destination(port);
	queue_interrupt_receivers(&port->receivers, MACH_RCV_PORT_DIED);
	request_port_died(port);
	port_drop_requests(port);
	if (port->pager != NULL)
		pager_port_died(port->pager);
	if (port->stream != NULL)
		stream_receiver_died(port->stream);
	default_pager_died(port);
	queue_destroy(port);
	port_release(port);
}

/* ---------------- Ports that were given up ---------------- */

void port_abandon(struct port *port)
{
	assert(port->state == PORT_KERNEL && port->kind == OBJECT_NONE);
	assert(port->send_rights == 0 && port->n_messages <= port->send_once_rights);
	/* Rights that have been used are in messages that are queued here. */
	if (port->send_once_rights == port->n_messages)
		port_destroy(port);
	else
		port->kind = OBJECT_SINK;
}

/* The message's right has been used: its port is not told of it as if it had not. */
void port_swallow(struct port *port, struct message *message)
{
	message_set_ports(message, PORT_NULL, message_local(message));
	message_destroy(message);
	port_forget_send_once(port);
}
