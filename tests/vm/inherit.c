/* SPDX-License-Identifier: MIT */
/*
 * Inherited memory is shared until somebody writes: nobody sees another's writes, whoever makes
 * them, and a page that only one task has any more is not copied.
 *
 * machine: cpus=1 append="pool=8"
 * machine: cpus=2 append="pool=8" seed=1
 * machine: cpus=2 append="pool=8" seed=2
 */
#include "check.h"

#include <mach/messages.h>
#include "ipc.h"

#define SELF   mach_task_self()
#define REPORT 0x101 /* In a child: where it sends words to. */

static vm_address_t memory; /* Of the test that runs. */

static uint32_t *word(uint32_t page)
{
	return (uint32_t *)(memory + page * PAGE_SIZE);
}

/* Memory whose pages begin with 100, 101 and so on. */
static void memory_new(uint32_t pages)
{
	memory = 0;
	EXPECT_EQ(vm_allocate(SELF, &memory, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
	for (uint32_t n = 0; n < pages; n++)
		*word(n) = 100 + n;
}

static void memory_free(uint32_t pages)
{
	EXPECT_EQ(vm_deallocate(SELF, memory, pages * PAGE_SIZE), KERN_SUCCESS);
}

/* The first word of a page as `task` sees it. */
static uint32_t word_of(mach_port_t task, uint32_t page)
{
	return word_in(task, memory + page * PAGE_SIZE);
}

static void set_word_of(mach_port_t task, uint32_t page, uint32_t value)
{
	EXPECT_EQ(vm_write(task, memory + page * PAGE_SIZE, (vm_offset_t)&value, 4), KERN_SUCCESS);
}

/*
 * Pages of all tasks.  Looking writes to memory of this program's, which may be shared with a child
 * itself; the second look copies nothing any more.
 */
static uint32_t pages_of_users(void)
{
	static struct machine_count counts[MACHINE_COUNTS];
	uint32_t n, value = 0;

	for (unsigned look = 0; look < 2; look++) {
		EXPECT_EQ(assay_counts(counts, MACHINE_COUNTS, &n), KERN_SUCCESS);
		for (uint32_t i = 0; i < n && i < MACHINE_COUNTS; i++)
			if (strcmp(counts[i].name, "pages of users") == 0)
				value = counts[i].after;
	}
	EXPECT(value > 0);
	return value;
}

/* ---------------- Who sees what ---------------- */

TEST(each_sees_its_own_writes)
{
	mach_port_t child;

	memory_new(4);
	child = child_new();
	EXPECT_EQ(word_of(child, 0), 100);
	*word(0) = 1;
	set_word_of(child, 1, 2);
	EXPECT_EQ(word_of(child, 0), 100);
	EXPECT_EQ(*word(0), 1);
	EXPECT_EQ(word_of(child, 1), 2);
	EXPECT_EQ(*word(1), 101);
	EXPECT_EQ(word_of(child, 3), 103);
	child_end(child);
	EXPECT_EQ(*word(0), 1);
	EXPECT_EQ(*word(1), 101);
	memory_free(4);
}

#define MANY 64u

/* Writes all pages, and tells how many of them were right before and are right after. */
static void write_all(uint32_t value)
{
	struct message message;
	uint32_t right = 0;

	for (uint32_t n = 0; n < MANY; n++) {
		right += *word(n) == 100 + n;
		*word(n) = value + n;
	}
	for (uint32_t n = 0; n < MANY; n++)
		right += *word(n) == value + n;
	message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, (int)right);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
}

/* Two children and their parent write to the same pages at the same time. */
TEST(all_write_at_once)
{
	mach_port_t port = port_new(), child[2], thread[2];
	struct message message;

	memory_new(MANY);
	for (uint32_t n = 0; n < 2; n++) {
		child[n] = child_new();
		child_give(child[n], REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	}
	for (uint32_t n = 0; n < 2; n++)
		thread[n] = child_start(child[n], n, write_all, 1000 * (n + 1));
	for (uint32_t n = 0; n < MANY; n++)
		*word(n) = 5000 + n;
	for (uint32_t n = 0; n < 2; n++) {
		EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
		EXPECT_EQ(message.head.msgh_id, 2 * MANY);
	}
	for (uint32_t n = 0; n < MANY; n++)
		EXPECT_EQ(*word(n), 5000 + n);
	for (uint32_t n = 0; n < 2; n++) {
		child_end(child[n]);
		port_destroy(thread[n]);
	}
	port_destroy(port);
	memory_free(MANY);
}

static void add_to_all(void *value)
{
	for (uint32_t n = 0; n < MANY; n++)
		__atomic_fetch_add(word(n), (uint32_t)value, __ATOMIC_RELAXED);
}

/* Of two threads that write to the same page one copies it, and both find the copy. */
TEST(two_threads_get_one_copy)
{
	mach_port_t child;

	memory_new(MANY);
	for (uint32_t turn = 0; turn < 4; turn++) {
		child = child_new();
		worker_start(0, add_to_all, (void *)1000);
		worker_start(1, add_to_all, (void *)100000);
		EXPECT(worker_join(0));
		EXPECT(worker_join(1));
		for (uint32_t n = 0; n < MANY; n++) {
			EXPECT_EQ(*word(n), 100 + n + (turn + 1) * 101000);
			EXPECT_EQ(word_of(child, n), 100 + n + turn * 101000);
		}
		child_end(child);
	}
	memory_free(MANY);
}

TEST(grandchildren)
{
	mach_port_t child, grandchild = 0, other = 0;

	memory_new(4);
	child = child_new();
	EXPECT_EQ(task_create(child, TRUE, &grandchild), KERN_SUCCESS);
	*word(0) = 1;
	set_word_of(child, 0, 2);
	set_word_of(grandchild, 1, 3);
	EXPECT_EQ(task_create(child, TRUE, &other), KERN_SUCCESS);
	set_word_of(child, 0, 4);
	EXPECT_EQ(word_of(grandchild, 0), 100);
	EXPECT_EQ(word_of(grandchild, 1), 3);
	EXPECT_EQ(word_of(other, 0), 2);
	EXPECT_EQ(word_of(other, 1), 101);
	child_end(child);
	EXPECT_EQ(word_of(grandchild, 2), 102);
	EXPECT_EQ(word_of(other, 0), 2);
	child_end(grandchild);
	set_word_of(other, 2, 5);
	EXPECT_EQ(*word(2), 102);
	child_end(other);
	EXPECT_EQ(*word(0), 1);
	memory_free(4);
}

/* The lowest page that can be mapped, in the group of entries that page 0 belongs to. */
TEST(the_lowest_page)
{
	mach_port_t child;

	memory = PAGE_SIZE;
	EXPECT_EQ(vm_allocate(SELF, &memory, PAGE_SIZE, FALSE), KERN_SUCCESS);
	*word(0) = 100;
	child = child_new();
	*word(0) = 1;
	EXPECT_EQ(word_of(child, 0), 100);
	child_end(child);
	memory_free(1);
}

/* ---------------- How many pages there are ---------------- */

/* Each of two that write copies the page once; who is the last to have it does not. */
TEST(a_page_is_copied_once_and_not_for_the_last)
{
	mach_port_t child;
	uint32_t pages;

	memory_new(4);
	child = child_new();
	pages = pages_of_users();
	*word(0) = 1;
	EXPECT_EQ(pages_of_users(), pages + 1);
	*word(0) = 2;
	EXPECT_EQ(pages_of_users(), pages + 1);
	set_word_of(child, 0, 3);
	set_word_of(child, 0, 4);
	EXPECT_EQ(pages_of_users(), pages + 2);
	set_word_of(child, 1, 3);
	EXPECT_EQ(pages_of_users(), pages + 3);
	child_end(child);
	pages = pages_of_users();
	*word(2) = 5;
	*word(3) = 6;
	EXPECT_LE(pages_of_users(), pages);
	memory_free(4);
}

/* ---------------- The kernel writes ---------------- */

/* Page `n` was written by the kernel: there is one page more, and the child does not see it. */
static void expect_copied(mach_port_t child, uint32_t n, uint32_t value, uint32_t *pages)
{
	EXPECT_EQ(*word(n), value);
	EXPECT_EQ(word_of(child, n), 100 + n);
	EXPECT_EQ(pages_of_users(), *pages + 1);
	(*pages)++;
}

TEST(the_kernel_copies_before_it_writes)
{
	mach_port_t port = port_new_with_send(), child;
	uint32_t pages;
	uint64_t now;

	memory_new(8);
	child = child_new();
	/* What these calls make their own of this program is not counted. */
	pages_of_users();
	EXPECT_EQ(word_of(child, 7), 107);
	EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_COPY_SEND, 77), MACH_MSG_SUCCESS);
	pages = pages_of_users();
	EXPECT_EQ(mach_msg((mach_msg_header_t *)word(0), MACH_RCV_MSG, 0, 64, port, 0, 0),
		  MACH_MSG_SUCCESS);
	expect_copied(child, 0, ((mach_msg_header_t *)word(0))->msgh_bits, &pages);
	gsync_wake(SELF, (vm_address_t)word(1), 5, GSYNC_MUTATE);
	expect_copied(child, 1, 5, &pages);
	set_word_of(SELF, 2, 6);
	expect_copied(child, 2, 6, &pages);
	EXPECT_EQ(vm_copy(SELF, (vm_address_t)word(4), PAGE_SIZE, (vm_address_t)word(3)),
		  KERN_SUCCESS);
	expect_copied(child, 3, 104, &pages);
	/* Over the end of a page: the second half of the value is in the next one. */
	EXPECT_EQ(assay_clock_read(ASSAY_CLOCK_MONOTONIC, (uint64_t *)((char *)word(6) - 4)),
		  KERN_SUCCESS);
	memcpy(&now, (char *)word(6) - 4, sizeof now);
	EXPECT(now > 0);
	EXPECT_EQ(word_of(child, 6), 106);
	EXPECT_EQ(pages_of_users(), pages + 2);
	child_end(child);
	port_destroy(port);
	memory_free(8);
}

/* A page that moves into a message is taken itself only if nobody shares it. */
TEST(moved_pages)
{
	mach_port_t port = port_new_with_send(), child;
	struct message message;

	memory_new(2);
	child = child_new();
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_MOVED(MACH_MSG_TYPE_INTEGER_32, 32, PAGE_SIZE / 4);
	message.body[1] = memory;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	*(uint32_t *)message.body[1] = 9;
	EXPECT_EQ(word_of(child, 0), 100);
	EXPECT_EQ(vm_deallocate(SELF, message.body[1], PAGE_SIZE), KERN_SUCCESS);
	child_end(child);
	/* The last one's page goes itself, and can be written to where it arrives. */
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_MOVED(MACH_MSG_TYPE_INTEGER_32, 32, PAGE_SIZE / 4);
	message.body[1] = memory + PAGE_SIZE;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(*(uint32_t *)message.body[1], 101);
	*(uint32_t *)message.body[1] = 9;
	EXPECT_EQ(vm_deallocate(SELF, message.body[1], PAGE_SIZE), KERN_SUCCESS);
	port_destroy(port);
}

/* ---------------- Attributes ---------------- */

static void expect_region(mach_port_t task, vm_size_t size, vm_prot_t rights,
			  vm_inherit_t inheritance, boolean_t shared)
{
	vm_address_t address = memory;
	vm_prot_t has, max;
	vm_inherit_t inherits;
	vm_offset_t offset;
	mach_port_t object;
	boolean_t is_shared;
	vm_size_t bytes;

	EXPECT_EQ(vm_region(task, &address, &bytes, &has, &max, &inherits, &is_shared, &object,
			    &offset),
		  KERN_SUCCESS);
	EXPECT_EQ(address, memory);
	EXPECT_EQ(bytes, size);
	EXPECT_EQ(has, rights);
	EXPECT_EQ(inherits, inheritance);
	EXPECT_EQ(is_shared, shared);
}

TEST(rights_come_and_go)
{
	mach_port_t child;

	memory_new(4);
	/* So that no neighbour looks the same. */
	EXPECT_EQ(vm_protect(SELF, memory, 4 * PAGE_SIZE, FALSE, VM_PROT_ALL), KERN_SUCCESS);
	child = child_new();
	expect_region(SELF, 4 * PAGE_SIZE, VM_PROT_ALL, VM_INHERIT_COPY, FALSE);
	expect_region(child, 4 * PAGE_SIZE, VM_PROT_ALL, VM_INHERIT_COPY, FALSE);
	*word(1) = 1; /* One page of its own makes no region. */
	expect_region(SELF, 4 * PAGE_SIZE, VM_PROT_ALL, VM_INHERIT_COPY, FALSE);
	EXPECT_EQ(vm_protect(SELF, memory, 4 * PAGE_SIZE, FALSE, VM_PROT_READ), KERN_SUCCESS);
	EXPECT_EQ(assay_clock_read(ASSAY_CLOCK_MONOTONIC, (uint64_t *)word(0)),
		  KERN_INVALID_ADDRESS);
	EXPECT_EQ(vm_write(SELF, memory, (vm_offset_t)&child, 4), KERN_PROTECTION_FAILURE);
	EXPECT_EQ(vm_protect(SELF, memory, 4 * PAGE_SIZE, FALSE, VM_PROT_NONE), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(SELF, memory, 4 * PAGE_SIZE, FALSE, VM_PROT_ALL), KERN_SUCCESS);
	expect_region(SELF, 4 * PAGE_SIZE, VM_PROT_ALL, VM_INHERIT_COPY, FALSE);
	for (uint32_t n = 0; n < 4; n++)
		*word(n) = 50 + n;
	for (uint32_t n = 0; n < 4; n++)
		EXPECT_EQ(word_of(child, n), 100 + n);
	child_end(child);
	memory_free(4);
}

/* A page inherited while it could not be written to is shared for copying all the same. */
TEST(rights_that_come_later)
{
	mach_port_t child;

	memory_new(2);
	EXPECT_EQ(vm_protect(SELF, memory, PAGE_SIZE, FALSE, VM_PROT_READ), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(SELF, memory + PAGE_SIZE, PAGE_SIZE, FALSE, VM_PROT_NONE),
		  KERN_SUCCESS);
	child = child_new();
	EXPECT_EQ(vm_protect(SELF, memory, 2 * PAGE_SIZE, FALSE, VM_PROT_DEFAULT), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(child, memory, 2 * PAGE_SIZE, FALSE, VM_PROT_DEFAULT), KERN_SUCCESS);
	*word(0) = 1;
	set_word_of(child, 1, 2);
	EXPECT_EQ(word_of(child, 0), 100);
	EXPECT_EQ(*word(1), 101);
	child_end(child);
	memory_free(2);
}

TEST(attributes_are_each_ones_own)
{
	mach_port_t child;

	memory_new(2);
	EXPECT_EQ(vm_protect(SELF, memory, 2 * PAGE_SIZE, FALSE, VM_PROT_ALL), KERN_SUCCESS);
	child = child_new();
	EXPECT_EQ(vm_inherit(child, memory, 2 * PAGE_SIZE, VM_INHERIT_NONE), KERN_SUCCESS);
	EXPECT_EQ(vm_protect(child, memory, 2 * PAGE_SIZE, TRUE, VM_PROT_READ), KERN_SUCCESS);
	expect_region(SELF, 2 * PAGE_SIZE, VM_PROT_ALL, VM_INHERIT_COPY, FALSE);
	expect_region(child, 2 * PAGE_SIZE, VM_PROT_READ, VM_INHERIT_NONE, FALSE);
	EXPECT_EQ(vm_protect(SELF, memory, PAGE_SIZE, FALSE, VM_PROT_DEFAULT), KERN_SUCCESS);
	*word(0) = 1;
	EXPECT_EQ(word_of(child, 0), 100);
	child_end(child);
	memory_free(2);
}

/* Shared memory of some of those that shared it for copying before. */
TEST(shared_after_copied)
{
	mach_port_t child, sharer, copier;

	memory_new(2);
	child = child_new();
	EXPECT_EQ(vm_inherit(SELF, memory, 2 * PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	sharer = child_new();
	*word(0) = 1;
	set_word_of(sharer, 1, 2);
	EXPECT_EQ(word_of(child, 0), 100);
	EXPECT_EQ(word_of(child, 1), 101);
	EXPECT_EQ(word_of(sharer, 0), 1);
	EXPECT_EQ(*word(1), 2);
	/* Of really shared pages a copy is made at once. */
	EXPECT_EQ(vm_inherit(SELF, memory, 2 * PAGE_SIZE, VM_INHERIT_COPY), KERN_SUCCESS);
	copier = child_new();
	*word(0) = 3;
	EXPECT_EQ(word_of(sharer, 0), 3);
	EXPECT_EQ(word_of(copier, 0), 1);
	child_end(sharer);
	child_end(child);
	child_end(copier);
	memory_free(2);
}

static uint32_t was_woken;

static void wait_shared(void *unused)
{
	(void)unused;
	was_woken = gsync_wait(SELF, memory, 100, 0, LONG_WAIT, GSYNC_SHARED | GSYNC_TIMED) ==
		    KERN_SUCCESS;
}

/* A word that is known by its place in memory stays there. */
TEST(a_waiter_is_found_after_inheriting)
{
	mach_port_t child;

	memory_new(1);
	was_woken = 0;
	worker_start(0, wait_shared, NULL);
	sleep_ms(SHORT_WAIT);
	child = child_new();
	*word(0) = 1;
	EXPECT_EQ(gsync_wake(SELF, memory, 0, GSYNC_SHARED), KERN_SUCCESS);
	EXPECT(worker_join(0));
	EXPECT(was_woken);
	EXPECT_EQ(word_of(child, 0), 100);
	child_end(child);
	memory_free(1);
}

/* ---------------- What it costs ---------------- */

static uint64_t cost_of_writes(uint32_t first, uint32_t n)
{
	uint64_t before = cycles();

	for (uint32_t page = first; page < first + n; page++)
		*word(page) = 1;
	return cycles() - before;
}

TEST(the_last_page_costs_what_the_first_does)
{
	uint64_t first, last;
	mach_port_t child;

	memory_new(256);
	child = child_new();
	cost_of_writes(255, 1); /* Makes the stack this program's own. */
	first = cost_of_writes(0, 16);
	cost_of_writes(16, 223);
	last = cost_of_writes(239, 16);
	EXPECT_LT(last, first + first / 4);
	child_end(child);
	memory_free(256);
}

/* Out-of-line memory is copied when it is sent: writing to it again later costs nothing more. */
TEST(writing_again_after_sending)
{
	mach_port_t port = port_new_with_send();
	struct message message;
	uint64_t before, after;

	memory_new(3);
	cost_of_writes(0, 3);
	before = cost_of_writes(0, 3);
	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_FAR(MACH_MSG_TYPE_INTEGER_32, 32, 3 * PAGE_SIZE / 4);
	message.body[1] = memory;
	EXPECT_EQ(message_post(&message, 2), MACH_MSG_SUCCESS);
	after = cost_of_writes(0, 3);
	EXPECT_LT(after, before + 2000); /* A tick may come in between. */
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, message.body[1], 3 * PAGE_SIZE), KERN_SUCCESS);
	port_destroy(port);
	memory_free(3);
}

/* ---------------- No memory ---------------- */

struct exception_message {
	mach_msg_header_t head;
	uint32_t thread_type, thread;
	uint32_t task_type, task;
	uint32_t exception_type, exception;
	uint32_t code_type, code;
	uint32_t subcode_type, subcode;
	uint32_t room[16];
};

void store_and_stop(void);

/* Needs no stack: its child has nothing that this program writes to. */
__asm__(".text\n"
	"store_and_stop: movl $7, (%eax)\n"
	"1: jmp 1b\n");

/* The program's code as a whole, so that none of it becomes memory of its own. */
static void code_inherits(void)
{
	vm_address_t address = (vm_address_t)store_and_stop;
	vm_prot_t rights, max_rights;
	vm_inherit_t inheritance;
	mach_port_t object;
	vm_offset_t offset;
	boolean_t shared;
	vm_size_t size;

	EXPECT_EQ(vm_region(SELF, &address, &size, &rights, &max_rights, &inheritance, &shared,
			    &object, &offset),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(SELF, address, size, VM_INHERIT_COPY), KERN_SUCCESS);
}

/* What all memory of this program but its code and the test's leaves to a child. */
static void others_inherit(vm_inherit_t inheritance)
{
	EXPECT_EQ(vm_inherit(SELF, 0, 0xc0000000, inheritance), KERN_SUCCESS);
	code_inherits();
	EXPECT_EQ(vm_inherit(SELF, memory, PAGE_SIZE, VM_INHERIT_COPY), KERN_SUCCESS);
}

/* A thread that stores to `address`, not running yet. */
static mach_port_t storer(mach_port_t child, uint32_t address)
{
	struct i386_thread_state state;
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
	mach_port_t thread = 0;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	EXPECT_EQ(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count),
		  KERN_SUCCESS);
	state.eip = (uint32_t)store_and_stop;
	state.eax = address;
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				   i386_THREAD_STATE_COUNT),
		  KERN_SUCCESS);
	return thread;
}

static void expect_fault(mach_port_t handler, uint32_t code, struct exception_message *message)
{
	EXPECT_EQ(mach_msg(&message->head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof *message,
			   handler, LONG_WAIT, 0),
		  MACH_MSG_SUCCESS);
	EXPECT_EQ(message->head.msgh_id, ID_EXCEPTION_RAISE);
	EXPECT_EQ(message->exception, EXC_BAD_ACCESS);
	EXPECT_EQ(message->code, code);
}

/* Lets the thread go on. */
static void answer(struct exception_message *message)
{
	struct message reply;

	message_head(&reply, message->head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     ID_EXCEPTION_RAISE_REPLY);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = KERN_SUCCESS;
	EXPECT_EQ(message_post(&reply, 2), MACH_MSG_SUCCESS);
	port_drop_send(message->thread);
	port_drop_send(message->task);
}

/* A task that has all memory that there is: wired, so that it is there. */
static mach_port_t hoarder_new(void)
{
	mach_port_t hoarder = 0, host = mach_host_self();
	vm_address_t address = 0;

	EXPECT_EQ(task_create(SELF, FALSE, &hoarder), KERN_SUCCESS);
	do
		EXPECT_EQ(vm_allocate(hoarder, &address, PAGE_SIZE, TRUE), KERN_SUCCESS);
	while (vm_wire(host, hoarder, address, PAGE_SIZE, VM_PROT_DEFAULT) == KERN_SUCCESS);
	port_drop_send(host);
	return hoarder;
}

TEST(no_memory_for_the_copy)
{
	mach_port_t handler = port_new_with_send(), child, wild, thread, hoarder;
	struct exception_message message;

	memory_new(1);
	others_inherit(VM_INHERIT_NONE);
	child = child_new();
	others_inherit(VM_INHERIT_COPY);
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
	thread = storer(child, memory);
	/* A first fault, of another kind, takes what memory a fault's message needs. */
	wild = storer(child, 0x60000000);
	EXPECT_EQ(thread_resume(wild), KERN_SUCCESS);
	expect_fault(handler, KERN_INVALID_ADDRESS, &message);
	EXPECT_EQ(thread_terminate(wild), KERN_SUCCESS);
	port_drop_send(message.thread);
	port_drop_send(message.task);
	port_destroy(message.head.msgh_remote_port);

	hoarder = hoarder_new();
	EXPECT_EQ(assay_clock_read(ASSAY_CLOCK_MONOTONIC, (uint64_t *)word(0)),
		  KERN_INVALID_ADDRESS);
	gsync_wake(SELF, memory, 5, GSYNC_MUTATE);
	EXPECT_EQ(*word(0), 100);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	expect_fault(handler, KERN_RESOURCE_SHORTAGE, &message);
	EXPECT_EQ(message.subcode, memory);
	child_end(hoarder);
	answer(&message);
	for (uint32_t tries = 0; tries < LONG_WAIT && word_of(child, 0) != 7; tries++)
		sleep_ms(1);
	EXPECT_EQ(word_of(child, 0), 7);
	EXPECT_EQ(*word(0), 100);
	child_end(child);
	port_destroy(thread);
	port_destroy(wild);
	port_destroy(handler);
	memory_free(1);
}
