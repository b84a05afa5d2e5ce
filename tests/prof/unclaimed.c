/* SPDX-License-Identifier: MIT */
/*
 * Work that is done before it is known for whom: bytes come on a line, in its loop mode, and later
 * somebody reads them.
 *
 * machine: cpus=1 append="log=vga" arguments="${device-port} ${host-port}"
 * machine: cpus=2 append="log=vga" arguments="${device-port} ${host-port}" seed=3
 * machine: cpus=4 append="log=vga" arguments="${device-port} ${host-port}" seed=5
 */
#include <mach/calls.h>

#include "block.h"
#include "check.h"
#include "ipc.h"
#include "loop.h"
#include "tally.h"

#define FULL_RATE 10000u
#define TEXT      "sixteen letters."

static mach_port_t line;

static mach_port_t host(void)
{
	return check_number(1);
}

static void begin(void)
{
	loop_use_ports();
	EXPECT_EQ(device_open(check_number(0), D_READ | D_WRITE, "com1", &line), D_SUCCESS);
}

static void end(void)
{
	EXPECT_EQ(device_close(line), D_SUCCESS);
	port_drop_send(line);
}

/* All of `size` bytes, as often as it takes. */
static void read_bytes(uint32_t size)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n;

	for (; size > 0; size -= n) {
		n = IO_INBAND_MAX;
		REQUIRE(device_read_inband(line, 0, 0, IO_INBAND_MAX, bytes, &n) == D_SUCCESS);
		EXPECT_LE(n, size);
	}
}

/* The next one, and no more. */
static void read_byte(void)
{
	io_buf_ptr_inband_t bytes;
	uint32_t n = IO_INBAND_MAX;

	REQUIRE(device_read_inband(line, 0, 0, 1, bytes, &n) == D_SUCCESS);
	EXPECT_EQ(n, 1);
}

static uint32_t own_label(void)
{
	struct thread_id_info info;
	mach_msg_type_number_t count = THREAD_ID_INFO_COUNT;
	mach_port_t self = mach_thread_self();

	EXPECT_EQ(thread_info(self, THREAD_ID_INFO, (thread_info_t)&info, &count), KERN_SUCCESS);
	port_drop_send(self);
	return info.label;
}

/* ---------------- Calls ---------------- */

struct list {
	struct host_call *calls;
	uint32_t n;
};

static struct list list_of(unsigned label)
{
	mach_msg_type_number_t n = 0;
	unsigned *words = NULL;

	EXPECT_EQ(host_calls_get_for(host(), label, &words, &n), KERN_SUCCESS);
	return (struct list){(struct host_call *)words, n / HOST_CALL_WORDS};
}

static void list_free(struct list list)
{
	if (list.n > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)list.calls,
					list.n * sizeof *list.calls),
			  KERN_SUCCESS);
}

static uint32_t list_count(struct list list, const struct host_call *call)
{
	for (uint32_t i = 0; i < list.n; i++)
		if (list.calls[i].from == call->from && list.calls[i].to == call->to)
			return list.calls[i].count[0];
	return 0;
}

/* The event whose calls are not none: that of the line which something has come on. */
static unsigned event_used(struct list *calls)
{
	unsigned found = 0;

	for (unsigned n = 0; n < 2; n++) {
		struct list list = list_of(PROF_LABEL_EVENTS + n);

		if (list.n > 0 && found == 0) {
			found = PROF_LABEL_EVENTS + n;
			*calls = list;
		} else {
			list_free(list);
		}
	}
	return found;
}

static void count_calls(boolean_t on)
{
	EXPECT_EQ(host_calls_count(host(), on), KERN_SUCCESS);
}

/* What an event's calls were, each of them the reader's has at least as often, and nobody else. */
TEST(calls_are_the_readers)
{
	struct list events = {.n = 0}, before, after, left;
	unsigned label = 0, event;
	uint32_t sum = 0;

	begin();
	EXPECT_EQ(host_calls_for(host(), mach_task_self(), &label), KERN_SUCCESS);
	count_calls(TRUE);
	loop_type(LOOP_COM1, TEXT);
	sleep_ms(2);
	event = event_used(&events);
	REQUIRE(event != 0);
	before = list_of(label);
	read_bytes(strlen(TEXT));
	after = list_of(label);
	left = list_of(event);
	count_calls(FALSE);
	EXPECT_EQ(left.n, 0);
	for (uint32_t i = 0; i < events.n; i++) {
		const struct host_call *call = &events.calls[i];

		EXPECT_LE(call->count[0], list_count(after, call) - list_count(before, call));
		sum += call->count[0];
	}
	print("# %u calls at %u places\n", sum, events.n);
	EXPECT_LE(2, sum); /* Of two interrupts each has the line served by a call. */
	list_free(events);
	list_free(before);
	list_free(after);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end();
}

/* Who waits is known, so there is nothing to attribute. */
static void read_text(void *unused)
{
	(void)unused;
	read_bytes(strlen(TEXT));
}

TEST(who_waits_is_known)
{
	struct list events = {.n = 0};
	unsigned label = 0;

	begin();
	EXPECT_EQ(host_calls_for(host(), mach_task_self(), &label), KERN_SUCCESS);
	worker_start(0, read_text, NULL);
	sleep_ms(5);
	count_calls(TRUE);
	loop_type(LOOP_COM1, TEXT);
	worker_join(0);
	EXPECT_EQ(event_used(&events), 0);
	count_calls(FALSE);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end();
}

/* ---------------- Samples ---------------- */

/* 40,002 instructions. */
__asm__(".text\n.globl spin, spin_end\n"
	"spin: pushl %ebp\nmovl %esp, %ebp\nmovl $400, %ecx\n" HUNDREDS_TEXT "leave\nret\n"
	"spin_end:\n");
void spin(void);
extern const char spin_end[];

static void serve(mach_port_t name)
{
	EXPECT_EQ(assay_thread_serve(name), KERN_SUCCESS);
}

struct seen {
	uint32_t label;
	uint32_t own;    /* In spin() for the label, */
	uint32_t system; /* for nobody, */
	uint32_t others; /* and for anybody else. */
};

static void count_sample(struct tally *tally, const struct prof_sample *sample)
{
	struct seen *seen = tally->data;

	if (sample->pc < (uint32_t)spin || sample->pc >= (uint32_t)spin_end)
		return;
	seen->own += sample->label == seen->label;
	seen->system += sample->label == 0;
	seen->others += sample->label != 0 && sample->label != seen->label;
}

/* Samples of what a thread does for the line's event, `rounds` times 40,000 instructions. */
static struct seen samples_of_spinning(uint32_t rounds, bool attributes)
{
	sample_options_t options = {.flags = 0};
	struct seen seen = {.label = own_label()};
	struct tally tally;

	tally_new(&tally, 1, count_sample);
	tally.data = &seen;
	EXPECT_EQ(host_sample_start(host(), 0, SAMPLED_PC_PERIODIC, FULL_RATE, options, tally.port),
		  KERN_SUCCESS);
	serve(line);
	while (rounds-- > 0)
		spin();
	serve(mach_task_self());
	if (attributes)
		EXPECT_EQ(assay_event_attribute(line), KERN_SUCCESS);
	EXPECT_EQ(host_sample_stop(host(), tally.port), KERN_SUCCESS);
	tally_all(&tally, 1);
	print("# own %u system %u others %u\n", seen.own, seen.system, seen.others);
	EXPECT_EQ(seen.others, 0);
	return seen;
}

/* Some sixty fit into what an event has for them: beyond that they are nobody's. */
TEST(samples_are_held)
{
	struct seen few, unread, many;

	begin();
	few = samples_of_spinning(80, true);
	unread = samples_of_spinning(80, false);
	many = samples_of_spinning(1000, false); /* Its room is free again when its stream ends. */
	EXPECT_LT(100, many.system);
	many = samples_of_spinning(1000, true);
	EXPECT_LT(20, few.own);
	EXPECT_EQ(few.system, 0);
	EXPECT_LT(20, unread.system);
	EXPECT_EQ(unread.own, 0);
	EXPECT_LT(few.own, many.own);
	EXPECT_LT(many.own, 100);
	EXPECT_LT(100, many.system);
	end();
}

/* ---------------- Servers ---------------- */

/* A server reads for whom it does not know; when it does, what has come was for that one. */
TEST(a_server_passes_and_attributes)
{
	struct list events = {.n = 0};
	unsigned own = own_label(), label = 0;

	begin();
	EXPECT_EQ(host_calls_for(host(), mach_task_self(), &label), KERN_SUCCESS);
	serve(line);
	EXPECT_LE(PROF_LABEL_EVENTS, own_label());
	count_calls(TRUE);
	loop_type(LOOP_COM1, TEXT);
	serve(line);
	read_bytes(strlen(TEXT));
	serve(mach_task_self());
	EXPECT_LT(0, event_used(&events));
	list_free(events);
	EXPECT_EQ(assay_event_attribute(line), KERN_SUCCESS);
	EXPECT_EQ(event_used(&events), 0);
	count_calls(FALSE);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	loop_type(LOOP_COM1, TEXT);
	serve(line);
	read_bytes(strlen(TEXT));
	EXPECT_EQ(own_label(), own); /* With the answer. */
	EXPECT_EQ(assay_event_pass(line, FALSE), KERN_SUCCESS);
	serve(mach_task_self());
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end();
}

/* How often this task has told that it called `id` on behalf of that label. */
static uint32_t told_of(uint32_t label, uint32_t id)
{
	struct host_request *all = NULL;
	mach_msg_type_number_t n = 0;
	uint32_t count = 0;
	unsigned lost;

	EXPECT_EQ(host_requests_get(host(), &lost, (host_request_array_t *)&all, &n), KERN_SUCCESS);
	EXPECT_EQ(lost, 0);
	for (uint32_t i = 0; i < n / HOST_REQUEST_WORDS; i++)
		if (all[i].label == label && all[i].server == HOST_REQUEST_CALL && all[i].id == id)
			count += all[i].count[0];
	if (n > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)all,
					n * sizeof(uint32_t)),
			  KERN_SUCCESS);
	return count;
}

static void tell_often(uint32_t id, uint32_t times)
{
	for (; times > 0; times--)
		EXPECT_EQ(assay_count_call(1, id), KERN_SUCCESS);
}

/* What the server itself calls for an event goes over, too: to nothing, and to what there is. */
static void tell_and_take(task_t measured)
{
	unsigned own = own_label(), label = 0, event;

	begin();
	EXPECT_EQ(host_requests_count(host()), KERN_SUCCESS);
	EXPECT_EQ(host_calls_for(host(), measured, &label), KERN_SUCCESS);
	count_calls(TRUE);
	for (uint32_t round = 1; round <= 2; round++) {
		serve(line);
		event = own_label();
		tell_often(100, 4);
		EXPECT_EQ(told_of(event, 100), 4);
		serve(mach_task_self());
		EXPECT_EQ(assay_event_attribute(line), KERN_SUCCESS);
		EXPECT_EQ(told_of(event, 100), 0);
		EXPECT_EQ(told_of(own, 100), 4 * round);
	}
	count_calls(FALSE);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end();
}

TEST(what_a_server_calls_for_an_event_is_whose_it_becomes)
{
	task_t other;

	tell_and_take(mach_task_self());
	REQUIRE(task_create(mach_task_self(), FALSE, &other) == KERN_SUCCESS);
	tell_and_take(other); /* It is the server's own, whoever's calls are told apart. */
	EXPECT_EQ(task_terminate(other), KERN_SUCCESS);
	port_drop_send(other);
}

/* A server's thread that waits already goes over with what it waits for. */
static void serve_and_read(void *unused)
{
	(void)unused;
	serve(line);
	read_bytes(strlen(TEXT));
}

TEST(who_comes_to_wait_has_it_passed_on)
{
	struct list events = {.n = 0};
	unsigned label = 0;

	begin();
	EXPECT_EQ(host_calls_for(host(), mach_task_self(), &label), KERN_SUCCESS);
	worker_start(0, serve_and_read, NULL);
	sleep_ms(5);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	count_calls(TRUE);
	loop_type(LOOP_COM1, TEXT);
	worker_join(0);
	EXPECT_EQ(event_used(&events), 0);
	count_calls(FALSE);
	EXPECT_EQ(assay_event_pass(line, FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end();
}

/* Who waited has given up before the server reads: nobody knows again for whom. */
TEST(who_serves_a_line_works_for_who_waits)
{
	unsigned own = own_label();

	begin();
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	serve(line);
	EXPECT_EQ(own_label(), own);
	EXPECT_EQ(assay_event_pass(line, FALSE), KERN_SUCCESS);
	loop_type(LOOP_COM1, TEXT);
	read_bytes(strlen(TEXT));
	EXPECT_LE(PROF_LABEL_EVENTS, own_label());
	serve(mach_task_self());
	end();
}

/* ---------------- Several ---------------- */

/* Tasks that do nothing, and are served. */
static mach_port_t clients[2];

#define ROUNDS  20u
#define PASSES  100u
#define SERVERS 2u

static uint32_t work_for(mach_port_t client)
{
	serve(client);
	return assay_thread_label();
}

static void begin_with_clients(void)
{
	begin();
	for (unsigned n = 0; n < 2; n++)
		clients[n] = child_new();
}

static void end_with_clients(void)
{
	serve(mach_task_self());
	EXPECT_EQ(assay_event_pass(line, FALSE), KERN_SUCCESS);
	for (unsigned n = 0; n < 2; n++)
		child_end(clients[n]);
	end();
}

/* A worker: works for this, waits for its turn, and reads. */
struct reader {
	mach_port_t serves;
	uint32_t label; /* At last. */
	volatile bool is_ready;
	volatile bool may_read;
};

static void serve_wait_and_read(void *argument)
{
	struct reader *reader = argument;

	serve(reader->serves);
	reader->is_ready = true;
	while (!reader->may_read)
		swtch();
	read_byte();
	reader->label = assay_thread_label();
}

static void reader_start(uint32_t n, struct reader *reader, mach_port_t serves)
{
	*reader = (struct reader){.serves = serves};
	worker_start(n, serve_wait_and_read, reader);
	while (!reader->is_ready)
		swtch();
}

/* It waits for a byte now. */
static void reader_let_read(struct reader *reader)
{
	reader->may_read = true;
	sleep_ms(5);
}

/* Another thread that came to work for the line later, for somebody else, changes nothing of it. */
TEST(who_serves_a_line_reads_for_whom_it_is_by_then)
{
	struct reader reader;
	uint32_t second;

	begin_with_clients();
	work_for(clients[0]);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	reader_start(0, &reader, line);
	second = work_for(clients[1]);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	serve(line);
	EXPECT_EQ(assay_thread_label(), second);
	reader_let_read(&reader);
	loop_type(LOOP_COM1, "a");
	worker_join(0);
	EXPECT_EQ(reader.label, second);
	end_with_clients();
}

/* It has not said that it works for the line, but reads for a client, for whom all was before. */
TEST(what_a_client_has_read_is_its_own)
{
	struct reader reader;
	uint32_t first;

	begin_with_clients();
	first = work_for(clients[0]);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	serve(line);
	reader_start(0, &reader, clients[0]);
	work_for(clients[1]);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
	reader_let_read(&reader);
	EXPECT_EQ(assay_event_pass(line, FALSE), KERN_SUCCESS);
	loop_type(LOOP_COM1, "a");
	worker_join(0);
	EXPECT_EQ(reader.label, first);
	end_with_clients();
}

/* What several do at once, on several CPUs. */
static struct {
	uint32_t labels[SERVERS +
			1]; /* Of those who worked for the line, and of another, at last. */
	volatile bool goes_on;
} several;

/* It works for the line, and reads what comes; then says for whom that was. */
static void serve_often_and_read(void *argument)
{
	uint32_t *label = argument;

	do
		serve(line);
	while (several.goes_on);
	read_byte();
	*label = assay_thread_label();
}

static void read_for_first(void *argument)
{
	uint32_t *label = argument;

	serve(clients[0]);
	while (several.goes_on)
		swtch();
	read_byte();
	*label = assay_thread_label();
}

static void readers_start(void)
{
	several.goes_on = true;
	for (unsigned n = 0; n < SERVERS; n++)
		worker_start(n, serve_often_and_read, &several.labels[n]);
	worker_start(SERVERS, read_for_first, &several.labels[SERVERS]);
}

/* One has said in turn that it is for each of them, while others worked for it. */
TEST(all_who_serve_a_line_read_for_the_last)
{
	uint32_t first, second;

	begin_with_clients();
	first = work_for(clients[0]);
	second = work_for(clients[1]);
	for (unsigned round = 0; round < ROUNDS; round++) {
		readers_start();
		for (unsigned pass = 0; pass < PASSES; pass++) {
			work_for(clients[pass % 2]);
			EXPECT_EQ(assay_event_pass(line, TRUE), KERN_SUCCESS);
		}
		several.goes_on = false;
		sleep_ms(2);
		loop_type(LOOP_COM1, "abc");
		for (unsigned n = 0; n <= SERVERS; n++)
			worker_join(n);
		for (unsigned n = 0; n < SERVERS; n++)
			EXPECT_EQ(several.labels[n], second);
		EXPECT_EQ(several.labels[SERVERS], first);
	}
	end_with_clients();
}

/* ---------------- Between moments ---------------- */

#define PORTS 100u

static uint32_t calls_of(unsigned label)
{
	struct list list = list_of(label);
	uint32_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		sum += list.calls[i].count[0];
	list_free(list);
	return sum;
}

static uint32_t calls_of_events(void)
{
	return calls_of(PROF_LABEL_EVENTS) + calls_of(PROF_LABEL_EVENTS + 1);
}

static void make_ports(void)
{
	for (unsigned n = 0; n < PORTS; n++)
		port_drop_receive(port_new());
}

/* The CPU counts for the event at the moment that counting ends; claimed then, or in the next. */
static void end_counting_in_the_midst(bool begins_again)
{
	count_calls(TRUE);
	serve(line);
	make_ports();
	count_calls(FALSE);
	serve(mach_task_self());
	EXPECT_LT(PORTS, calls_of_events());
	if (begins_again)
		count_calls(TRUE);
	EXPECT_EQ(assay_event_attribute(line), KERN_SUCCESS);
	EXPECT_EQ(calls_of_events(), 0);
	if (begins_again)
		count_calls(FALSE);
}

TEST(what_was_counted_can_be_claimed_when_counting_has_ended)
{
	unsigned label = 0;
	uint32_t before;

	begin();
	EXPECT_EQ(host_calls_for(host(), mach_task_self(), &label), KERN_SUCCESS);
	for (unsigned round = 0; round < 2; round++) {
		before = calls_of(label);
		end_counting_in_the_midst(false);
		EXPECT_LT(before + PORTS, calls_of(label));
		before = calls_of(label);
		end_counting_in_the_midst(true);
		EXPECT_LT(before + PORTS, calls_of(label));
	}
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end();
}

/* By calls that no event has had before: those are elsewhere (kernel/i386/patch/gather.h). */
static void map_pages(void)
{
	for (unsigned n = 0; n < PORTS; n++) {
		vm_address_t address = 0;

		EXPECT_EQ(vm_allocate(mach_task_self_cached(), &address, PAGE_SIZE, TRUE),
			  KERN_SUCCESS);
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), address, PAGE_SIZE), KERN_SUCCESS);
	}
}

/* Who works for one event can take what was another's, which is the first one's then. */
TEST(an_events_work_can_become_another_events)
{
	mach_port_t console;
	unsigned label = 0;

	begin();
	REQUIRE(device_open(check_number(0), D_READ | D_WRITE, "console", &console) == D_SUCCESS);
	EXPECT_EQ(host_calls_for(host(), mach_task_self(), &label), KERN_SUCCESS);
	count_calls(TRUE);
	for (unsigned round = 0; round < 2; round++) {
		serve(line);
		map_pages();
		serve(console);
		EXPECT_EQ(assay_event_attribute(line), KERN_SUCCESS);
		serve(mach_task_self());
		EXPECT_LT(PORTS, calls_of_events());
		EXPECT_EQ(assay_event_attribute(line), KERN_SUCCESS);
		EXPECT_LT(PORTS, calls_of_events());
		EXPECT_EQ(assay_event_attribute(console), KERN_SUCCESS);
		EXPECT_EQ(calls_of_events(), 0);
	}
	count_calls(FALSE);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	EXPECT_EQ(device_close(console), D_SUCCESS);
	port_drop_send(console);
	end();
}

TEST(only_lines_have_events)
{
	mach_port_t log, none = port_new();

	begin();
	REQUIRE(device_open(check_number(0), D_WRITE, "log", &log) == D_SUCCESS);
	EXPECT_EQ(assay_event_pass(log, TRUE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_event_attribute(log), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_serve(log), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_event_pass(none, TRUE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_event_attribute(MACH_PORT_NULL), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_event_attribute(mach_task_self()), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(device_close(log), D_SUCCESS);
	port_drop_send(log);
	port_destroy(none);
	EXPECT_EQ(device_close(line), D_SUCCESS);
	EXPECT_EQ(assay_event_pass(line, TRUE), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_event_attribute(line), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(assay_thread_serve(line), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(mach_port_deallocate(mach_task_self(), line), KERN_SUCCESS);
}
