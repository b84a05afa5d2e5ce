/* SPDX-License-Identifier: MIT */
/*
 * Memory that is copied without being copied: large out-of-line data, vm_copy, vm_read and vm_write
 * of many pages; and what moves with a message.  Nobody sees what another writes afterwards.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=3
 */
#include "check.h"
#include "ipc.h"

#define SELF  mach_task_self()
#define MANY  64u /* Pages, which go as entries of the map. */
#define WORDS (PAGE_SIZE / 4)

static vm_address_t memory_new(uint32_t pages, uint32_t value)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(SELF, &address, pages * PAGE_SIZE, TRUE), KERN_SUCCESS);
	for (uint32_t n = 0; n < pages; n++)
		*(volatile uint32_t *)(address + n * PAGE_SIZE) = value + n;
	return address;
}

static void memory_free(vm_address_t address, uint32_t pages)
{
	EXPECT_EQ(vm_deallocate(SELF, address, pages * PAGE_SIZE), KERN_SUCCESS);
}

static volatile uint32_t *word(vm_address_t memory, uint32_t page)
{
	return (volatile uint32_t *)(memory + page * PAGE_SIZE);
}

/* How many pages, from the first on, begin with `value` and what follows it. */
static uint32_t right_pages(vm_address_t memory, uint32_t pages, uint32_t value)
{
	uint32_t n = 0;

	while (n < pages && *word(memory, n) == value + n)
		n++;
	return n;
}

/* ---------------- Messages ---------------- */

static void send_far(mach_port_t port, vm_address_t memory, uint32_t pages, bool moves)
{
	struct message message;

	message_head(&message, port, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_LONG | (moves ? TYPE_IS_MOVED : 0);
	message.body[1] = MACH_MSG_TYPE_INTEGER_32 | 32u << 16;
	message.body[2] = pages * WORDS;
	message.body[3] = memory;
	EXPECT_EQ(message_post(&message, 4), MACH_MSG_SUCCESS);
}

static vm_address_t receive_far(mach_port_t port)
{
	struct message message;

	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	return message.body[3];
}

/* Both sides write after the message has been sent, before and after it has been received. */
static void exchange(uint32_t pages)
{
	mach_port_t port = port_new_with_send();
	vm_address_t sent = memory_new(pages, 100), got;

	send_far(port, sent, pages, false);
	*word(sent, 0) = 1;
	got = receive_far(port);
	EXPECT_EQ(right_pages(got, pages, 100), pages);
	*word(sent, 1) = 2;
	*word(got, pages - 1) = 3;
	EXPECT_EQ(*word(got, 1), 101);
	EXPECT_EQ(*word(sent, pages - 1), 100 + pages - 1);
	EXPECT_EQ(*word(sent, 0), 1);
	memory_free(sent, pages);
	EXPECT_EQ(right_pages(got, pages - 1, 100), pages - 1);
	EXPECT_EQ(*word(got, pages - 1), 3);
	memory_free(got, pages);
	port_destroy(port);
}

TEST(few_and_many_pages_out_of_line)
{
	exchange(3);
	exchange(8);
	exchange(9);
	exchange(MANY);
}

/* Untouched memory is zeroes on the other side, too, and stays the sender's. */
TEST(untouched_memory_out_of_line)
{
	mach_port_t port = port_new_with_send();
	vm_address_t sent = 0, got;

	EXPECT_EQ(vm_allocate(SELF, &sent, MANY * PAGE_SIZE, TRUE), KERN_SUCCESS);
	send_far(port, sent, MANY, false);
	*word(sent, 5) = 5;
	got = receive_far(port);
	EXPECT_EQ(*word(got, 5), 0);
	*word(got, 6) = 6;
	EXPECT_EQ(*word(sent, 6), 0);
	memory_free(sent, MANY);
	memory_free(got, MANY);
	port_destroy(port);
}

/* The sender has the memory no more, and what is mapped there next is not the old one. */
TEST(memory_that_moves)
{
	for (uint32_t pages = 1; pages <= MANY; pages *= 4) {
		mach_port_t port = port_new_with_send();
		vm_address_t sent = memory_new(pages, 100), got, again = sent;

		send_far(port, sent, pages, true);
		EXPECT_EQ(vm_allocate(SELF, &again, pages * PAGE_SIZE, FALSE), KERN_SUCCESS);
		EXPECT_EQ(*word(again, pages - 1), 0);
		got = receive_far(port);
		EXPECT_EQ(right_pages(got, pages, 100), pages);
		memory_free(again, pages);
		memory_free(got, pages);
		port_destroy(port);
	}
}

/* A message that cannot be sent leaves its memory where it was, contents and all. */
TEST(memory_that_does_not_move_after_all)
{
	vm_address_t sent = memory_new(4, 100);
	struct message message;

	message_head(&message, 0x7777, MACH_MSG_TYPE_COPY_SEND, 0, 0, 1);
	message.head.msgh_bits |= MACH_MSGH_BITS_COMPLEX;
	message.body[0] = TYPE_MOVED(MACH_MSG_TYPE_INTEGER_32, 32, 3 * WORDS);
	message.body[1] = sent;
	EXPECT_EQ(message_post(&message, 2), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(right_pages(sent, 4, 100), 4);
	*word(sent, 2) = 9;
	EXPECT_EQ(*word(sent, 2), 9);
	memory_free(sent, 4);
}

/* Destroyed on its way: nobody has it, and the sender still what it did not give away. */
TEST(memory_on_its_way_to_nobody)
{
	mach_port_t port = port_new_with_send();
	vm_address_t sent = memory_new(MANY, 100);

	send_far(port, sent, MANY, false);
	port_destroy(port);
	EXPECT_EQ(right_pages(sent, MANY, 100), MANY);
	*word(sent, 1) = 7;
	memory_free(sent, MANY);
}

/* ---------------- vm_copy, vm_read, vm_write ---------------- */

TEST(many_pages_by_vm_copy)
{
	vm_address_t from = memory_new(MANY, 100), to = memory_new(MANY, 5000);

	EXPECT_EQ(vm_copy(SELF, from, MANY * PAGE_SIZE, to), KERN_SUCCESS);
	EXPECT_EQ(right_pages(to, MANY, 100), MANY);
	*word(from, 3) = 1;
	*word(to, 4) = 2;
	EXPECT_EQ(*word(to, 3), 103);
	EXPECT_EQ(*word(from, 4), 104);
	/* Now the same object is on both sides. */
	EXPECT_EQ(vm_copy(SELF, to, MANY * PAGE_SIZE, from), KERN_SUCCESS);
	EXPECT_EQ(*word(from, 3), 103);
	EXPECT_EQ(*word(from, 4), 2);
	memory_free(from, MANY);
	EXPECT_EQ(*word(to, 4), 2);
	memory_free(to, MANY);
}

/* Overlapping, in either direction, whole pages and not. */
TEST(overlapping_copies)
{
	vm_address_t memory = memory_new(2 * MANY, 100);

	EXPECT_EQ(vm_copy(SELF, memory, MANY * PAGE_SIZE, memory + 8 * PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(right_pages(memory, 8, 100), 8);
	EXPECT_EQ(right_pages(memory + 8 * PAGE_SIZE, MANY, 100), MANY);
	EXPECT_EQ(vm_copy(SELF, memory + 8 * PAGE_SIZE, MANY * PAGE_SIZE, memory), KERN_SUCCESS);
	EXPECT_EQ(right_pages(memory, MANY, 100), MANY);
	EXPECT_EQ(vm_copy(SELF, memory, MANY * PAGE_SIZE - 8, memory + 4), KERN_SUCCESS);
	for (uint32_t n = 0; n < MANY - 1; n++)
		EXPECT_EQ(word(memory, n)[1], 100 + n);
	memory_free(memory, 2 * MANY);
}

TEST(many_pages_read_and_written)
{
	vm_address_t from = memory_new(MANY, 100), to = memory_new(MANY + 1, 5000);
	mach_msg_type_number_t size;
	vm_offset_t data;

	EXPECT_EQ(vm_read(SELF, from, MANY * PAGE_SIZE - 40, &data, &size), KERN_SUCCESS);
	EXPECT_EQ(size, MANY * PAGE_SIZE - 40);
	*word(from, 1) = 1;
	EXPECT_EQ(right_pages(data, MANY, 100), MANY);
	/* The last page is not written whole. */
	word(to, MANY - 1)[WORDS - 1] = 77;
	EXPECT_EQ(vm_write(SELF, to, data, size), KERN_SUCCESS);
	EXPECT_EQ(right_pages(to, MANY, 100), MANY);
	EXPECT_EQ(word(to, MANY - 1)[WORDS - 1], 77);
	*word(data, 2) = 2;
	EXPECT_EQ(*word(to, 2), 102);
	EXPECT_EQ(vm_write(SELF, to + 4, data, size), KERN_SUCCESS);
	EXPECT_EQ(word(to, 3)[1], 103);
	memory_free(data, MANY);
	memory_free(from, MANY);
	memory_free(to, MANY + 1);
}

/* Memory that another task shares is written to, not replaced. */
TEST(copying_over_shared_memory)
{
	vm_address_t from = memory_new(MANY, 100), to = memory_new(MANY, 5000);
	mach_port_t child = MACH_PORT_NULL;
	mach_msg_type_number_t size;
	vm_offset_t data;

	EXPECT_EQ(vm_inherit(SELF, to, MANY * PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	EXPECT_EQ(task_create(SELF, TRUE, &child), KERN_SUCCESS);
	EXPECT_EQ(vm_copy(SELF, from, MANY * PAGE_SIZE, to), KERN_SUCCESS);
	EXPECT_EQ(vm_read(child, to, MANY * PAGE_SIZE, &data, &size), KERN_SUCCESS);
	EXPECT_EQ(right_pages(data, MANY, 100), MANY);
	*word(to, 7) = 7;
	EXPECT_EQ(right_pages(data, MANY, 100), MANY);
	memory_free(data, MANY);
	child_end(child);
	memory_free(from, MANY);
	memory_free(to, MANY);
}

TEST(copies_of_what_may_not_be_read)
{
	vm_address_t from = memory_new(MANY, 100), to = memory_new(MANY, 5000);
	mach_msg_type_number_t size;
	vm_offset_t data;

	EXPECT_EQ(vm_protect(SELF, from + 20 * PAGE_SIZE, PAGE_SIZE, FALSE, VM_PROT_NONE),
		  KERN_SUCCESS);
	EXPECT_EQ(vm_copy(SELF, from, MANY * PAGE_SIZE, to), KERN_PROTECTION_FAILURE);
	EXPECT_EQ(vm_read(SELF, from, MANY * PAGE_SIZE, &data, &size), KERN_PROTECTION_FAILURE);
	EXPECT_EQ(right_pages(to, MANY, 5000), MANY);
	EXPECT_EQ(vm_deallocate(SELF, from + 20 * PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_read(SELF, from, MANY * PAGE_SIZE, &data, &size), KERN_INVALID_ADDRESS);
	*word(from, 0) = 1;
	memory_free(from, MANY);
	memory_free(to, MANY);
}

/* ---------------- What a part of an entry leaves behind ---------------- */

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
	return value;
}

TEST(pages_come_back_at_once)
{
	vm_address_t memory = memory_new(MANY, 100);
	uint32_t before = pages_of_users();

	memory_free(memory, 4);
	EXPECT_EQ(pages_of_users(), before - 4);
	memory_free(memory + 10 * PAGE_SIZE, 4);
	EXPECT_EQ(pages_of_users(), before - 8);
	memory_free(memory + 4 * PAGE_SIZE, 6);
	EXPECT_EQ(pages_of_users(), before - 14);
	memory_free(memory + (MANY - 4) * PAGE_SIZE, 4);
	EXPECT_EQ(pages_of_users(), before - 18);
	EXPECT_EQ(*word(memory, 20), 120);
	memory_free(memory, MANY);
	EXPECT_EQ(pages_of_users(), before - MANY);
}

/* What is mapped behind other memory, where there was some once, is zeroes. */
TEST(memory_grows_with_zeroes)
{
	vm_address_t memory = memory_new(4, 100);

	for (uint32_t turn = 0; turn < 3; turn++) {
		vm_address_t last = memory + 3 * PAGE_SIZE;

		*word(memory, 3) = 9;
		memory_free(last, 1);
		EXPECT_EQ(vm_allocate(SELF, &last, PAGE_SIZE, FALSE), KERN_SUCCESS);
		EXPECT_EQ(*word(memory, 3), 0);
		EXPECT_EQ(right_pages(memory, 3, 100), 3);
	}
	memory_free(memory, 4);
}
