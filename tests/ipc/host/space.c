/* SPDX-License-Identifier: MIT */
/* links: ipc/space.c ipc/space_hash.c base/owner.c base/zone.c vm/page/page.c */
/* Spaces of names (ipc/space.h).  Ports are put into them as they are, without their own code. */
#include "ipc/space.h"

#include <mach/port.h>

#include "base/lock.h"
#include "base/owner.h"
#include "base/zone.h"
#include "host/kernel.h"
#include "ipc/right.h"
#include "thread/work.h"

#define PAGES 1000
#define NAMES 300
#define STEPS 100000

static struct page array[PAGES];

/* ---------------- What spaces call ---------------- */

uint32_t kernel_lock_word = 1;

static unsigned sends_released, send_onces_released;

uint32_t pause_turns_left = 1;

void kernel_pause(void)
{
}

void port_free(struct port *port)
{
	EXPECT_EQ(port->refs, 0);
}

void port_no_more_senders(struct port *port)
{
	EXPECT(!port_is_alive(port));
	sends_released++;
}

void port_release_send_once(struct port *port)
{
	send_onces_released++;
	port_release(port);
}

void right_destroy(struct entry *entry)
{
	if ((entry->type & MACH_PORT_TYPE_SEND_RECEIVE) != 0)
		space_unhash(entry);
	space_free_entry(entry);
}

/* ---------------- What the tests share ---------------- */

static void begin(void)
{
	static bool begun;

	sends_released = send_onces_released = 0;
	if (begun)
		return;
	begun = true;
	page_init(array, PAGES * PAGE_SIZE);
	page_add_range(0, PAGES * PAGE_SIZE);
	owner_module_init();
	space_module_init();
}

static void end(struct space *space)
{
	space_terminate(space);
	EXPECT_EQ(space->n_entries, 0);
	EXPECT(!space->active);
	space_release(space);
}

/* A name of the kernel's choice for a dead name. */
static uint32_t take(struct space *space)
{
	struct entry *entry = NULL;

	EXPECT_EQ(space_take_name(space, &entry), KERN_SUCCESS);
	entry->type = MACH_PORT_TYPE_DEAD_NAME;
	return entry->name;
}

static kern_return_t take_chosen(struct space *space, uint32_t name)
{
	struct entry *entry;
	kern_return_t result = space_take_chosen_name(space, name, &entry);

	if (result == KERN_SUCCESS) {
		EXPECT_EQ(entry->name, name);
		entry->type = MACH_PORT_TYPE_DEAD_NAME;
	}
	return result;
}

static void give_back(struct space *space, uint32_t name)
{
	space_free_entry(space_find(space, name));
}

/* ---------------- Names ---------------- */

TEST(space_names_are_dense)
{
	struct space *space;

	begin();
	space = space_create(&owner_system);
	for (uint32_t i = 1; i <= NAMES; i++)
		EXPECT_EQ(take(space), i);
	EXPECT_EQ(space->n_entries, NAMES);
	EXPECT(space_find(space, 0) == NULL);
	EXPECT(space_find(space, NAMES + 1) == NULL);
	EXPECT(space_find(space, MACH_PORT_DEAD) == NULL);
	end(space);
}

TEST(space_last_freed_comes_first)
{
	struct space *space;

	begin();
	space = space_create(&owner_system);
	for (uint32_t i = 1; i <= 5; i++)
		take(space);
	give_back(space, 2);
	give_back(space, 4);
	EXPECT(space_find(space, 4) == NULL);
	EXPECT_EQ(take(space), 4);
	EXPECT_EQ(take(space), 2);
	EXPECT_EQ(take(space), 6);
	end(space);
}

TEST(space_chosen_names)
{
	static const uint32_t names[] = {
		3,          31,         32,         1000,       NEAR_NAMES - 1,
		NEAR_NAMES, 0x12345678, 0x1fffffff, 0x20000000, 0xfffffffe};
	struct space *space;

	begin();
	space = space_create(&owner_system);
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		EXPECT(space_find(space, names[i]) == NULL);
		EXPECT_EQ(take_chosen(space, names[i]), KERN_SUCCESS);
		EXPECT_EQ(take_chosen(space, names[i]), KERN_NAME_EXISTS);
		EXPECT_EQ(space_find(space, names[i])->name, names[i]);
	}
	EXPECT_EQ(take_chosen(space, 0), KERN_INVALID_VALUE);
	EXPECT_EQ(take_chosen(space, MACH_PORT_DEAD), KERN_INVALID_VALUE);
	EXPECT_EQ(take(space), 1);
	EXPECT_EQ(take(space), 2);
	EXPECT_EQ(take(space), 4);
	end(space);
}

/* One from the middle of the free list, and one that the kernel has not come to. */
TEST(space_chosen_and_free_names_meet)
{
	struct space *space;

	begin();
	space = space_create(&owner_system);
	for (uint32_t i = 1; i <= 4; i++)
		take(space);
	give_back(space, 1);
	give_back(space, 2);
	give_back(space, 3);
	EXPECT_EQ(take_chosen(space, 2), KERN_SUCCESS);
	EXPECT_EQ(take_chosen(space, 6), KERN_SUCCESS);
	give_back(space, 6);
	EXPECT_EQ(take_chosen(space, 6), KERN_SUCCESS);
	give_back(space, 6);
	EXPECT_EQ(take(space), 3);
	EXPECT_EQ(take(space), 1);
	EXPECT_EQ(take(space), 5);
	EXPECT_EQ(take(space), 6);
	EXPECT_EQ(take(space), 7);
	end(space);
}

TEST(space_next_goes_in_order)
{
	static const uint32_t names[] = {1, 40, 8191, 8192, 0x40000000, 0xfffffffe};
	struct space *space;
	uint32_t name = 0;

	begin();
	space = space_create(&owner_system);
	for (unsigned i = COUNT_OF(names); i > 0; i--)
		EXPECT_EQ(take_chosen(space, names[i - 1]), KERN_SUCCESS);
	for (unsigned i = 0; i < COUNT_OF(names); i++) {
		struct entry *entry = space_next(space, name);

		EXPECT_EQ(entry->name, names[i]);
		name = entry->name + 1;
	}
	EXPECT(space_next(space, name) == NULL);
	end(space);
}

/* Against a table of what is in use, and of what is free below the highest name ever chosen. */
TEST(space_random)
{
	static bool used[NAMES];
	struct space *space;
	uint32_t seed = 1;
	uint32_t n = 0;

	begin();
	space = space_create(&owner_system);
	for (unsigned i = 0; i < STEPS; i++) {
		uint32_t name = 1 + host_random_below(&seed, NAMES - 1);

		if (used[name]) {
			give_back(space, name);
			used[name] = false;
			n--;
		} else if (host_random_below(&seed, 2) == 0 || n == NAMES - 1) {
			EXPECT_EQ(take_chosen(space, name), KERN_SUCCESS);
			used[name] = true;
			n++;
		} else {
			name = take(space);
			EXPECT(name < NAMES && !used[name]);
			used[name] = true;
			n++;
		}
		EXPECT_EQ(space->n_entries, n);
	}
	end(space);
}

/* ---------------- Ports ---------------- */

TEST(space_hash_finds_each_space_its_own)
{
	static struct port ports[64];
	struct space *spaces[2];
	struct entry *entries[2][COUNT_OF(ports)];

	begin();
	for (unsigned s = 0; s < 2; s++) {
		spaces[s] = space_create(&owner_system);
		for (unsigned i = 0; i < COUNT_OF(ports); i++) {
			EXPECT(space_find_port(spaces[s], &ports[i]) == NULL);
			space_take_name(spaces[s], &entries[s][i]);
			entries[s][i]->type = MACH_PORT_TYPE_SEND;
			entries[s][i]->port = &ports[i];
			space_hash(entries[s][i]);
		}
	}
	for (unsigned s = 0; s < 2; s++) {
		for (unsigned i = 0; i < COUNT_OF(ports); i++)
			EXPECT(space_find_port(spaces[s], &ports[i]) == entries[s][i]);
		end(spaces[s]);
		EXPECT(space_find_port(spaces[s], &ports[0]) == NULL);
	}
}

static void put(struct space *space, struct port *port, uint32_t type)
{
	struct entry *entry;

	space_take_name(space, &entry);
	entry->type = type;
	entry->port = port;
	port->magic = PORT_MAGIC;
	port->refs++;
	if (type != MACH_PORT_TYPE_SEND)
		return;
	port->send_rights++;
	space_hash(entry);
}

TEST(space_entries_of_dead_ports_are_dead_names)
{
	static struct port port;
	struct space *space;

	begin();
	space = space_create(&owner_system);
	put(space, &port, MACH_PORT_TYPE_SEND);
	put(space, &port, MACH_PORT_TYPE_SEND_ONCE);
	put(space, &port, MACH_PORT_TYPE_SEND_ONCE);
	EXPECT_EQ(space_find(space, 1)->type, MACH_PORT_TYPE_SEND);
	port.state = PORT_DEAD;
	EXPECT_EQ(space_find(space, 1)->type, MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(space_find(space, 2)->type, MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(space_next(space, 3)->type, MACH_PORT_TYPE_DEAD_NAME);
	EXPECT_EQ(space_find(space, 1)->refs, 1);
	EXPECT_EQ(port.refs, 0);
	EXPECT_EQ(sends_released, 1);
	EXPECT_EQ(send_onces_released, 2);
	EXPECT(space_find_port(space, &port) == NULL);
	end(space);
}

/* Without memory a name is refused, and all that there was stays. */
TEST(space_without_memory)
{
	struct space *space;
	uint32_t n = 0, name = 1;

	begin();
	space = space_create(&owner_system);
	while (take_chosen(space, name) == KERN_SUCCESS) {
		n++;
		name += 1u << 21;
	}
	EXPECT_EQ(take_chosen(space, name), KERN_RESOURCE_SHORTAGE);
	EXPECT(n > 10);
	EXPECT_EQ(space->n_entries, n);
	EXPECT(space_find(space, 1) != NULL && space_find(space, name) == NULL);
	end(space);
}

/* A thread may have noted where an entry is, and look there when its task has ended. */
TEST(slots_stay_until_the_space_is_released)
{
	struct space *space, *other;
	struct entry *slot;
	uint32_t name;

	begin();
	space = space_create(&owner_system);
	name = take(space);
	slot = space_near_slot(space, name);
	space_terminate(space);
	EXPECT_EQ(slot->type, 0);
	other = space_create(&owner_system);
	EXPECT_EQ(take(other), name);
	EXPECT(space_near_slot(other, name) != slot);
	EXPECT_EQ(slot->type, 0);
	end(other);
	space_release(space);
}
