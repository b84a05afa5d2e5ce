/* SPDX-License-Identifier: MIT */
/*
 * Faults that take more than a cleared page: copies on write, after a copy and after a thousand
 * forks; pages that a pager of the program's own brings; and exceptions that a handler of its own
 * ends.
 */
#include "measure.h"

#include <mach/messages.h>

#include "mach.h"

#define PLACE ((volatile uint8_t *)0x40000000)

#define COPY_PAGES 1000
#define COPY_SIZE  (COPY_PAGES * PAGE_SIZE)
#define COPY_PLACE (PLACE + 2 * COPY_SIZE)

static void allocate(volatile uint8_t *place, vm_size_t size)
{
	vm_address_t address = (vm_address_t)place;

	must(syscall_vm_allocate(mach_task_self(), &address, size, false), "memory");
}

static uint32_t sample_write(volatile uint8_t *place)
{
	uint32_t before = counter();

	*place = 1;
	return counter() - before;
}

/* ---------------- Copies ---------------- */

/* Samples the write to `page` of memory that was just copied, when all before it had theirs. */
static void measure_copies(uint32_t n, uint32_t page)
{
	measure_calibrate();
	allocate(PLACE, COPY_SIZE);
	allocate(COPY_PLACE, COPY_SIZE);
	for (uint32_t i = 0; i < COPY_PAGES; i++)
		PLACE[i * PAGE_SIZE] = 1;
	for (uint32_t turn = 0; turn < WARM_UP + n; turn++) {
		must(vm_copy(mach_task_self(), (vm_address_t)PLACE, COPY_SIZE,
			     (vm_address_t)COPY_PLACE),
		     "a copy");
		for (uint32_t i = 0; i < page; i++)
			PLACE[i * PAGE_SIZE] = 2;
		samples[turn < WARM_UP ? 0 : turn - WARM_UP] =
			sample_write(PLACE + page * PAGE_SIZE);
	}
	report_median(n);
}

void bench_cow_first(uint32_t n)
{
	measure_copies(n, 0);
}

void bench_cow_last(uint32_t n)
{
	measure_copies(n, COPY_PAGES - 1);
}

/* Writes after a fork, `n` forks in a row: the medians of some of the first and of the last. */
void bench_forks(uint32_t n)
{
	uint32_t some = n < 100 ? n : 100;

	measure_calibrate();
	allocate(PLACE, PAGE_SIZE);
	for (uint32_t turn = 0; turn < WARM_UP + n; turn++) {
		mach_port_t child;

		must(task_create(mach_task_self(), true, &child), "a fork");
		samples[turn < WARM_UP ? 0 : turn - WARM_UP] = sample_write(PLACE);
		must(task_terminate(child), "the end of the child");
		must(mach_port_deallocate(mach_task_self(), child), "the end of its name");
	}
	print("last %u\n", median_of(samples + n - some, some));
	print("first %u\n", median_of(samples, some));
}

/* ---------------- Exceptions ---------------- */

struct exception_request {
	mach_msg_header_t header;
	mach_msg_type_t thread_type;
	mach_port_t thread;
	mach_msg_type_t task_type;
	mach_port_t task;
	struct {
		mach_msg_type_t type;
		uint32_t value;
	} exception, code, subcode;
};

struct exception_reply {
	mach_msg_header_t header;
	mach_msg_type_t type;
	kern_return_t result;
};

static const mach_msg_type_t int_type = DESCRIBE_UNSIGNED(1);

/* Maps the page that was touched. */
static void handle_exceptions(void)
{
	union {
		struct exception_request request;
		struct exception_reply reply;
	} message;
	mach_port_t self = mach_task_self();
	mach_msg_option_t option = MACH_RCV_MSG;

	for (;;) {
		vm_address_t page;

		if (mach_msg_trap(&message.request.header, option, sizeof message.reply,
				  sizeof message, server_port, MACH_MSG_TIMEOUT_NONE,
				  MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			assay_exit(1);
		page = message.request.subcode.value & ~(PAGE_SIZE - 1);
		must(syscall_vm_allocate(self, &page, PAGE_SIZE, false), "the page");
		syscall_mach_port_deallocate(self, message.request.thread);
		syscall_mach_port_deallocate(self, message.request.task);
		message.reply.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0);
		message.reply.header.msgh_local_port = MACH_PORT_NULL;
		message.reply.header.msgh_id = ID_EXCEPTION_RAISE_REPLY;
		message.reply.type = int_type;
		message.reply.result = KERN_SUCCESS;
		option = MACH_SEND_MSG | MACH_RCV_MSG;
	}
}

/* Giving the page back is not part of a sample. */
void bench_exception(uint32_t n)
{
	server_port = make_port();
	start_server(mach_task_self(), handle_exceptions);
	must(thread_set_special_port(mach_thread_self(), THREAD_EXCEPTION_PORT, server_port),
	     "a handler");
	measure_calibrate();
	measure_begin();
	for (uint32_t turn = 0; turn < n; turn++) {
		samples[turn] = sample_write(PLACE);
		must(syscall_vm_deallocate(mach_task_self_cached(), (vm_address_t)PLACE, PAGE_SIZE),
		     "the end of the page");
	}
	measure_end();
	report_samples(n, 1);
}

/* ---------------- A pager ---------------- */

/* memory_object_init() and memory_object_data_request(), as far as they are looked at. */
struct pager_request {
	mach_msg_header_t header;
	mach_msg_type_t control_type;
	mach_port_t control;
	mach_msg_type_t offset_type;
	vm_offset_t offset;
	char rest[32];
};

struct pager_ready {
	mach_msg_header_t header;
	mach_msg_type_t cache_type;
	uint32_t may_cache;
	mach_msg_type_t strategy_type;
	uint32_t strategy;
};

struct pager_supply {
	mach_msg_header_t header;
	mach_msg_type_t offset_type;
	vm_offset_t offset;
	mach_msg_type_long_t data_type;
	vm_address_t data;
	mach_msg_type_t lock_type;
	uint32_t lock;
	mach_msg_type_t precious_type;
	uint32_t precious;
	mach_msg_type_t reply_type;
	mach_port_t reply;
};

union pager_message {
	mach_msg_header_t header;
	struct pager_request request;
	struct pager_ready ready;
	struct pager_supply supply;
};

static void make_ready(struct pager_ready *message)
{
	message->header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
	message->header.msgh_size = sizeof *message;
	message->header.msgh_id = ID_MEMORY_OBJECT_READY;
	message->cache_type = int_type;
	message->cache_type.msgt_name = MACH_MSG_TYPE_BOOLEAN;
	message->may_cache = false;
	message->strategy_type = int_type;
	message->strategy = MEMORY_OBJECT_COPY_NONE;
}

/* Gives the page at `offset`, a fresh one that has its offset in it. */
static void make_supply(struct pager_supply *message, vm_offset_t offset)
{
	vm_address_t page;

	must(syscall_vm_allocate(mach_task_self_cached(), &page, PAGE_SIZE, true), "a page");
	*(volatile vm_offset_t *)page = offset;
	*message = (struct pager_supply){
		.header = message->header,
		.offset_type = int_type,
		.offset = offset,
		.data_type =
			{
				.msgtl_header = {.msgt_deallocate = true, .msgt_longform = true},
				.msgtl_name = MACH_MSG_TYPE_BYTE,
				.msgtl_size = 8,
				.msgtl_number = PAGE_SIZE,
			},
		.data = page,
		.lock_type = int_type,
		.precious_type = int_type,
		.reply_type = int_type,
	};
	message->precious_type.msgt_name = MACH_MSG_TYPE_BOOLEAN;
	message->reply_type.msgt_name = MACH_MSG_TYPE_MAKE_SEND_ONCE;
	/* The reference that the request has brought goes back. */
	message->header.msgh_bits =
		MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND, 0) | MACH_MSGH_BITS_COMPLEX;
	message->header.msgh_size = sizeof *message;
	message->header.msgh_id = ID_MEMORY_OBJECT_DATA_SUPPLY;
}

static void serve_pages(void)
{
	union pager_message message;
	mach_msg_option_t option = MACH_RCV_MSG;

	message.header.msgh_size = 0; /* There is nothing to send yet. */
	for (;;) {
		mach_port_t control;

		if (mach_msg_trap(&message.header, option, message.header.msgh_size, sizeof message,
				  server_port, MACH_MSG_TIMEOUT_NONE,
				  MACH_PORT_NULL) != MACH_MSG_SUCCESS)
			assay_exit(1);
		control = message.request.control;
		option = MACH_SEND_MSG | MACH_RCV_MSG;
		if (message.header.msgh_id == ID_MEMORY_OBJECT_INIT)
			make_ready(&message.ready);
		else if (message.header.msgh_id == ID_MEMORY_OBJECT_DATA_REQUEST)
			make_supply(&message.supply, message.request.offset);
		else
			option = MACH_RCV_MSG;
		message.header.msgh_remote_port = control;
		message.header.msgh_local_port = MACH_PORT_NULL;
	}
}

void bench_pager(uint32_t n)
{
	const volatile uint8_t *place;
	vm_address_t address = 0;

	server_port = make_port();
	start_server(mach_task_self(), serve_pages);
	must(vm_map(mach_task_self(), &address, (WARM_UP + n) * PAGE_SIZE, 0, true, server_port, 0,
		    false, VM_PROT_READ, VM_PROT_READ, VM_INHERIT_NONE),
	     "a mapping");
	place = (const volatile uint8_t *)address;
	measure_calibrate();
	MEASURE(n, (void)*place; place += PAGE_SIZE);
	report_samples(n, 1);
}
