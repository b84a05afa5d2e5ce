/* SPDX-License-Identifier: MIT */
/*
 * Port sets: see port_set.h.
 *
 * Owns the zone of sets.  Guarded by the kernel lock; nothing here blocks.
 */
#include "ipc/port_set.h"

#include "base/assert.h"
#include "base/owner.h"
#include "base/zone.h"
#include "ipc/queue.h"
#include "thread/work.h"

static struct zone set_zone;

void port_set_module_init(void)
{
	zone_init(&set_zone, "port sets", sizeof(struct port_set), 4);
}

/* Returns a set whose one reference is the entry's. */
struct port_set *port_set_create(uint32_t name, struct owner *owner)
{
	struct port_set *set;

	if (!owner_charge(owner, OWNER_PORTS, 1))
		return NULL;
	set = zone_alloc(&set_zone);
	if (set == NULL) {
		owner_uncharge(owner, OWNER_PORTS, 1);
		return NULL;
	}
	*set = (struct port_set){.magic = PORT_SET_MAGIC, .refs = 1, .name = name, .owner = owner};
	list_init(&set->ready);
	list_init(&set->quiet);
	wait_queue_init(&set->receivers);
	return set;
}

/* Takes one reference. */
void port_set_release(struct port_set *set)
{
	assert(set->magic == PORT_SET_MAGIC && set->refs > 0);
	if (--set->refs > 0)
		return;
	assert(set->n_members == 0 && list_empty(&set->receivers.waiters));
	set->magic = 0;
	owner_uncharge(set->owner, OWNER_PORTS, 1);
	zone_free(&set_zone, set);
}

static void port_set_remove_all(struct list *members)
{
	while (!list_empty(members)) {
		port_set_remove(list_first_object(members, struct port, set_link));
		pause_each();
	}
}

/* Takes the entry's reference. */
void port_set_destroy(struct port_set *set)
{
	assert(set->magic == PORT_SET_MAGIC);
	/* A message that comes in a pause makes a quiet one ready. */
	while (set->n_members > 0) {
		port_set_remove_all(&set->ready);
		port_set_remove_all(&set->quiet);
	}
	queue_interrupt_receivers(&set->receivers, MACH_RCV_PORT_DIED);
	port_set_release(set);
}

/* Membership holds no reference either way: each undoes it before it goes. */
void port_set_add(struct port_set *set, struct port *port)
{
	assert(set->magic == PORT_SET_MAGIC);
	assert(port->state == PORT_HELD);
	if (port->set != NULL)
		port_set_remove(port);
	/* First, for it pauses: a message that comes meanwhile must not find half a member. */
	queue_interrupt_receivers(&port->receivers, MACH_RCV_PORT_CHANGED);
	port->set = set;
	set->n_members++;
	if (port->n_messages == 0) {
		list_add_last(&set->quiet, &port->set_link);
	} else {
		list_add_last(&set->ready, &port->set_link);
		queue_serve_set(port);
	}
}

void port_set_remove(struct port *port)
{
	assert(port->set != NULL && port->set->n_members > 0);
	port->set->n_members--;
	port->set = NULL;
	list_remove(&port->set_link);
}

/* The member goes to the end of the line: all others have a turn before its next message. */
struct port *port_set_ready(struct port_set *set)
{
	struct list *link;
	struct port *port;

	assert(set->magic == PORT_SET_MAGIC);
	if (list_empty(&set->ready))
		return NULL;
	link = list_take_first(&set->ready);
	list_add_last(&set->ready, link);
	port = list_object(link, struct port, set_link);
	assert(port->n_messages > 0);
	return port;
}
