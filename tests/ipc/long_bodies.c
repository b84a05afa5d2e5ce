/* SPDX-License-Identifier: MIT */
/*
 * Where the bodies of long messages come from and go to.
 *
 * The fast path carries one from the sender's memory to its receiver's by their page tables, and
 * leaves to the general path what it cannot reach so.  Whoever gets a message must not see which of
 * the two it was: each case is one in which they could differ.
 *
 * machine: cpus=1
 * machine: cpus=1 append="fastpath=off"
 * machine: cpus=2 seed=1
 */
#include <mach/messages.h>

#include "check.h"
#include "pager.h"

#define SERVER 0
#define ID     4711
#define ANSWER 4712
#define HEADER ((uint32_t)sizeof(mach_msg_header_t))
#define AREA   (18 * PAGE_SIZE) /* Room for the longest message anywhere in its first page. */
#define GUARD  0x5a

static mach_port_t served, reply;
static mach_msg_return_t server_result;
static uint32_t room; /* What the server says that its buffer has. */

static char pattern(uint32_t n)
{
	return (char)(n % 251 + 1);
}

/* Takes one message to `place`, and answers it. */
static void take_one(void *place)
{
	mach_msg_header_t *header = place;

	server_result = mach_msg(header, MACH_RCV_MSG, 0, room, served, MACH_MSG_TIMEOUT_NONE,
				 MACH_PORT_NULL);
	if (server_result == MACH_MSG_SUCCESS)
		message_send_id(header->msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, ANSWER);
}

/* A call of `size` bytes from `source`, which somebody waits for at `target` with `space` bytes. */
static void call(char *source, char *target, uint32_t size, uint32_t space)
{
	mach_msg_header_t *header = (mach_msg_header_t *)source;

	served = port_new_with_send();
	reply = port_new();
	room = space;
	worker_start(SERVER, take_one, target);
	sleep_ms(SHORT_WAIT);
	*header = (mach_msg_header_t){
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, MACH_MSG_TYPE_MAKE_SEND_ONCE),
		.msgh_remote_port = served,
		.msgh_local_port = reply,
		.msgh_id = ID,
	};
	EXPECT_EQ(mach_msg(header, MACH_SEND_MSG | MACH_RCV_MSG, size, size, reply,
			   MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL),
		  MACH_MSG_SUCCESS);
	EXPECT(worker_join(SERVER));
	port_destroy(served);
	port_destroy(reply);
}

static void fill_body(char *source, uint32_t size)
{
	for (uint32_t n = HEADER; n < size; n++)
		source[n] = pattern(n);
}

static void expect_body(const char *target, uint32_t size)
{
	const mach_msg_header_t *header = (const mach_msg_header_t *)target;
	uint32_t wrong = 0;

	for (uint32_t n = HEADER; n < size; n++)
		wrong += target[n] != pattern(n);
	EXPECT_EQ(wrong, 0);
	EXPECT_EQ(header->msgh_size, size);
	EXPECT_EQ(header->msgh_id, ID);
}

static void expect_guards(const char *start, const char *end)
{
	uint32_t wrong = 0;

	for (const char *at = start; at < end; at++)
		wrong += *at != GUARD;
	EXPECT_EQ(wrong, 0);
}

static char *area(void)
{
	vm_address_t address = 0;

	EXPECT_EQ(vm_allocate(SELF, &address, AREA, TRUE), KERN_SUCCESS);
	return (char *)address;
}

static void area_free(char *address)
{
	EXPECT_EQ(vm_deallocate(SELF, (vm_address_t)address, AREA), KERN_SUCCESS);
}

/* ---------------- Places ---------------- */

static const uint32_t sizes[] = {140, 1000, 4096, 4120, 8192, 40000, 65536};
static const uint32_t places[] = {0, 24, 2000, 4072, 4076, 4092};

#define N(table) (sizeof(table) / sizeof(table)[0])

/* All of it comes, and nothing beside it is touched. */
TEST(long_bodies_between_any_places)
{
	char *from = area(), *to = area();

	for (uint32_t i = 0; i < N(sizes); i++) {
		for (uint32_t place = 0; place < N(places); place++) {
			char *source = from + places[place];
			char *target = to + places[(place + i) % N(places)];

			memset(to, GUARD, AREA);
			fill_body(source, sizes[i]);
			call(source, target, sizes[i], sizes[i]);
			expect_body(target, sizes[i]);
			expect_guards(to, target);
			expect_guards(target + sizes[i], to + AREA);
		}
	}
	area_free(from);
	area_free(to);
}

/* A page of the receiver's that nothing was ever written to is as good as any other. */
TEST(long_bodies_to_fresh_memory)
{
	for (uint32_t i = 0; i < N(sizes); i++) {
		char *from = area(), *to = area();

		fill_body(from, sizes[i]);
		call(from, to + 4000, sizes[i], sizes[i]);
		expect_body(to + 4000, sizes[i]);
		area_free(from);
		area_free(to);
	}
}

/* Only the last page is not to be written to: the message is lost, and what is there stays. */
TEST(long_bodies_to_memory_that_is_read_only)
{
	char *from = area(), *to = area();
	const uint32_t size = 2 * PAGE_SIZE;
	char *target = to + 2000;

	memset(to, GUARD, AREA);
	EXPECT_EQ(
		vm_protect(SELF, (vm_address_t)to + 2 * PAGE_SIZE, PAGE_SIZE, FALSE, VM_PROT_READ),
		KERN_SUCCESS);
	fill_body(from, size);
	call(from, target, size, size);
	EXPECT_EQ(server_result, MACH_RCV_INVALID_DATA);
	EXPECT_EQ(((mach_msg_header_t *)from)->msgh_id, MACH_NOTIFY_SEND_ONCE);
	expect_guards(to + 2 * PAGE_SIZE, to + AREA);
	area_free(from);
	area_free(to);
}

/* ---------------- What is at two places ---------------- */

/* The receiver's buffer begins in the sender's message, or the other way round. */
TEST(long_bodies_that_overlap)
{
	static const int32_t shifts[] = {200, 1000, 4096, -200, -1000, -4096};
	char *memory_of_both = area();

	for (uint32_t i = 0; i < N(shifts); i++) {
		char *source = memory_of_both + 2 * PAGE_SIZE;
		char *target = source + shifts[i];

		fill_body(source, 5000);
		call(source, target, 5000, 5000);
		/* The answer's header, which came last, may lie in what was received. */
		for (uint32_t n = 0; n < HEADER; n++)
			if (shifts[i] < 0)
				source[n] = pattern((uint32_t)(n - shifts[i]));
		expect_body(target, 5000);
	}
	area_free(memory_of_both);
}

/* The same pages under two addresses: what is written by the one is read by the other. */
TEST(long_bodies_within_shared_pages)
{
	static const int32_t shifts[] = {400, -400};
	vm_address_t other;

	begin(false, MEMORY_OBJECT_COPY_NONE);
	fill(0, 3, 0);
	other = map(object, 0, BYTES, false);
	for (uint32_t i = 0; i < N(shifts); i++) {
		char *source = (char *)memory + 1000;
		char *target = (char *)other + 1000 + shifts[i];

		for (uint32_t n = 0; n < 3 * PAGE_SIZE; n += PAGE_SIZE)
			((char *)other)[n] = source[n] = 0;
		fill_body(source, 5000);
		call(source, target, 5000, 5000);
		for (uint32_t n = 0; n < HEADER; n++)
			if (shifts[i] < 0)
				source[n] = pattern((uint32_t)(n - shifts[i]));
		expect_body(target, 5000);
	}
	EXPECT_EQ(vm_deallocate(SELF, other, BYTES), KERN_SUCCESS);
	lock_request(0, 3, MEMORY_OBJECT_RETURN_NONE, true, VM_PROT_NO_CHANGE);
	EXPECT(expect(LOCK_COMPLETED));
	end();
}

/* Whoever has a copy of the receiver's memory, made before, sees nothing of it. */
TEST(long_bodies_to_copied_memory)
{
	char *from = area(), *to = area(), *copy = area();

	memset(to, GUARD, AREA);
	EXPECT_EQ(vm_copy(SELF, (vm_address_t)to, AREA, (vm_address_t)copy), KERN_SUCCESS);
	fill_body(from, 9000);
	call(from, to, 9000, 9000);
	expect_body(to, 9000);
	expect_guards(copy, copy + AREA);
	area_free(from);
	area_free(to);
	area_free(copy);
}

/* ---------------- What is written back ---------------- */

/* The receiver writes the header itself, to one page; the pager is told of the other, too. */
TEST(long_bodies_are_changes_of_their_pages)
{
	char *from = area();

	begin(false, MEMORY_OBJECT_COPY_NONE);
	fill(0, 2, 0);
	/* Both are mapped, and may be written to; then what was written goes to the pager. */
	*at(0) = *at(1) = 1;
	lock_request(0, 2, MEMORY_OBJECT_RETURN_DIRTY, false, VM_PROT_NO_CHANGE);
	while (message_get(&got, object, SHORT_WAIT) == MACH_MSG_SUCCESS &&
	       got.head.msgh_id == DATA_RETURN) {
		port_drop_send(word(0));
		vm_deallocate(SELF, got.body[7], got.body[6]);
	}
	fill_body(from, 2000);
	call(from, (char *)at(1) - 1000, 2000, 2000);
	lock_request(0, 2, MEMORY_OBJECT_RETURN_DIRTY, true, VM_PROT_NO_CHANGE);
	EXPECT(expect(DATA_RETURN));
	EXPECT_EQ(got.body[6], 2 * PAGE_SIZE);
	expect_body((char *)got.body[7] + PAGE_SIZE - 1000, 2000);
	vm_deallocate(SELF, got.body[7], got.body[6]);
	EXPECT(expect(LOCK_COMPLETED));
	end();
	area_free(from);
}
