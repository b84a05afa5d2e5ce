/* SPDX-License-Identifier: MIT */
/*
 * Messages in the kernel: where they come from and how they end (message.h).
 *
 * Owns the zones of the two common sizes and, in front of each, the messages that it keeps for the
 * next use.  Guarded by the kernel lock.
 */
#include "ipc/message.h"

#include <stddef.h>

#include "base/owner.h"
#include "ipc/message_body.h"
#include "ipc/notify.h"
#include "ipc/port.h"
#include "ipc/right.h"
#include "ipc/space.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/kernel_memory.h"
#include "vm/page/page.h"

struct zone small_messages;
static struct zone page_messages;

/*
 * Memory of this size has to be mapped: so much of it is kept that this is rare.  The zone has no
 * elements but these.
 */
static struct zone big_messages;

#define BIG_KEPT 4u

#define HEADER_OFFSET offsetof(struct message, header)

_Static_assert(HEADER_OFFSET + MESSAGE_PAGE <= PAGE_SIZE, "one message a page");
_Static_assert(HEADER_OFFSET + MESSAGE_BIG <= 2 * PAGE_SIZE, "one message two pages");
_Static_assert(HEADER_OFFSET + MESSAGE_MAX <= KERNEL_MEMORY_MAX, "the largest message");

/* ---------------- Who pays ---------------- */

#define PRICE_UNIT 256u

/* Bytes to units, not less than they are. */
static uint32_t message_units(uint32_t bytes)
{
	return (bytes + PRICE_UNIT - 1) / PRICE_UNIT;
}

/*
 * Memory of which a part is carried is carried by the page; and the same may be carried so often
 * that no count has it, which nobody may.  The notification that the message is accepted waits with
 * it.
 */
uint32_t message_price(struct message *message)
{
	uint64_t price = message_units(message->room) + (message->accepted != NULL);
	struct body_walk walk;
	struct part *part;

	if ((message->header.msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return (uint32_t)price;
	body_begin(&walk, message);
	while ((part = body_next(&walk)) != NULL)
		if (!part->in_line)
			price += message_units(page_round(part->length));
	return price < UINT32_MAX ? (uint32_t)price : UINT32_MAX;
}

/* ---------------- Allocation ---------------- */

static struct message *message_init_if_any(struct message *message, uint32_t room)
{
	if (message != NULL)
		message_init(message, room);
	return message;
}

/* The allocation site is where message_alloc() was called. */
static struct message *message_page_alloc_message(void)
{
	struct message *message = message_take_from(&page_messages);

	if (message == NULL)
		message = (zone_alloc)(&page_messages);
	return message_init_if_any(message, MESSAGE_PAGE);
}

static struct message *message_big_alloc(void)
{
	struct message *message = message_take_from(&big_messages);

	if (message == NULL)
		message = (kernel_memory_alloc)(HEADER_OFFSET + MESSAGE_BIG);
	return message_init_if_any(message, MESSAGE_BIG);
}

struct message *message_make(uint32_t size)
{
	assert(size >= sizeof(mach_msg_header_t));
	if (size <= MESSAGE_SMALL)
		return message_init_if_any((zone_alloc)(&small_messages), MESSAGE_SMALL);
	if (size <= MESSAGE_PAGE)
		return message_page_alloc_message();
	if (size <= MESSAGE_BIG)
		return message_big_alloc();
	if (size > MESSAGE_MAX)
		return NULL;
	return message_init_if_any((kernel_memory_alloc)(HEADER_OFFSET + size), size);
}

void message_unmake(struct message *message)
{
	uint32_t room = message->room;

	assert(message->magic == MESSAGE_MAGIC && message->accepted == NULL);
	if (room == MESSAGE_PAGE && !message_keep_in(&page_messages, message))
		zone_free(&page_messages, message);
	else if (room > MESSAGE_BIG ||
		 (room == MESSAGE_BIG && !message_keep_in(&big_messages, message)))
		kernel_memory_free(message, HEADER_OFFSET + room);
}

void message_module_init(void)
{
	ALLOCATES_AT_BOOT;
	struct message *first[BIG_KEPT];

	zone_init(&small_messages, "messages", HEADER_OFFSET + MESSAGE_SMALL, 4);
	zone_init_kept(&small_messages, MESSAGE_KEPT_LINK, ZONE_KEPT);
	owner_set_price(OWNER_QUEUED, PRICE_UNIT);
	zone_init(&page_messages, "large messages", HEADER_OFFSET + MESSAGE_PAGE, 4);
	zone_init_kept(&page_messages, MESSAGE_KEPT_LINK, ZONE_KEPT);
	zone_init_kept(&big_messages, MESSAGE_KEPT_LINK, BIG_KEPT);
	for (unsigned n = 0; n < BIG_KEPT; n++) {
		first[n] = message_alloc(MESSAGE_BIG);
		if (first[n] == NULL)
			panic("no memory for messages");
	}
	for (unsigned n = 0; n < BIG_KEPT; n++)
		message_free(first[n]);
}

/* ---------------- Acceptance ---------------- */

/* Takes the notification and its send-once right out of the message. */
void message_accept(struct message *message)
{
	struct message *notice = message->accepted;

	message->accepted = NULL;
	if (message->accepted_entry != NULL) {
		assert(message->accepted_entry->accepting == message);
		message->accepted_entry->accepting = NULL;
		message->accepted_entry = NULL;
	}
	notify_msg_accepted(message_remote(notice), notice, message->accepted_name);
}

/* ---------------- The end ---------------- */

/* Drops the rights, PORT_NULL and PORT_DEAD_NAME among them, of one part. */
static void message_destroy_rights(const struct part *part)
{
	uint32_t *rights = part_rights(part);
	uint32_t n = part_n_rights(part);

	for (uint32_t i = 0; i < n; i++) {
		struct port *port = (struct port *)rights[i];

		if (port_is_valid(port))
			right_release(port, part->name);
		pause_each();
	}
}

/* Takes the rights and the memory of the body away, as they are in the kernel's hand. */
void message_destroy_body(struct message *message)
{
	struct body_walk walk;
	struct part *part;

	if ((message->header.msgh_bits & MACH_MSGH_BITS_COMPLEX) == 0)
		return;
	body_begin(&walk, message);
	while ((part = body_next(&walk)) != NULL) {
		message_destroy_rights(part);
		if (part->in_line || *part->data == 0)
			continue;
		if (part->rights)
			kernel_memory_free((void *)*part->data, part->length);
		else
			copy_destroy((struct copy *)*part->data);
	}
}

static void message_destroy_one(struct message *message)
{
	mach_msg_bits_t bits = message->header.msgh_bits;
	struct port *remote = message_remote(message);
	struct port *local = message_local(message);

	if (message->accepted != NULL)
		message_accept(message);
	if (port_is_valid(remote))
		right_release(remote, MACH_MSGH_BITS_REMOTE(bits));
	if (port_is_valid(local))
		right_release(local, MACH_MSGH_BITS_LOCAL(bits));
	message_destroy_body(message);
	message_free(message);
}

/*
 * Takes the message with its header's and body's rights.  What it causes to be destroyed waits on
 * the list, so that this function is never deeper on the stack than once within itself.
 */
void message_destroy(struct message *message)
{
	static struct list doomed = LIST_INITIALIZER(doomed);
	static bool busy;

	assert(message->magic == MESSAGE_MAGIC);
	list_add_last(&doomed, &message->link);
	if (busy)
		return;
	busy = true;
	while (!list_empty(&doomed)) {
		message_destroy_one(list_object(list_take_first(&doomed), struct message, link));
		kernel_pause();
	}
	busy = false;
}
