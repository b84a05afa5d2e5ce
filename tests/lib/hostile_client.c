/* SPDX-License-Identifier: MIT */
/* Clients of the random pager: see hostile.h. */
#include "hostile.h"

#define MAPPINGS 12u
#define TASKS    2u

/* What a thread has mapped; its exceptions let it begin again, with what is there. */
struct client {
	struct dice dice;
	struct {
		vm_address_t address;
		vm_size_t size;
	} mapping[MAPPINGS];
	mach_port_t tasks[TASKS];
	mach_port_t port; /* Messages to itself. */
};

static struct client clients[HOSTILE_CLIENT_THREADS];

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

/* A page of one of the mappings; 0 if there is nothing there. */
static vm_address_t random_page(struct client *client)
{
	uint32_t n = dice_below(&client->dice, MAPPINGS);

	if (client->mapping[n].size == 0)
		return 0;
	return client->mapping[n].address +
	       dice_below(&client->dice, client->mapping[n].size / PAGE_SIZE) * PAGE_SIZE;
}

static vm_size_t random_size(struct client *client)
{
	return (1 + dice_below(&client->dice, HOSTILE_PAGES)) * PAGE_SIZE;
}

/* ---------------- Mapping ---------------- */

static void map(struct client *client)
{
	struct dice *dice = &client->dice;
	uint32_t n = dice_below(dice, MAPPINGS);
	vm_address_t address = 0;
	vm_size_t size = random_size(client);
	vm_prot_t rights = dice_one_in(dice, 6) ? VM_PROT_READ : VM_PROT_DEFAULT;

	if (client->mapping[n].size != 0) {
		vm_deallocate(self(), client->mapping[n].address, client->mapping[n].size);
		client->mapping[n].size = 0;
	}
	if (vm_map(self(), &address, size, 0, TRUE,
		   HOSTILE_OBJECT + dice_below(dice, HOSTILE_OBJECTS),
		   dice_below(dice, 3) * PAGE_SIZE, dice_one_in(dice, 4), rights, VM_PROT_ALL,
		   (vm_inherit_t)dice_below(dice, 3)) != KERN_SUCCESS)
		return;
	client->mapping[n].address = address;
	client->mapping[n].size = size;
}

static void change(struct client *client)
{
	vm_address_t page = random_page(client);
	vm_size_t size = random_size(client);

	switch (dice_below(&client->dice, 6)) {
	case 0:
		vm_protect(self(), page, size, FALSE, (vm_prot_t)dice_below(&client->dice, 8));
		break;
	case 1:
		vm_protect(self(), page, size, FALSE, VM_PROT_DEFAULT);
		break;
	case 2:
		vm_inherit(self(), page, size, (vm_inherit_t)dice_below(&client->dice, 3));
		break;
	case 3:
		vm_deallocate(self(), page, PAGE_SIZE);
		break;
	case 4:
		vm_wire(HOSTILE_HOST, self(), page, size, VM_PROT_READ);
		break;
	default:
		vm_wire(HOSTILE_HOST, self(), page, size, VM_PROT_NONE);
		break;
	}
}

/* ---------------- Using ---------------- */

/* An exception ends it, and the thread begins again. */
static void touch(struct client *client)
{
	volatile uint32_t *page = (volatile uint32_t *)random_page(client);

	if (page == NULL)
		return;
	if (dice_one_in(&client->dice, 2))
		*page = 1;
	else
		(void)*page;
}

static void read_memory(struct client *client)
{
	vm_offset_t data;
	mach_msg_type_number_t size;

	if (vm_read(self(), random_page(client), random_size(client), &data, &size) != KERN_SUCCESS)
		return;
	if (dice_one_in(&client->dice, 2))
		vm_write(self(), random_page(client), data, size);
	vm_deallocate(self(), data, size);
}

static void write_memory(struct client *client)
{
	uint32_t value = dice_next(&client->dice);

	vm_write(self(), random_page(client), (vm_offset_t)&value, sizeof value);
}

static void sync_memory(struct client *client)
{
	vm_address_t address = random_page(client);
	vm_size_t size;
	vm_prot_t rights, max_rights;
	vm_inherit_t inheritance;
	boolean_t shared;
	mach_port_t name;
	vm_offset_t offset;

	if (dice_one_in(&client->dice, 2)) {
		vm_msync(self(), address, random_size(client),
			 (vm_sync_t)dice_below(&client->dice, 8));
		return;
	}
	if (vm_region(self(), &address, &size, &rights, &max_rights, &inheritance, &shared, &name,
		      &offset) != KERN_SUCCESS)
		return;
	if (MACH_PORT_VALID(name)) {
		vm_object_sync(name, offset, size, dice_one_in(&client->dice, 2),
			       dice_one_in(&client->dice, 2), dice_one_in(&client->dice, 2));
		mach_port_deallocate(self(), name);
	}
}

/* Memory out of line, which comes back to the thread itself, or not. */
static void send_memory(struct client *client)
{
	struct message message;
	bool moved = dice_one_in(&client->dice, 4);

	message_head(&message, client->port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE(MACH_MSG_TYPE_INTEGER_32, 32,
			       dice_below(&client->dice, 3 * PAGE_SIZE / 4), 0, moved);
	message.body[1] = random_page(client);
	message_post(&message, 2);
	if (!dice_one_in(&client->dice, 2) ||
	    message_get(&message, client->port, 0) != MACH_MSG_SUCCESS)
		return;
	if (message.body[1] != 0)
		vm_deallocate(self(), message.body[1], (message.body[0] >> 16 & 0xfff) * 4);
}

/* ---------------- Tasks ---------------- */

static uint8_t grandchild_stack[4 * PAGE_SIZE] __attribute__((aligned(16)));

static struct client *ancestor; /* In a child: whose mappings it has. */

/* Touches what it has inherited, until an exception or a pager stops it. */
static void grandchild(void)
{
	mach_forget_names();
	for (uint32_t n = 0; n < 20; n++)
		touch(ancestor);
	syscall_task_terminate(mach_task_self());
	for (;;)
		sleep_ms(LONG_WAIT);
}

static void start_grandchild(mach_port_t task)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
	mach_port_t thread;

	if (thread_create(task, &thread) != KERN_SUCCESS)
		return;
	if (thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count) ==
	    KERN_SUCCESS) {
		state.eip = (uint32_t)grandchild;
		state.uesp = (uint32_t)grandchild_stack + sizeof grandchild_stack - 16;
		thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state, count);
		thread_resume(thread);
	}
	mach_port_deallocate(self(), thread);
}

/* A task with what this one has, in the place of an older one. */
static void fork_task(struct client *client)
{
	uint32_t n = dice_below(&client->dice, TASKS);

	if (client->tasks[n] != MACH_PORT_NULL) {
		task_terminate(client->tasks[n]);
		mach_port_deallocate(self(), client->tasks[n]);
		client->tasks[n] = MACH_PORT_NULL;
	}
	ancestor = client;
	if (task_create(self(), TRUE, &client->tasks[n]) != KERN_SUCCESS)
		client->tasks[n] = MACH_PORT_NULL;
	else if (dice_one_in(&client->dice, 2))
		start_grandchild(client->tasks[n]);
}

/* ---------------- All of it ---------------- */

static void act(struct client *client)
{
	switch (dice_below(&client->dice, 16)) {
	case 0:
	case 1:
		map(client);
		break;
	case 2:
	case 3:
		change(client);
		break;
	case 4:
	case 5:
		touch(client);
		break;
	case 6:
	case 7:
		sync_memory(client);
		break;
	case 8:
	case 9:
		write_memory(client);
		break;
	case 10:
		vm_copy(self(), random_page(client), random_size(client), random_page(client));
		break;
	case 11:
		send_memory(client);
		break;
	case 12:
		fork_task(client);
		break;
	default:
		read_memory(client);
		break;
	}
}

void hostile_client(uint32_t n)
{
	struct client *client = &clients[n % HOSTILE_CLIENT_THREADS];

	if (client->dice.state == 0)
		client->dice.state = (hostile_plan.seed + 7 * n) * 0x9e3779b1u | 1;
	if (client->port == MACH_PORT_NULL)
		client->port = mach_reply_port();
	for (;;)
		act(client);
}
