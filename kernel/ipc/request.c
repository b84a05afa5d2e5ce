/* SPDX-License-Identifier: MIT */
/*
 * Dead-name requests: see request.h.
 *
 * Owns the zone of requests.  Guarded by the kernel lock; nothing here blocks.
 */
#include "ipc/request.h"

#include "base/assert.h"
#include "base/owner.h"
#include "base/zone.h"
#include "ipc/message.h"
#include "ipc/notify.h"
#include "ipc/port.h"
#include "ipc/space.h"
#include "thread/work.h"

static struct zone request_zone;

void request_module_init(void)
{
	zone_init(&request_zone, "requests", sizeof(struct request), 4);
}

/* A request with the message of its notification; NULL when there is no memory. */
static struct request *request_alloc(void)
{
	struct request *request = zone_alloc(&request_zone);

	if (request == NULL)
		return NULL;
	request->message = notify_message();
	if (request->message != NULL)
		return request;
	zone_free(&request_zone, request);
	return NULL;
}

/* Takes the send-once right `notify` on success. */
static kern_return_t request_make(struct entry *entry, struct owner *payer, struct port *notify)
{
	struct request *request;

	if (!owner_charge(payer, OWNER_QUEUED, 1))
		return KERN_RESOURCE_SHORTAGE;
	request = request_alloc();
	if (request == NULL) {
		owner_uncharge(payer, OWNER_QUEUED, 1);
		return KERN_RESOURCE_SHORTAGE;
	}
	request->payer = payer;
	request->entry = entry;
	request->notify = notify;
	list_add_last(&entry->port->dead_name_requests, &request->port_link);
	entry->request = request;
	return KERN_SUCCESS;
}

/* Takes the request away from its entry and port; the caller has the right and the message then. */
static void request_free(struct request *request)
{
	request->entry->request = NULL;
	list_remove(&request->port_link);
	owner_uncharge(request->payer, OWNER_QUEUED, 1);
	zone_free(&request_zone, request);
}

/*
 * The entry holds the port, which is alive.  On success `notify` is taken and the old request's
 * right is the caller's.
 */
kern_return_t request_set(struct entry *entry, struct owner *payer, struct port *notify,
			  struct port **previous)
{
	struct request *request = entry->request;

	assert((entry->type & MACH_PORT_TYPE_PORT_RIGHTS) != 0 && port_is_alive(entry->port));
	*previous = PORT_NULL;
	if (request == NULL)
		return notify == PORT_NULL ? KERN_SUCCESS : request_make(entry, payer, notify);
	*previous = request->notify;
	if (notify == PORT_NULL) {
		message_free(request->message);
		request_free(request);
	} else {
		request->notify = notify;
	}
	return KERN_SUCCESS;
}

/*
 * The port's state is PORT_DEAD already, and its caller keeps it while the entries release their
 * references.  The notifications take the requests' rights.
 */
void request_port_died(struct port *port)
{
	assert(!port_is_alive(port));
	while (!list_empty(&port->dead_name_requests)) {
		struct request *request =
			list_first_object(&port->dead_name_requests, struct request, port_link);
		struct entry *entry = request->entry;
		struct port *notify = request->notify;
		struct message *message = request->message;

		assert(entry->request == request && entry->port == port);
		request_free(request);
		space_entry_died(entry);
		entry->refs++;
		notify_dead_name(notify, message, entry->name);
		pause_each();
	}
}

/* The notification takes the request's right. */
void request_name_deleted(struct entry *entry)
{
	struct request *request = entry->request;
	struct port *notify;
	struct message *message;

	assert(request->entry == entry);
	notify = request->notify;
	message = request->message;
	request_free(request);
	notify_port_deleted(notify, message, entry->name);
}
