/* SPDX-License-Identifier: MIT */
/*
 * Calls that keep the kernel busy for long, each with thousands of turns of one loop: pages,
 * entries of a map, names, rights in a message, threads of a task, processors' ports of I/O.
 *
 * They must work; and others must be let in meanwhile.  test_stretches.py counts how many
 * instructions the kernel executes without kernel_pause() in each of these tests, and a loop
 * without its pause takes more than it allows.
 *
 * machine: mem=256 arguments="${host-port} ${device-port}" append="ramdisk=4"
 */
#include <mach/prof.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define PAGES    4096u /* 16 MiB. */
#define ENTRIES  4000u
#define NAMES    8000u
#define RIGHTS   6000u
#define PARTS    8000u /* Two words each: what a message has room for. */
#define THREADS  4000u
#define TASKS    200u
#define CHAIN    12000u       /* Ports in each other's queues. */
#define MOST     (12 * PAGES) /* So many that less than TOGETHER has never been used. */
#define TOGETHER (4 * PAGES)
#define READERS  1500u
#define WAITERS  1100u
#define IO_LAST  0xffffu

#define MAX_PRIORITY 6 /* The default set's. */

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

/* ---------------- Many threads ---------------- */

static mach_port_t default_set(void)
{
	mach_port_t name = MACH_PORT_NULL, set = MACH_PORT_NULL;

	EXPECT_EQ(processor_set_default(host(), &name), KERN_SUCCESS);
	EXPECT_EQ(host_processor_set_priv(host(), name, &set), KERN_SUCCESS);
	port_drop_send(name);
	return set;
}

static void drop_all(thread_array_t threads, mach_msg_type_number_t n)
{
	for (uint32_t i = 0; i < n; i++)
		port_drop_send(threads[i]);
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)threads, n * sizeof *threads), KERN_SUCCESS);
}

static mach_port_t child_with_threads(void)
{
	mach_port_t child = MACH_PORT_NULL, thread;

	EXPECT_EQ(task_create(self(), FALSE, &child), KERN_SUCCESS);
	for (uint32_t i = 0; i < THREADS; i++) {
		EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
		port_drop_send(thread);
	}
	return child;
}

TEST(threads_of_a_task)
{
	struct task_thread_times_info times;
	mach_msg_type_number_t count = TASK_THREAD_TIMES_INFO_COUNT, n;
	mach_port_t child = child_with_threads(), set;
	thread_array_t threads;

	EXPECT_EQ(task_threads(child, &threads, &n), KERN_SUCCESS);
	EXPECT_EQ(n, THREADS);
	drop_all(threads, n);
	EXPECT_EQ(task_info(child, TASK_THREAD_TIMES_INFO, (task_info_t)&times, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(task_priority(child, 30, TRUE), KERN_SUCCESS);
	set = default_set();
	EXPECT_EQ(processor_set_max_priority(set, MAX_PRIORITY + 1, TRUE), KERN_SUCCESS);
	EXPECT_EQ(processor_set_max_priority(set, MAX_PRIORITY, FALSE), KERN_SUCCESS);
	EXPECT_EQ(task_max_priority(child, set, 35), KERN_SUCCESS);
	EXPECT_EQ(processor_set_threads(set, &threads, &n), KERN_SUCCESS);
	EXPECT_LT(THREADS, n);
	drop_all(threads, n);
	port_drop_send(set);
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	EXPECT_EQ(task_resume(child), KERN_SUCCESS);
	child_end(child);
}

static const sample_options_t whole_job = {.flags = SAMPLE_CHILDREN};
static const sample_options_t task_only;

TEST(threads_of_a_job)
{
	static struct collected collected;
	mach_port_t child = child_with_threads();

	samples_new(&collected);
	EXPECT_EQ(task_sample_start(child, SAMPLED_PC_PERIODIC, 100, whole_job, collected.port),
		  KERN_SUCCESS);
	EXPECT_EQ(task_sample_stop(child, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	samples_forget(&collected);
	child_end(child);
}

TEST(waits_of_many_threads)
{
	static struct collected collected;
	mach_port_t child = child_with_threads();

	samples_new(&collected);
	EXPECT_EQ(host_sample_start(host(), 0, SAMPLED_PC_WAIT, 0, task_only, collected.port),
		  KERN_SUCCESS);
	EXPECT_EQ(host_sample_stop(host(), collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	samples_forget(&collected);
	child_end(child);
}

static void make_tasks(uint32_t unused)
{
	mach_port_t child;

	(void)unused;
	for (uint32_t n = 0; n < TASKS; n++)
		task_create(mach_task_self(), FALSE, &child);
	thread_suspend(mach_thread_self());
}

/* Who made them ends, and they with it. */
TEST(many_tasks_of_one)
{
	mach_port_t child = child_new(), thread = child_start(child, 0, make_tasks, 0);
	struct thread_basic_info state = {.suspend_count = 0};
	mach_msg_type_number_t count;

	for (uint32_t n = 0; n < 1000 && state.suspend_count == 0; n++) {
		count = THREAD_BASIC_INFO_COUNT;
		sleep_ms(1);
		EXPECT_EQ(thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)&state, &count),
			  KERN_SUCCESS);
	}
	EXPECT_EQ(state.suspend_count, 1);
	child_end(child);
	port_destroy(thread);
}

/* ---------------- Many threads that wait ---------------- */

static uint32_t ids[WAITERS];
static volatile uint32_t n_begun;
static uint32_t words[2]; /* That are waited for; the threads move from one to the other. */

static vm_address_t start_waiters(void (*wait)(void *), void *argument)
{
	vm_address_t memory = allocate(WAITERS);

	n_begun = 0;
	for (uint32_t n = 0; n < WAITERS; n++)
		EXPECT_EQ(thread_start(wait, argument, (void *)(memory + n * PAGE_SIZE), PAGE_SIZE,
				       PRIORITY_USUAL, &ids[n]),
			  KERN_SUCCESS);
	EXPECT(wait_for(&n_begun, WAITERS));
	sleep_ms(10); /* They are on their way into the kernel. */
	return memory;
}

static void end_waiters(vm_address_t memory)
{
	for (uint32_t n = 0; n < WAITERS; n++)
		EXPECT_EQ(assay_thread_join(ids[n], 1000), KERN_SUCCESS);
	release(memory, WAITERS);
}

static void wait_for_message(void *port)
{
	struct message message;

	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	mach_msg(&message.head, MACH_RCV_MSG, 0, sizeof message, *(mach_port_t *)port, 0,
		 MACH_PORT_NULL);
}

TEST(a_port_dies_at_which_many_wait)
{
	mach_port_t port = port_new();
	vm_address_t memory = start_waiters(wait_for_message, &port);

	port_destroy(port);
	end_waiters(memory);
}

/* A message too large for anybody: each is told so, and it stays. */
static volatile uint32_t n_refused;

static void refuse_message(void *port)
{
	struct message message;

	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	if (mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_LARGE, 0, sizeof message.head,
		     *(mach_port_t *)port, 0, MACH_PORT_NULL) == MACH_RCV_TOO_LARGE)
		__atomic_add_fetch(&n_refused, 1, __ATOMIC_SEQ_CST);
}

static void send_a_word(mach_port_t port)
{
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	message.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	message.body[1] = 1;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
}

static void end_refused(vm_address_t memory, mach_port_t port)
{
	end_waiters(memory);
	EXPECT_EQ(n_refused, WAITERS);
	EXPECT_EQ(message_drain(port), 1);
	port_destroy(port);
}

TEST(a_message_is_too_large_for_many)
{
	mach_port_t port = port_new();
	vm_address_t memory;

	n_refused = 0;
	memory = start_waiters(refuse_message, &port);
	send_a_word(port);
	end_refused(memory, port);
}

TEST(a_member_has_what_is_too_large_for_many)
{
	mach_port_t port = port_new(), set = MACH_PORT_NULL;
	vm_address_t memory;

	EXPECT_EQ(mach_port_allocate(self(), MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	n_refused = 0;
	send_a_word(port);
	memory = start_waiters(refuse_message, &set);
	EXPECT_EQ(mach_port_move_member(self(), port, set), KERN_SUCCESS);
	end_waiters(memory);
	EXPECT_EQ(mach_port_destroy(self(), set), KERN_SUCCESS);
	end_refused(memory, port);
}

static void send_to_full(void *port)
{
	struct message message;

	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	message_head(&message, *(mach_port_t *)port, MACH_MSG_TYPE_MAKE_SEND, MACH_PORT_NULL, 0, 1);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, MACH_PORT_NULL, 0,
		 MACH_PORT_NULL);
}

/* All threads but this one. */
static void for_all_others(kern_return_t (*what)(mach_port_t thread))
{
	mach_port_t me = mach_thread_self();
	mach_msg_type_number_t n;
	thread_array_t threads;

	EXPECT_EQ(task_threads(self(), &threads, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n; i++)
		if (threads[i] != me)
			what(threads[i]);
	drop_all(threads, n);
	port_drop_send(me);
}

/* Who is stopped does not take the room that there is: the next one is asked, and so on. */
TEST(senders_that_are_stopped)
{
	mach_port_t port = port_new();
	vm_address_t memory = start_waiters(send_to_full, &port);
	struct message message;

	for_all_others(thread_suspend);
	EXPECT_EQ(message_get(&message, port, 0), MACH_MSG_SUCCESS);
	for_all_others(thread_resume);
	for (uint32_t n = 1; n < WAITERS; n++)
		EXPECT_EQ(message_get(&message, port, 1000), MACH_MSG_SUCCESS);
	end_waiters(memory);
	port_destroy(port);
}

static void wait_for_word(void *unused)
{
	(void)unused;
	__atomic_add_fetch(&n_begun, 1, __ATOMIC_SEQ_CST);
	gsync_wait(self(), (vm_address_t)&words[0], 0, 0, 0, 0);
}

TEST(many_wait_for_a_word)
{
	vm_address_t memory = start_waiters(wait_for_word, NULL);

	EXPECT_EQ(gsync_requeue(self(), (vm_address_t)&words[0], (vm_address_t)&words[1], FALSE,
				GSYNC_BROADCAST),
		  KERN_SUCCESS);
	EXPECT_EQ(gsync_wake(self(), (vm_address_t)&words[1], 0, GSYNC_BROADCAST), KERN_SUCCESS);
	end_waiters(memory);
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
