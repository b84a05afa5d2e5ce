/* SPDX-License-Identifier: MIT */
/* The random pager: see hostile.h. */
#include "hostile.h"

#define LATER     16u /* Requests that are kept, to be answered in another order. */
#define QUIET_MS  2u
#define BYTES     (HOSTILE_PAGES * PAGE_SIZE)
#define NEW_NAMES 4u /* Copies that the kernel asks for become objects too, so many at most. */

enum {
	INIT = 2200,
	TERMINATE = 2201,
	COPY = 2202,
	DATA_REQUEST = 2203,
	DATA_UNLOCK = 2204,
	DATA_RETURN = 2208,
};

struct request {
	mach_port_t control;
	uint32_t offset;
};

/* Known to all threads, none of which is careful with what the others do. */
static struct {
	mach_port_t control[HOSTILE_OBJECTS + NEW_NAMES], name[HOSTILE_OBJECTS + NEW_NAMES];
	struct request later[LATER];
} known;

/* A thread's own. */
struct liar {
	struct dice dice;
	uint32_t control; /* Which of the known objects it is about. */
	struct message message;
};

static struct liar liars[HOSTILE_PAGER_THREADS];

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

/* The nth word of the message's body. */
static uint32_t word(const struct liar *liar, uint32_t n)
{
	return liar->message.body[2 * n + 1];
}

/* ---------------- What is said ---------------- */

static uint32_t random_offset(struct dice *dice)
{
	if (dice_one_in(dice, 24))
		return dice_one_in(dice, 2) ? 0xfffff000 : dice_next(dice);
	return dice_below(dice, HOSTILE_PAGES + 2) * PAGE_SIZE;
}

static uint32_t random_size(struct dice *dice)
{
	if (dice_one_in(dice, 24))
		return dice_next(dice);
	return dice_below(dice, HOSTILE_PAGES + 2) * PAGE_SIZE;
}

static vm_prot_t random_lock(struct dice *dice)
{
	return dice_one_in(dice, 2) ? VM_PROT_NONE : (vm_prot_t)dice_below(dice, 9);
}

static mach_port_t random_reply(struct dice *dice)
{
	return dice_one_in(dice, 2) ? MACH_PORT_NULL
				    : HOSTILE_OBJECT + dice_below(dice, HOSTILE_OBJECTS);
}

static mach_port_t random_control(struct dice *dice)
{
	uint32_t n = dice_below(dice, HOSTILE_OBJECTS + NEW_NAMES);

	return dice_one_in(dice, 16) ? known.name[n] : known.control[n];
}

static void supply(struct dice *dice, mach_port_t control, uint32_t offset, uint32_t size)
{
	vm_address_t data = 0;

	if (size == 0 || size > 2 * BYTES || vm_allocate(self(), &data, size, TRUE) != KERN_SUCCESS)
		return;
	for (uint32_t at = 0; at < size; at += PAGE_SIZE)
		if (dice_one_in(dice, 2))
			*(volatile uint32_t *)(data + at) = offset + at;
	memory_object_data_supply(control, offset, data, size, TRUE, random_lock(dice),
				  dice_one_in(dice, 4), random_reply(dice));
}

/* The answer to a request, or something like one. */
static void answer(struct dice *dice, const struct request *request)
{
	uint32_t size = PAGE_SIZE, offset = request->offset;

	if (request->control == MACH_PORT_NULL)
		return;
	if (dice_one_in(dice, 8))
		size = random_size(dice) + dice_below(dice, 2) * 12;
	if (dice_one_in(dice, 8))
		offset = random_offset(dice);
	switch (dice_below(dice, 8)) {
	case 0:
		memory_object_data_unavailable(request->control, offset, size);
		break;
	case 1:
		memory_object_data_error(request->control, offset, size, KERN_FAILURE);
		break;
	case 2:
		supply(dice, request->control, offset, size);
		/* And again. */
		/* fallthrough */
	default:
		supply(dice, request->control, offset, size);
		break;
	}
}

static void lock(struct dice *dice, mach_port_t control)
{
	memory_object_lock_request(control, random_offset(dice), random_size(dice),
				   (int)dice_below(dice, 3), dice_one_in(dice, 3),
				   random_lock(dice), random_reply(dice));
}

static void unlock(struct dice *dice, mach_port_t control, uint32_t offset)
{
	memory_object_lock_request(control, offset, PAGE_SIZE, MEMORY_OBJECT_RETURN_NONE,
				   dice_one_in(dice, 8), VM_PROT_NONE, random_reply(dice));
}

/* ---------------- What nobody has asked for ---------------- */

/* The object's port dies, and a new one takes its place, in the clients too. */
static void replace(struct dice *dice)
{
	mach_port_t port = HOSTILE_OBJECT + dice_below(dice, HOSTILE_OBJECTS);

	mach_port_destroy(self(), port);
	if (mach_port_allocate_name(self(), MACH_PORT_RIGHT_RECEIVE, port) != KERN_SUCCESS)
		return;
	mach_port_insert_right(self(), port, port, MACH_MSG_TYPE_MAKE_SEND);
	mach_port_move_member(self(), port, HOSTILE_SET);
	for (uint32_t n = 0; n < HOSTILE_CLIENTS; n++) {
		mach_port_destroy(HOSTILE_CLIENT + n, port);
		mach_port_insert_right(HOSTILE_CLIENT + n, port, port, MACH_MSG_TYPE_MAKE_SEND);
	}
}

/* A pager that uses its own memory waits for itself. */
static void use_own(struct dice *dice)
{
	vm_address_t address = 0;
	vm_offset_t data;
	mach_msg_type_number_t size;

	if (vm_map(self(), &address, BYTES, 0, TRUE, HOSTILE_OBJECT, 0, dice_one_in(dice, 2),
		   VM_PROT_DEFAULT, VM_PROT_ALL, VM_INHERIT_NONE) != KERN_SUCCESS)
		return;
	if (dice_one_in(dice, 8) &&
	    vm_read(self(), address, PAGE_SIZE, &data, &size) == KERN_SUCCESS)
		vm_deallocate(self(), data, size);
	vm_deallocate(self(), address, BYTES);
}

static void meddle(struct dice *dice)
{
	mach_port_t control = random_control(dice);

	switch (dice_below(dice, 12)) {
	case 0:
		memory_object_change_attributes(control, dice_one_in(dice, 2),
						(int)dice_below(dice, 5), random_reply(dice));
		break;
	case 1:
		memory_object_ready(control, dice_one_in(dice, 2), (int)dice_below(dice, 5));
		break;
	case 2:
		supply(dice, control, random_offset(dice), random_size(dice));
		break;
	case 3:
		memory_object_data_unavailable(control, random_offset(dice), random_size(dice));
		break;
	case 4:
		memory_object_data_error(control, random_offset(dice), random_size(dice), 5);
		break;
	case 5:
		if (dice_one_in(dice, 12))
			memory_object_destroy(control, KERN_FAILURE);
		break;
	case 6:
		if (dice_one_in(dice, 12))
			replace(dice);
		break;
	case 7:
		if (dice_one_in(dice, 4))
			use_own(dice);
		break;
	default:
		lock(dice, control);
		break;
	}
}

/* ---------------- What the kernel says ---------------- */

/* Which object a message came to; copies of objects have the places behind. */
static uint32_t place_of(struct liar *liar)
{
	uint32_t n = liar->message.head.msgh_local_port - HOSTILE_OBJECT;

	return n < HOSTILE_OBJECTS ? n : HOSTILE_OBJECTS + dice_below(&liar->dice, NEW_NAMES);
}

static void begin(struct liar *liar)
{
	struct dice *dice = &liar->dice;
	uint32_t n = place_of(liar);

	known.control[n] = word(liar, 0);
	known.name[n] = word(liar, 1);
	if (!dice_one_in(dice, 16))
		memory_object_ready(known.control[n], dice_one_in(dice, 2),
				    (int)dice_below(dice, 4));
}

static void keep_or_answer(struct liar *liar)
{
	struct request request = {word(liar, 0), word(liar, 1)};
	uint32_t n = dice_below(&liar->dice, LATER);

	if (dice_one_in(&liar->dice, 16))
		return; /* Never. */
	if (dice_one_in(&liar->dice, 4)) {
		struct request old = known.later[n];

		known.later[n] = request;
		request = old;
	}
	answer(&liar->dice, &request);
}

/* The ports may be in use by the other threads, who hear that they are gone. */
static void forget_object(struct liar *liar)
{
	for (uint32_t n = 0; n < 2; n++) {
		if (MACH_PORT_VALID(word(liar, n)))
			mach_port_destroy(self(), word(liar, n));
	}
}

static void adopt_copy(struct liar *liar)
{
	mach_port_t port = word(liar, 3);

	if (MACH_PORT_VALID(port) &&
	    mach_port_move_member(self(), port, HOSTILE_SET) != KERN_SUCCESS)
		mach_port_destroy(self(), port);
}

/* Memory comes in the message: words 2 to 4 of the body are its descriptor. */
static void take_data(struct liar *liar)
{
	uint32_t size = liar->message.body[6], data = liar->message.body[7];

	if (dice_one_in(&liar->dice, 16))
		memory_object_data_supply(word(liar, 0), word(liar, 1), data, size, TRUE,
					  random_lock(&liar->dice), FALSE, MACH_PORT_NULL);
	else
		vm_deallocate(self(), data, size);
}

static void obey(struct liar *liar)
{
	switch (liar->message.head.msgh_id) {
	case INIT:
		begin(liar);
		break;
	case TERMINATE:
		forget_object(liar);
		break;
	case COPY:
		adopt_copy(liar);
		break;
	case DATA_REQUEST:
		keep_or_answer(liar);
		break;
	case DATA_UNLOCK:
		if (!dice_one_in(&liar->dice, 4))
			unlock(&liar->dice, word(liar, 0), word(liar, 1));
		break;
	case DATA_RETURN:
		take_data(liar);
		break;
	}
}

void hostile_pager(uint32_t n)
{
	struct liar *liar = &liars[n];

	liar->dice.state = (hostile_plan.seed + n) * 2654435761u | 1;
	for (;;) {
		if (message_get(&liar->message, HOSTILE_SET, QUIET_MS) == MACH_MSG_SUCCESS)
			obey(liar);
		if (dice_one_in(&liar->dice, 4))
			meddle(&liar->dice);
		if (dice_one_in(&liar->dice, 8))
			answer(&liar->dice, &known.later[dice_below(&liar->dice, LATER)]);
	}
}
