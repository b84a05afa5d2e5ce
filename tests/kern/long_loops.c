/* SPDX-License-Identifier: MIT */
/*
 * Calls that keep the kernel busy for long, each with thousands of turns of one loop: pages,
 * entries of a map, names, rights in a message, ports of I/O.  Threads are in long_threads.c.
 *
 * They must work; and others must be let in meanwhile.  test_stretches.py counts how many
 * instructions the kernel executes without kernel_pause() in each of these tests, and a loop
 * without its pause takes more than it allows.
 *
 * machine: mem=256 arguments="${host-port} ${device-port}" append="ramdisk=4"
 */
#include "check.h"
#include "ipc.h"

#define PAGES    4096u /* 16 MiB. */
#define ENTRIES  4000u
#define NAMES    8000u
#define RIGHTS   6000u
#define PARTS    8000u        /* Two words each: what a message has room for. */
#define CHAIN    12000u       /* Ports in each other's queues. */
#define MOST     (12 * PAGES) /* So many that less than TOGETHER has never been used. */
#define TOGETHER (4 * PAGES)
#define READERS  1500u
#define IO_LAST  0xffffu

/* Tables of pages and of names stay with a task. */
BALANCE_AT_END;

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static mach_port_t host(void)
{
	return check_number(0);
}

static vm_address_t allocate(uint32_t pages)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(self(), &address, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
	return address;
}

static void release(vm_address_t address, uint32_t pages)
{
	EXPECT_EQ(vm_deallocate(self(), address, pages * PAGE_SIZE), KERN_SUCCESS);
}

static void touch(vm_address_t address, uint32_t pages)
{
	for (uint32_t n = 0; n < pages; n++)
		*(volatile uint32_t *)(address + n * PAGE_SIZE) = n;
}

/* ---------------- Many pages ---------------- */

TEST(pages_change)
{
	vm_address_t memory = allocate(PAGES);

	touch(memory, PAGES);
	EXPECT_EQ(vm_protect(self(), memory, PAGES * PAGE_SIZE, FALSE, VM_PROT_READ), KERN_SUCCESS);
	release(memory, PAGES);
}

TEST(pages_are_wired)
{
	vm_address_t memory = allocate(PAGES);

	EXPECT_EQ(vm_wire(host(), self(), memory, PAGES * PAGE_SIZE, VM_PROT_DEFAULT),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_wire(host(), self(), memory, PAGES * PAGE_SIZE, VM_PROT_NONE), KERN_SUCCESS);
	release(memory, PAGES);
}

TEST(pages_are_listed)
{
	vm_address_t memory = allocate(PAGES);
	rpc_phys_addr_array_t pages = NULL;
	mach_msg_type_number_t n = 0;

	touch(memory, PAGES);
	EXPECT_EQ(vm_pages_phys(host(), self(), memory, PAGES * PAGE_SIZE, &pages, &n),
		  KERN_SUCCESS);
	EXPECT_EQ(n, PAGES);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)pages, n * sizeof *pages), KERN_SUCCESS);
	release(memory, PAGES);
}

TEST(pages_lie_together)
{
	vm_address_t memory = 0;
	rpc_phys_addr_t physical;

	EXPECT_EQ(vm_allocate_contiguous(host(), self(), &memory, &physical, PAGES * PAGE_SIZE, 0,
					 ~0ull, PAGE_SIZE),
		  KERN_SUCCESS);
	release(memory, PAGES);
}

/* Where pages were in use before, and every so many still are: the first places will not do. */
TEST(pages_lie_together_among_others)
{
	vm_address_t memory = allocate(MOST), together = 0;
	rpc_phys_addr_t physical;

	touch(memory, MOST);
	for (uint32_t n = 0; n < MOST / 2; n += PAGES)
		release(memory + (n + 1) * PAGE_SIZE, PAGES - 1);
	release(memory + MOST / 2 * PAGE_SIZE, MOST / 2);
	EXPECT_EQ(vm_allocate_contiguous(host(), self(), &together, &physical, TOGETHER * PAGE_SIZE,
					 0, ~0ull, PAGE_SIZE),
		  KERN_SUCCESS);
	release(together, TOGETHER);
	for (uint32_t n = 0; n < MOST / 2; n += PAGES)
		release(memory + n * PAGE_SIZE, 1);
}

/*
 * A child that has ended leaves two objects behind, of which one has everything then: that to which
 * fewer pages have to be moved.
 */
static void unite(uint32_t before, uint32_t behind)
{
	vm_address_t memory = allocate(PAGES);
	mach_port_t child = MACH_PORT_NULL;

	touch(memory, before);
	EXPECT_EQ(task_create(self(), TRUE, &child), KERN_SUCCESS);
	touch(memory + (PAGES - behind) * PAGE_SIZE, behind);
	child_end(child);
	EXPECT_EQ(task_create(self(), TRUE, &child), KERN_SUCCESS);
	child_end(child);
	touch(memory, PAGES);
	release(memory, PAGES);
}

TEST(pages_move_to_the_object_behind)
{
	unite(PAGES, PAGES / 2);
}

TEST(pages_move_to_the_object_in_front)
{
	unite(PAGES / 2, PAGES - 1);
}

/* Read, written to another place, and the copies changed until nothing is shared. */
TEST(pages_are_copied)
{
	vm_address_t memory = allocate(PAGES), other = allocate(PAGES);
	vm_offset_t copy = 0;
	mach_msg_type_number_t n = 0;

	touch(memory, PAGES);
	touch(other, PAGES);
	EXPECT_EQ(vm_read(self(), memory, PAGES * PAGE_SIZE, &copy, &n), KERN_SUCCESS);
	EXPECT_EQ(vm_write(self(), other, copy, n), KERN_SUCCESS);
	EXPECT_EQ(vm_copy(self(), other, PAGES * PAGE_SIZE, memory), KERN_SUCCESS);
	touch(memory, PAGES / 2);
	release(copy, PAGES);
	release(other, PAGES);
	touch(memory, PAGES);
	release(memory, PAGES);
}

TEST(pages_are_written_to_one_by_one)
{
	vm_address_t memory = allocate(PAGES + 1), other = allocate(PAGES + 1);

	touch(memory, PAGES + 1);
	touch(other, PAGES + 1);
	EXPECT_EQ(vm_write(self(), other + 8, memory + 4, PAGES * PAGE_SIZE), KERN_SUCCESS);
	release(memory, PAGES + 1);
	release(other, PAGES + 1);
}

/* ---------------- Many entries of a map ---------------- */

/* Every other page has another protection. */
static void divide_up(vm_address_t memory)
{
	for (uint32_t n = 0; n < ENTRIES; n += 2)
		EXPECT_EQ(
			vm_protect(self(), memory + n * PAGE_SIZE, PAGE_SIZE, FALSE, VM_PROT_READ),
			KERN_SUCCESS);
}

TEST(entries_change)
{
	vm_address_t memory = allocate(ENTRIES);

	divide_up(memory);
	EXPECT_EQ(vm_inherit(self(), memory, ENTRIES * PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	EXPECT_EQ(vm_msync(self(), memory, ENTRIES * PAGE_SIZE, VM_SYNC_SYNCHRONOUS), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(self(), memory, ENTRIES * PAGE_SIZE, FALSE, VM_PROT_DEFAULT),
		  KERN_SUCCESS);
	divide_up(memory);
	release(memory, ENTRIES);
}

TEST(entries_are_inherited)
{
	vm_address_t memory = allocate(ENTRIES);
	mach_port_t child = MACH_PORT_NULL;

	divide_up(memory);
	EXPECT_EQ(task_create(self(), TRUE, &child), KERN_SUCCESS);
	EXPECT_EQ(vm_wire_all(host(), child, VM_WIRE_CURRENT), KERN_SUCCESS);
	child_end(child);
	release(memory, ENTRIES);
}

TEST(entries_are_copied)
{
	vm_address_t memory = allocate(ENTRIES);
	vm_offset_t copy = 0;
	mach_msg_type_number_t n = 0;

	divide_up(memory);
	EXPECT_EQ(vm_read(self(), memory, ENTRIES * PAGE_SIZE, &copy, &n), KERN_SUCCESS);
	release(copy, ENTRIES);
	release(memory, ENTRIES);
}

/* A message with memory of many entries, which nobody receives. */
TEST(entries_are_sent_to_nobody)
{
	mach_port_t port = port_new_with_send();
	vm_address_t memory = allocate(ENTRIES);
	struct message message;

	divide_up(memory);
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_MOVED(0, 0, 0) | TYPE_LONG;
	message.body[1] = MACH_MSG_TYPE_BYTE | 8 << 16;
	message.body[2] = ENTRIES * PAGE_SIZE;
	message.body[3] = memory;
	EXPECT_EQ(message_post(&message, 4), MACH_MSG_SUCCESS);
	port_destroy(port);
}

/* Holes of a page each: none of them has room for two. */
TEST(no_hole_has_room)
{
	vm_address_t memory = allocate(ENTRIES), found;

	for (uint32_t n = 1; n < ENTRIES; n += 2)
		release(memory + n * PAGE_SIZE, 1);
	found = allocate(2);
	release(found, 2);
	release(memory, ENTRIES);
}

/* ---------------- Many names and rights ---------------- */

static mach_port_t names[NAMES];

static void make_ports(mach_port_t task)
{
	for (uint32_t n = 0; n < NAMES; n++)
		EXPECT_EQ(mach_port_allocate(task, MACH_PORT_RIGHT_RECEIVE, &names[n]),
			  KERN_SUCCESS);
}

TEST(names_of_a_task)
{
	mach_port_array_t list;
	mach_port_type_array_t types;
	mach_msg_type_number_t n, n_types;
	mach_port_t child = child_new();

	make_ports(child);
	EXPECT_EQ(mach_port_names(child, &list, &n, &types, &n_types), KERN_SUCCESS);
	EXPECT_LE(NAMES, n);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)types, n_types * sizeof *types),
		  KERN_SUCCESS);
	child_end(child);
}

TEST(members_of_a_set)
{
	mach_port_array_t list;
	mach_msg_type_number_t n;
	mach_port_t set, child = child_new();

	make_ports(child);
	EXPECT_EQ(mach_port_allocate(child, MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	for (uint32_t i = 0; i < NAMES; i++)
		EXPECT_EQ(mach_port_move_member(child, names[i], set), KERN_SUCCESS);
	EXPECT_EQ(mach_port_get_set_status(child, set, &list, &n), KERN_SUCCESS);
	EXPECT_EQ(n, NAMES);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
	EXPECT_EQ(mach_port_destroy(child, set), KERN_SUCCESS);
	child_end(child);
}

/* Sends an array of rights to the port itself. */
static void send_rights(mach_port_t port)
{
	static uint32_t rights[RIGHTS];
	struct message message;

	for (uint32_t n = 0; n < RIGHTS; n++)
		rights[n] = port;
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_LONG;
	message.body[1] = MACH_MSG_TYPE_COPY_SEND | 32 << 16;
	message.body[2] = RIGHTS;
	message.body[3] = (uint32_t)rights;
	EXPECT_EQ(message_post(&message, 4), MACH_MSG_SUCCESS);
}

TEST(rights_are_received)
{
	mach_port_t port = port_new_with_send();
	struct message message;

	send_rights(port);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1 + RIGHTS);
	EXPECT_EQ(vm_deallocate(self(), message.body[3], RIGHTS * sizeof(uint32_t)), KERN_SUCCESS);
	port_destroy(port);
}

TEST(rights_are_destroyed)
{
	mach_port_t port = port_new_with_send(), other = port_new_with_send();

	send_rights(port);
	port_destroy(port);
	port_destroy(other);
}

/* The last of so many names is of no right: all are given back. */
TEST(rights_are_given_back)
{
	static uint32_t rights[RIGHTS];
	mach_port_t port = port_new_with_send();
	struct message message;

	for (uint32_t n = 0; n < RIGHTS; n++)
		rights[n] = n + 1 < RIGHTS ? port : 0x7654321;
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_LONG;
	message.body[1] = MACH_MSG_TYPE_COPY_SEND | 32 << 16;
	message.body[2] = RIGHTS;
	message.body[3] = (uint32_t)rights;
	EXPECT_EQ(message_post(&message, 4), MACH_SEND_INVALID_RIGHT);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1);
	port_destroy(port);
}

/* Sends a receive right, which waits in the queue of `to` then. */
static void move_port(mach_port_t port, mach_port_t to, mach_msg_type_name_t kind)
{
	struct message message;

	message_head(&message, to, kind, MACH_PORT_NULL, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_MOVE_RECEIVE, 32, 1);
	message.body[1] = port;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
}

/* Each is in the next one's queue; whether there is a circle is asked of all of them at last. */
TEST(ports_in_a_chain)
{
	mach_port_t first = port_new_with_send(), port = first, next;

	for (uint32_t n = 1; n < CHAIN; n++) {
		next = port_new();
		move_port(port, next, MACH_MSG_TYPE_MAKE_SEND);
		port = next;
	}
	move_port(port_new(), first, MACH_MSG_TYPE_COPY_SEND);
	port_destroy(port);
	EXPECT_EQ(port_refs(first, MACH_PORT_RIGHT_DEAD_NAME), 1);
	EXPECT_EQ(mach_port_deallocate(self(), first), KERN_SUCCESS);
}

/* Nobody has received any of the messages that come when the others end. */
TEST(a_queue_of_many_dies)
{
	mach_port_t port = port_new(), told = port_new(), previous;

	for (uint32_t n = 0; n < RIGHTS / 4; n++)
		EXPECT_EQ(mach_port_request_notification(self(), port_send_once(port),
							 MACH_NOTIFY_DEAD_NAME, 0, told,
							 MACH_MSG_TYPE_MAKE_SEND_ONCE, &previous),
			  KERN_SUCCESS);
	port_destroy(port);
	port_destroy(told);
	port_destroy(port_new()); /* The dead names stay until the task ends. */
}

/* ---------------- Many parts of a message ---------------- */

static struct {
	mach_msg_header_t head;
	uint32_t words[PARTS * 2];
} parts;

/* As many parts as a message has room for, of a word of this type each, and `last` as the last. */
static mach_msg_return_t send_parts(mach_port_t port, uint32_t type, uint32_t word, uint32_t last)
{
	for (uint32_t n = 0; n < PARTS; n++) {
		parts.words[2 * n] = type;
		parts.words[2 * n + 1] = n + 1 < PARTS ? word : last;
	}
	parts.head = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0) | MACH_MSGH_BITS_COMPLEX,
		.msgh_remote_port = port,
	};
	return mach_msg(&parts.head, MACH_SEND_MSG, sizeof parts, 0, MACH_PORT_NULL, 0,
			MACH_PORT_NULL);
}

static void receive_parts(mach_port_t port)
{
	EXPECT_EQ(mach_msg(&parts.head, MACH_RCV_MSG, 0, sizeof parts, port, 0, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
}

TEST(rights_one_by_one)
{
	const uint32_t type = TYPE_INLINE(MACH_MSG_TYPE_COPY_SEND, 32, 1);
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(send_parts(port, type, port, port), MACH_MSG_SUCCESS);
	receive_parts(port);
	EXPECT_EQ(port_refs(port, MACH_PORT_RIGHT_SEND), 1 + PARTS);
	EXPECT_EQ(send_parts(port, type, port, 0x7654321), MACH_SEND_INVALID_RIGHT);
	port_destroy(port);
}

TEST(words_one_by_one)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(send_parts(port, TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1), 1, 2),
		  MACH_MSG_SUCCESS);
	receive_parts(port);
	port_destroy(port);
}

TEST(memory_of_no_length)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(send_parts(port, TYPE_MOVED(MACH_MSG_TYPE_BYTE, 8, 0), 0, 0), MACH_MSG_SUCCESS);
	receive_parts(port);
	EXPECT_EQ(send_parts(port, TYPE_MOVED(MACH_MSG_TYPE_COPY_SEND, 32, 0), 0, 0),
		  MACH_MSG_SUCCESS);
	receive_parts(port);
	port_destroy(port);
}

/* ---------------- Many names that somebody chose ---------------- */

/* Those that the kernel would choose next, and two far from all others. */
TEST(names_that_are_taken)
{
	mach_port_t child = child_new(), name;
	mach_port_array_t list;
	mach_port_type_array_t types;
	mach_msg_type_number_t n, n_types;

	EXPECT_EQ(mach_port_allocate(child, MACH_PORT_RIGHT_DEAD_NAME, &name), KERN_SUCCESS);
	for (uint32_t i = 1; i < NAMES; i++)
		EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_DEAD_NAME, name + i),
			  KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_DEAD_NAME, 0x45678901),
		  KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate_name(child, MACH_PORT_RIGHT_DEAD_NAME, 0x87654321),
		  KERN_SUCCESS);
	EXPECT_EQ(mach_port_allocate(child, MACH_PORT_RIGHT_DEAD_NAME, &name), KERN_SUCCESS);
	EXPECT_EQ(mach_port_names(child, &list, &n, &types, &n_types), KERN_SUCCESS);
	EXPECT_LE(NAMES + 3, n);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)list, n * sizeof *list), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)types, n_types * sizeof *types),
		  KERN_SUCCESS);
	child_end(child);
}

/* All send-once rights to one port are asked to tell of its end. */
TEST(a_port_of_many_dies)
{
	mach_port_t port = port_new(), told = port_new(), previous;
	static mach_port_t once[RIGHTS / 4];

	for (uint32_t n = 0; n < RIGHTS / 4; n++) {
		once[n] = port_send_once(port);
		EXPECT_EQ(mach_port_request_notification(self(), once[n], MACH_NOTIFY_DEAD_NAME, 0,
							 told, MACH_MSG_TYPE_MAKE_SEND_ONCE,
							 &previous),
			  KERN_SUCCESS);
	}
	port_destroy(port);
	EXPECT_EQ(message_drain(told), RIGHTS / 4);
	for (uint32_t n = 0; n < RIGHTS / 4; n++)
		port_destroy(once[n]);
	port_destroy(told);
}

/* ---------------- Devices ---------------- */

TEST(all_ports_of_the_machine)
{
	mach_port_t ports, child = child_new();

	EXPECT_EQ(i386_io_perm_create(check_number(1), 0, IO_LAST, &ports), KERN_SUCCESS);
	EXPECT_EQ(i386_io_perm_modify(child, ports, TRUE), KERN_SUCCESS);
	EXPECT_EQ(i386_io_perm_modify(child, ports, FALSE), KERN_SUCCESS);
	port_drop_send(ports);
	child_end(child);
}

TEST(readers_of_a_line)
{
	mach_port_t device, reply = port_new();

	EXPECT_EQ(device_open(check_number(1), D_READ, "console", &device), D_SUCCESS);
	for (uint32_t n = 0; n < READERS; n++)
		EXPECT_EQ(device_read_request_inband(device, reply, 0, 0, 1), KERN_SUCCESS);
	EXPECT_EQ(device_close(device), D_SUCCESS);
	EXPECT_EQ(message_drain(reply), READERS);
	port_drop_send(device);
	port_destroy(reply);
}

TEST(a_megabyte_of_a_disk)
{
	vm_address_t memory = allocate(PAGES / 16);
	io_buf_ptr_t data;
	mach_msg_type_number_t n;
	mach_port_t device;
	int written;

	touch(memory, PAGES / 16);
	EXPECT_EQ(device_open(check_number(1), D_READ | D_WRITE, "rd0", &device), D_SUCCESS);
	EXPECT_EQ(device_write(device, 0, 0, (char *)memory, PAGES / 16 * PAGE_SIZE, &written),
		  D_SUCCESS);
	EXPECT_EQ(device_read(device, 0, 0, PAGES / 16 * PAGE_SIZE, &data, &n), D_SUCCESS);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)data, n), KERN_SUCCESS);
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_drop_send(device);
	release(memory, PAGES / 16);
}
