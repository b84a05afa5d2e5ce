/* SPDX-License-Identifier: MIT */
/*
 * Ports: queues of messages that rights give access to.
 *
 * One receive right, held by a space, by the kernel or by a message; any number of send rights and
 * send-once rights.  The port lives as long as its receive right: when that is destroyed the port
 * is dead, its messages are destroyed with what they carry, and whoever held a right to it holds a
 * dead name.  The structure itself lives as long as something points to it (`refs`).
 *
 *   invariants   every right, in an entry or in a message or in the kernel's hand, holds one
 *                reference; one entry counts once in send_rights, whatever its user references
 *                n_messages is the length of `messages`
 *                messages are queued only while nobody waits to receive them here or on the set
 *                a port with an object (a task's, say) has no queue: messages to it are calls
 *                a dead port has no queue, no waiting thread, no set, no requests
 *
 * "The caller's right" below is a right in the kernel's hand: a pointer together with the promise
 * that the counts include it.  A right whose port has died meanwhile stays a right until it is
 * released.  All of this is guarded by the kernel lock.
 */
#ifndef IPC_PORT_H
#define IPC_PORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include <assay/list.h>
#include "thread/thread.h"

struct message;
struct owner;
struct pager;
struct port_set;
struct request;
struct space;
struct stream;

#define PORT_MAGIC 0x504f5254u

/* Where the port's receive right is. */
enum port_state {
	PORT_HELD,   /* A space has it, as `name`, */
	PORT_MOVING, /* a message has it, */
	PORT_KERNEL, /* the kernel has it, for good or until port_destroy(), */
	PORT_DEAD,   /* nobody: it was destroyed. */
};

/* What a port of the kernel stands for. */
enum object_kind {
	OBJECT_NONE,
	OBJECT_TASK,
	OBJECT_THREAD,
	OBJECT_HOST,
	OBJECT_HOST_PRIV,
	OBJECT_DEVICE_MASTER,
	OBJECT_PROCESSOR,
	OBJECT_PSET,
	OBJECT_PSET_NAME,
	OBJECT_IO_PERM,    /* `object` is I/O ports, no pointer: i386/thread/io_permission.h. */
	OBJECT_PAGER,      /* Of a pager: what a program calls the kernel by, */
	OBJECT_PAGER_NAME, /* and what only shows which it is (vm/pager/pager.h). */
	OBJECT_MEMORY,     /* An object of the kernel's own, to be mapped. */
	OBJECT_PROXY,      /* A part of a memory object (vm/map/proxy.h). */
	OBJECT_DEVICE,     /* An open device (device/device.h). */
	OBJECT_SINK,       /* Nothing any more: it takes what is sent, and ends (port_abandon). */
};

struct port {
	uint32_t magic; /* PORT_MAGIC */
	uint32_t refs;
	struct owner *owner; /* Who pays for it, wherever its rights go; NULL: nobody. */
	enum port_state state;
	enum object_kind kind; /* OBJECT_NONE unless PORT_KERNEL. */
	void *object; /* What it stands for; holds no reference: the object owns its port.  With
			 OBJECT_MEMORY and OBJECT_PROXY it is the port that has one. */

	struct space *receiver;   /* PORT_HELD: whose; NULL otherwise. */
	uint32_t name;            /* PORT_HELD: the name there. */
	struct port *destination; /* PORT_MOVING: where the message with the receive right is
				     queued or going; holds a reference. */

	uint32_t send_rights;
	uint32_t send_once_rights;
	uint32_t make_send_count; /* Send rights made, since the receiver last set the count. */
	uint32_t seqno;           /* Of the next message that is received. */
	uint32_t label; /* Noted when a send-once right was last made: what replies carry. */

	uint32_t n_messages;
	uint32_t limit;       /* Of n_messages, for senders that can wait. */
	struct port_set *set; /* It is a member of, or NULL. */

	struct port *no_senders; /* A send-once right each, or NULL: whom to tell. */
	struct port *port_destroyed;

	struct pager *pager;   /* The kernel's end of the memory object that it is, or NULL. */
	struct stream *stream; /* Whose samples come here (prof/stream.h), or NULL. */

	bool one_way_counts; /* Whoever receives what cannot be answered works for its sender. */
	bool has_payload;
	uint32_t payload; /* Received instead of the port's name. */

	struct list messages;           /* From here on there are lists alone. */
	struct wait_queue receivers;    /* Threads that wait for a message from this very port, */
	struct wait_queue senders;      /* and those that wait for room. */
	struct list set_link;           /* With others of its set. */
	struct list dead_name_requests; /* struct request, by port_link. */
};

/*
 * What a name or a place in a message may hold instead of a port: PORT_NULL nothing, PORT_DEAD_NAME
 * a right to a port that was already dead when the right was copied.
 */
#define PORT_NULL      ((struct port *)0)
#define PORT_DEAD_NAME ((struct port *)-1)

static inline bool port_is_valid(const struct port *port)
{
	return port != PORT_NULL && port != PORT_DEAD_NAME;
}

#define PORT_LIMIT_DEFAULT 5
#define PORT_LIMIT_MAX     16

void port_module_init(void);

/*
 * A new port in state PORT_KERNEL with one reference, which is the caller's; NULL when there is no
 * memory, or `owner` may not have it.  With a kind and an object, messages to it become calls of
 * the object's interface; if that is paid for itself, nobody is the port's owner (NULL).
 */
struct port *port_create(enum object_kind kind, void *object, struct owner *owner);

/* References. */
static inline struct port *port_reference(struct port *port)
{
	port->refs++;
	return port;
}

/* For port_release(): nothing points to the port any more, which is dead. */
void port_free(struct port *port);

/* Gives up one reference; with the last the structure is freed, which must be dead by then. */
static inline void port_release(struct port *port)
{
	assert(port->magic == PORT_MAGIC && port->refs > 0);
	if (--port->refs == 0)
		port_free(port);
}

static inline bool port_is_alive(const struct port *port)
{
	return port->state != PORT_DEAD;
}

/*
 * Rights.  Each make/copy gives the caller a right and takes a reference with it.  make_send counts
 * in make_send_count; make_send_once notes the current thread's label in the port.
 */
static inline struct port *port_make_send(struct port *port) /* The port is alive. */
{
	assert(port_is_alive(port));
	port->make_send_count++;
	port->send_rights++;
	return port_reference(port);
}

static inline struct port *port_make_send_once(struct port *port) /* The port is alive. */
{
	assert(port_is_alive(port));
	port->label = current_thread()->label;
	port->send_once_rights++;
	return port_reference(port);
}

/* From a send right to a port that is alive. */
static inline struct port *port_add_send(struct port *port)
{
	assert(port_is_alive(port) && port->send_rights > 0);
	port->send_rights++;
	return port_reference(port);
}

/* From what may be PORT_NULL or PORT_DEAD_NAME, which come back as they are, or a right to a dead
 * port, which comes back as PORT_DEAD_NAME. */
static inline struct port *port_copy_send(struct port *port)
{
	if (!port_is_valid(port))
		return port;
	return port_is_alive(port) ? port_add_send(port) : PORT_DEAD_NAME;
}

/* For port_release_send(): its last send right is gone. */
void port_no_more_senders(struct port *port);

/*
 * These take the caller's right and its reference away.  PORT_NULL and PORT_DEAD_NAME are passed
 * over.  The last send right of a live port makes a no-senders notification; a send-once right that
 * was not used makes a send-once notification; a receive right is destroyed with the port.  The
 * `valid` port is not one of these two.
 */
static inline void port_release_send_valid(struct port *port)
{
	assert(port->send_rights > 0);
	port->send_rights--;
	if (port->send_rights == 0)
		port_no_more_senders(port);
	port_release(port);
}

static inline void port_release_send(struct port *port)
{
	if (port_is_valid(port))
		port_release_send_valid(port);
}

void port_release_send_once(struct port *port);

/* As port_release_send_once(), without a word to whoever receives there. */
void port_forget_send_once(struct port *port);

void port_release_receive(struct port *port);

/* Takes a send-once right that has been used: the message that came by it was received. */
static inline void port_use_send_once(struct port *port)
{
	port->send_once_rights--;
	port_release(port);
}

/* Whether whoever receives from the port must wait, and gets the port's name as it is. */
static inline bool port_is_quiet(const struct port *port)
{
	return port->n_messages == 0 && port->set == NULL && !port->has_payload;
}

/*
 * Takes the receive right out of its holder's space, whose entry the caller sees to: the port
 * leaves its set, waiting receivers get MACH_RCV_PORT_DIED, what the receiver had set is forgotten.
 * The state is PORT_MOVING then, without a destination; the right's reference stays.
 */
void port_clear_receiver(struct port *port);

/*
 * The kernel gives up a port that it holds, whose kind is OBJECT_NONE from now on: the receive
 * right is the caller's, on its way to `destination`, in a message that the caller sends there.
 * The queue has no limit until somebody holds it.
 */
void port_give_up(struct port *port, struct port *destination);

/* The receive right has come to `space`, which holds it as `name`. */
void port_set_receiver(struct port *port, struct space *space, uint32_t name);

/*
 * The port dies: its receive right has just been taken from wherever it was, or the object behind
 * it ends.  Wakes those who wait, sends dead-name notifications, destroys queued messages.  Takes
 * the reference of the receive right.  Port-destroyed requests are the callers' to honour
 * (port_release_receive and the destruction of an entry do).
 */
void port_destroy(struct port *port);

/*
 * The kernel gives up a port of its own, of kind OBJECT_NONE, of which there are only send-once
 * rights.  Whoever has one may still use it: what is sent is destroyed, and the port ends with the
 * last of them.
 */
void port_abandon(struct port *port);

/* Takes a message that came by a send-once right and that nobody is to receive, with the right. */
void port_swallow(struct port *port, struct message *message);

/* Whether the port, its receive right inside a message, would come to lie in its own queue, by way
 * of any number of others, if that message were queued at `destination`. */
bool port_makes_cycle(const struct port *port, const struct port *destination);

#endif
