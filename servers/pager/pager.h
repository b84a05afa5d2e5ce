/* SPDX-License-Identifier: MIT */
/*
 * The default pager: keeps pages of memory that no other program looks after on a device, for as
 * long as the kernel has no room for them.
 *
 *   main.c        starts: device, wiring, privileges, and says to the kernel that it is there
 *   serve.c       the kernel's messages, each a function
 *   answers.c     what it sends to the kernel
 *   objects.c     memory objects: which page of which is where
 *   contents.c    one page's contents, written to the device and read from it
 *   swap_space.c  the device in blocks of a page, and which of them are in use
 *   pool.c        memory for the structures of the others
 *
 * The kernel sends pages when there is no memory.  So whatever this program does to get rid of one
 * must do without: all its memory is wired, its one thread may have the last pages of the machine,
 * and it has structures in reserve.  Nothing that it was given is lost while it lives.
 */
#ifndef PAGER_H
#define PAGER_H

#include <assay.h>
#include <mach.h>

/*
 * Says something to people, in one line: in the kernel's log, or on the console if that has none.
 */
void say(const char *text, ...) __attribute__((format(printf, 1, 2)));

/* Whether a call failed for want of memory: it may succeed later. */
bool is_shortage(kern_return_t result);

/* Waits a little for memory that others give back. */
void wait_for_memory(void);

/* Ends one reference under the name: every right that a message brings is one. */
void drop_right(mach_port_t name);

/* ---------------- Structures of one size (pool.c) ---------------- */

struct pool {
	uint32_t size;         /* Of an element. */
	uint32_t n_free;       /* Elements, */
	uint32_t reserve;      /* of which so many should be there beforehand. */
	struct chunk *partial; /* Pages with a free element. */
};

#define POOL(element, many) ((struct pool){.size = sizeof(element), .reserve = (many)})

/* A cleared element.  Waits if there is not even a page left for this program. */
void *pool_alloc(struct pool *pool);
void pool_free(struct pool *pool, void *element);

/* Fills the reserve up, if there is memory. */
void pool_refill(struct pool *pool);

/* ---------------- The device (swap_space.c) ---------------- */

#define BLOCK_NONE 0xffffffffu
#define BLOCKS_MAX (1u << 30)

/*
 * False if the device cannot be used.  It has been said why, but for one that is not there and is
 * not the last to be tried.
 */
bool swap_open(mach_port_t master, const char *name, bool is_last);

/* How many blocks there are, and how many are free. */
uint32_t swap_blocks(void);
uint32_t swap_blocks_free(void);

/* BLOCK_NONE: all are in use. */
uint32_t swap_alloc(void);
void swap_free(uint32_t block);

/* A block that cannot be written stays in use for good. */
enum swap_result {
	SWAP_DONE,
	SWAP_SHORT, /* The kernel has no memory for it now. */
	SWAP_BROKEN
};

enum swap_result swap_write(uint32_t block, vm_address_t page);

/* New memory with the block's contents, which is the caller's. */
enum swap_result swap_read(uint32_t block, vm_address_t *page);

/* ---------------- Contents of a page (contents.c) ---------------- */

/* Where the contents of one page of an object are: one of these, or PLACE_BLOCKS + a block. */
typedef uint32_t place_t;

enum {
	PLACE_NONE,   /* There never were any. */
	PLACE_KERNEL, /* They were here; the kernel has got them back, and they are its again. */
	PLACE_BLOCKS
};

/*
 * Takes the page, memory of this program's, as the new contents.  False if there is no room for
 * them: it is the caller's still, who gives it back to the kernel.
 */
bool contents_put(place_t *place, vm_address_t page);

enum contents_result {
	CONTENTS_NONE,
	CONTENTS_KERNEL, /* As the places of these names. */
	CONTENTS_READ,   /* *page is a copy, the caller's. */
	CONTENTS_BROKEN, /* The device does not give them back. */
};

enum contents_result contents_get(const place_t *place, vm_address_t *page);

void contents_drop(place_t *place);

/* ---------------- Memory objects (objects.c) ---------------- */

struct object;

/* An object without contents, whose ports are these names of receive, send and send rights. */
struct object *object_new(mach_port_t port, mach_port_t control, mach_port_t name);

/* The object that the kernel means by this: the payload of its port; NULL if it is none. */
struct object *object_of(mach_port_t payload);

/* Drops all contents and rights of the object. */
void object_end(struct object *object);

/* The place of a page; NULL if that is not `needed` and there is none. */
place_t *object_place(struct object *object, uint32_t index, bool needed);

void objects_refill(void);

/* ---------------- Answers (answers.c) ---------------- */

/*
 * None waits for the object's end, should that be on its way: then nobody wants the answer.
 *
 * The page moves to the kernel.  When it is all there is, it is precious: the kernel gives it back
 * before it forgets it.
 */
void answer_supply(mach_port_t control, vm_offset_t offset, vm_address_t page, bool precious);

/* The same for a page that there never was, and for one that cannot be read. */
void answer_unavailable(mach_port_t control, vm_offset_t offset);
void answer_error(mach_port_t control, vm_offset_t offset, kern_return_t error);

/* ---------------- Service (serve.c) ---------------- */

/* Makes the port by which the kernel asks for objects: a name for its receive and a send right. */
kern_return_t serve_prepare(mach_port_t *port);

/* Does what the kernel asks, for ever. */
_Noreturn void serve(void);

#endif
