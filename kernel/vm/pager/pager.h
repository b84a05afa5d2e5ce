/* SPDX-License-Identifier: MIT */
/*
 * Pagers: the kernel's end of a memory object, whose other end is a port that a program receives
 * from (memory_object, from 2200; calls back in <mach/mach.defs>).
 *
 * A `struct pager` stands between an object and that port.  An object that a program's memory
 * object was mapped for has one in `pager`; memory whose pages went to the default pager has one in
 * `swap`.  Its control port is what the program calls the kernel by, its name port what vm_region()
 * shows.  A pager is an allegation: it answers in any order, twice, late, never, or with what was
 * not asked for, and only who mapped its object may notice.
 *
 * What is on its way to a program in memory_object_data_return is held by an object of its own,
 * whose pages the page-out daemon can take to the default pager like any others; when
 * PAGER_IN_FLIGHT messages with pages of one object are on their way, what would be paged out next
 * goes to its `swap`.
 *
 *   MAPPED  memory_object_init was sent; nothing is asked yet
 *   READY   after memory_object_ready, or from the beginning if it is a `swap`
 *   DEAD    its port died, it said memory_object_destroy, or its object has ended: requests fail,
 *           what is there stays, and what is dirty goes to swap.  A `swap` that dies before its
 *           object leaves it, and what was there is SLOT_LOST
 *
 * Guarded by the kernel lock.
 */
#ifndef VM_PAGER_PAGER_H
#define VM_PAGER_PAGER_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/kern_return.h>
#include <mach/memory_object.h>

#include "vm/page/page_tree.h"

struct message;
struct object;
struct page;
struct port;
struct thread;

#define PAGER_MAGIC     0x50475200u
#define PAGER_IN_FLIGHT 32

/*
 * So many messages at a port are enough: then the kernel adds none that users can cause at will
 * (pager_has_room()).  More than there are threads that touch one object, and no more memory than
 * the 16 messages of 64 KiB that users can have in a queue.
 */
#define PAGER_QUEUED 1024u

enum pager_state {
	PAGER_MAPPED, /* memory_object_init has been sent. */
	PAGER_READY,
	PAGER_DEAD,
};

struct pager {
	uint32_t magic;
	uint32_t refs; /* The object's, one for each message on its way, and calls that block. */
	enum pager_state state;
	bool is_swap;         /* It is some object's `swap`. */
	bool may_cache;       /* Keep the object when nobody maps it. */
	bool temporary;       /* Its contents need not outlive its mappings. */
	uint8_t lock_in_swap; /* VM_PROT_*: what it forbids for some page that is in swap. */
	memory_object_copy_strategy_t strategy; /* How it wants to be copied. */
	struct object *object;                  /* NULL when that has ended. */
	struct port *port;    /* A send right to the memory object; port->pager is this.  And */
	struct port *control; /* OBJECT_PAGER, and */
	struct port *name;    /* OBJECT_PAGER_NAME, the kernel's ports; NULL when they are gone. */
	struct message *farewell; /* For its memory_object_terminate, which so needs no memory. */
	uint32_t in_flight;       /* Messages with pages sent, and not yet received. */
	struct page_tree asked;   /* Of a swap: slots that were requested there, or failed. */
};

void pager_module_init(void);

/*
 * The object for the memory object `port`, which lives: a new one (memory_object_init is sent), the
 * one that is mapped or cached already, or that of a kernel port (OBJECT_MEMORY).  It has a
 * reference for the caller, and `size` pages at least.  Takes no right.  KERN_INVALID_ARGUMENT for
 * a port that can be none, KERN_RESOURCE_SHORTAGE.
 */
kern_return_t pager_object(struct port *port, uint32_t size, struct object **object);

/* A send right to the object's name port for vm_region(); PORT_NULL if it has none. */
struct port *pager_name_right(const struct object *object);

/*
 * The object for a copy of [index, index + size), which its pager wants to be asked for
 * (MEMORY_OBJECT_COPY_CALL), with a reference for the caller: of a new memory object, which the
 * pager is given (memory_object_copy).  KERN_MEMORY_FAILURE, KERN_RESOURCE_SHORTAGE.
 */
kern_return_t pager_copy(struct object *object, uint32_t index, uint32_t size,
			 struct object **copy);

/* ---------------- The queue ---------------- */

/*
 * Whether the kernel may queue another message that somebody asks for: the pager is dead, so that
 * none will be sent, or fewer than PAGER_QUEUED wait at its port.  Else a fault waits on the
 * object, and a call is refused.  What an object returns at its end, and its farewell, are sent in
 * any case: they are no more than it has pages, and one for each memory_object_init.
 */
bool pager_has_room(const struct pager *pager);

/* One more message has been received from the pager's port: who waits for room may have it. */
void pager_note_received(struct pager *pager);

/* ---------------- What faults ask ---------------- */

/* Waits until the object's pager, if it has one, is ready.  KERN_MEMORY_FAILURE if it is dead,
 * KERN_ABORTED.  The object is the caller's.  May block. */
kern_return_t pager_await_ready(struct object *object);

/*
 * Asks for what is in no page: the slot has `mark`, SLOT_EMPTY of an object whose pager is ready,
 * or SLOT_SWAPPED, and is SLOT_REQUESTED then.  The pager has room for the message.
 * KERN_MEMORY_FAILURE when the pager is dead, KERN_RESOURCE_SHORTAGE: nothing has changed.  On
 * success the caller waits next, and lets go on whom it finds in *woken, a thread of the pager's or
 * NULL: nothing comes between that may end waits.  Does not block.
 */
kern_return_t pager_request(struct object *object, uint32_t index, const struct page *mark,
			    uint32_t rights, struct thread **woken);

/*
 * Whoever waited for a slot that is SLOT_FAILED now is told: it is as if nobody had asked,
 * SLOT_EMPTY or SLOT_SWAPPED.
 */
void pager_failure_told(struct object *object, uint32_t index);

/* Asks the pager to allow `rights` for a page that it has locked against them, once.  As above. */
kern_return_t pager_unlock(struct page *page, uint32_t rights, struct thread **woken);

/* ---------------- What page-out asks ---------------- */

/*
 * Sends a dirty or precious page, not wired, to where its contents belong, and takes it away from
 * its object: the slot becomes SLOT_EMPTY or SLOT_SWAPPED.  False if that cannot be now (no default
 * pager, no memory): nothing has changed.  Does not block.
 */
bool pager_take_page(struct page *page);

/* Whether pager_take_page() may succeed, for telling "later" from "never". */
bool pager_can_take(const struct page *page);

/* ---------------- Ends ---------------- */

/*
 * The object, which has no reference and is mapped nowhere, ends: returns what is dirty or
 * precious, and says goodbye.  For object_terminate(), of `pager` first and then of what is `swap`
 * then; both are NULL afterwards.  Pages and marks that are left are the caller's.
 */
void pager_terminate(struct pager *pager);

/* The object has no reference: whether it is kept, in the cache, for the next one to map it. */
bool pager_keep(struct object *object);

/* When there is little memory: the oldest cached object is given up; false if there is none. */
bool pager_cache_trim(void);

/* The port of a memory object dies: for port_destroy(). */
void pager_port_died(struct pager *pager);

/* A copy in a message to the pager has been received, or will never be: for vm/map/copy.c. */
void pager_landed(struct pager *pager);

/* The port that vm_set_default_memory_manager() was given, alive, or PORT_NULL; borrowed. */
struct port *default_pager_port(void);

/* A port dies: if it was the default pager's, there is none any more.  For port_destroy(). */
void default_pager_died(const struct port *port);

/* ---------------- Counts ---------------- */

extern uint32_t pager_lookups; /* Memory objects that were mapped, */
extern uint32_t pager_hits;    /* and those of them whose object was there. */

/*
 * Messages, of a page each, that were sent to default pagers and are not yet received: memory comes
 * of them.  Of what is sent to others it does not: they can leave it where it is, and then it is
 * paged out like any other.
 */
extern uint32_t pager_swap_flights;

uint32_t pager_cached_objects(void);

#endif
