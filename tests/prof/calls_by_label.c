/* SPDX-License-Identifier: MIT */
/*
 * The kernel's calls by label: what host_calls_for() and host_calls_get_for() answer, and loads for
 * test_call_labels.py, which knows from elsewhere for whom each function was called.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=4 arguments="${host-port}"
 */
#include <mach/calls.h>
#include <mach/messages.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define CALLS 1000u
#define MANY  100u

static mach_port_t host(void)
{
	return check_number(0);
}

static void work(void)
{
	mach_port_type_t type;

	for (uint32_t i = 0; i < CALLS; i++)
		EXPECT_EQ(mach_port_type(mach_task_self_cached(), mach_task_self_cached(), &type),
			  KERN_SUCCESS);
}

struct list {
	struct host_call *calls;
	uint32_t n;
};

static struct list list_from(unsigned *words, mach_msg_type_number_t n)
{
	return (struct list){(struct host_call *)words, n / HOST_CALL_WORDS};
}

static struct list list_of(unsigned label)
{
	mach_msg_type_number_t n = 0;
	unsigned *words = NULL;

	EXPECT_EQ(host_calls_get_for(host(), label, &words, &n), KERN_SUCCESS);
	return list_from(words, n);
}

static struct list list_of_all(void)
{
	mach_msg_type_number_t n = 0;
	unsigned *words = NULL;
	boolean_t on;

	EXPECT_EQ(host_calls_get(host(), HOST_CALLS_ALL_CPUS, &on, &words, &n), KERN_SUCCESS);
	return list_from(words, n);
}

static void list_free(struct list list)
{
	if (list.n > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)list.calls,
					list.n * sizeof *list.calls),
			  KERN_SUCCESS);
}

static uint64_t call_count(const struct host_call *call)
{
	return call->count[0] + ((uint64_t)call->count[1] << 32);
}

static uint64_t list_sum(struct list list)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < list.n; i++)
		sum += call_count(&list.calls[i]);
	list_free(list);
	return sum;
}

static unsigned count_for(mach_port_t task)
{
	unsigned label = 0;

	EXPECT_EQ(host_calls_for(host(), task, &label), KERN_SUCCESS);
	return label;
}

/* In this machine nothing was counted yet. */
TEST(who_never_was_counted_has_none)
{
	unsigned label = count_for(mach_task_self_cached());

	EXPECT_EQ(list_sum(list_of(label)), 0);
	EXPECT_EQ(list_sum(list_of_all()), 0);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* Each call was made for somebody, and for one only. */
TEST(labels_add_up)
{
	unsigned label = count_for(mach_task_self_cached());
	uint64_t mine, systems, others;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	work();
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	mine = list_sum(list_of(label));
	systems = list_sum(list_of(HOST_CALLS_SYSTEM));
	others = list_sum(list_of(HOST_CALLS_OTHERS));
	print("# mine %u system %u others %u\n", (uint32_t)mine, (uint32_t)systems,
	      (uint32_t)others);
	EXPECT(mine >= CALLS);
	EXPECT_EQ(list_sum(list_of_all()), mine + systems + others);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* ---------------- A load whose calls are known from elsewhere ---------------- */

static void print_calls(unsigned label)
{
	struct list list = list_of(label);

	for (uint32_t i = 0; i < list.n; i++)
		print("# for %08x call %08x %08x %u\n", label, list.calls[i].from, list.calls[i].to,
		      list.calls[i].count[0]);
	list_free(list);
}

TEST(a_load_for_one)
{
	unsigned label = count_for(mach_task_self_cached());

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	for (unsigned i = 0; i < MANY; i++) /* Several ticks come meanwhile. */
		work();
	print_calls(label);
	print_calls(HOST_CALLS_SYSTEM);
	print_calls(HOST_CALLS_OTHERS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* Whose counts are asked for has none afterwards, and the total is there before. */
TEST(labels_are_forgotten_by_a_reset)
{
	unsigned label = count_for(mach_task_self_cached());
	mach_msg_type_number_t n;
	unsigned *words;

	EXPECT_EQ(count_for(mach_task_self_cached()), label);
	EXPECT_EQ(list_sum(list_of(label)), 0);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	EXPECT_EQ(host_calls_get_for(host(), label, &words, &n), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_calls_get_for(host(), HOST_CALLS_OTHERS, &words, &n), KERN_INVALID_ARGUMENT);
}

/* Who begins to be told apart while calls are counted has counts from then on. */
TEST(a_label_may_come_later)
{
	unsigned label;
	uint64_t mine;

	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	work();
	label = count_for(mach_task_self_cached());
	work();
	mine = list_sum(list_of(label));
	EXPECT(mine >= CALLS);
	EXPECT(list_sum(list_of(HOST_CALLS_OTHERS)) >= CALLS);
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT(list_sum(list_of(label)) >= mine);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* As many as there may be; one more is refused, and harms none of them. */
TEST(there_is_an_end_of_labels)
{
	mach_port_t tasks[HOST_CALLS_LABELS];
	unsigned label = 0, labels[HOST_CALLS_LABELS], n = 0;

	for (unsigned i = 0; i < HOST_CALLS_LABELS; i++)
		EXPECT_EQ(task_create(mach_task_self_cached(), FALSE, &tasks[i]), KERN_SUCCESS);
	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	while (n < HOST_CALLS_LABELS &&
	       host_calls_for(host(), tasks[n], &labels[n]) == KERN_SUCCESS)
		n++;
	/* The system's is one of them.  The checked kernel runs out of memory first. */
	EXPECT(n > HOST_CALLS_LABELS / 4 && n < HOST_CALLS_LABELS);
	EXPECT_EQ(host_calls_for(host(), tasks[n], &label), KERN_RESOURCE_SHORTAGE);
	for (unsigned i = 0; i < HOST_CALLS_LABELS; i++) {
		EXPECT_EQ(task_terminate(tasks[i]), KERN_SUCCESS);
		EXPECT_EQ(mach_port_deallocate(mach_task_self_cached(), tasks[i]), KERN_SUCCESS);
	}
	work();
	EXPECT(list_sum(list_of(HOST_CALLS_OTHERS)) >= CALLS);
	EXPECT_EQ(list_sum(list_of(labels[0])), 0); /* It never ran. */
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* ---------------- Children ---------------- */

static mach_port_t make_child(mach_port_t parent)
{
	mach_port_t child = MACH_PORT_NULL;

	EXPECT_EQ(task_create(parent, FALSE, &child), KERN_SUCCESS);
	return child;
}

static void end_child(mach_port_t child)
{
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	EXPECT_EQ(mach_port_deallocate(mach_task_self_cached(), child), KERN_SUCCESS);
}

static host_call_labels_t labels_told_apart(void)
{
	host_call_labels_t labels;

	EXPECT_EQ(host_calls_labels(host(), &labels), KERN_SUCCESS);
	return labels;
}

/* From when it is asked for until the reset; children's children, too, and nobody else's. */
TEST(children_have_counts_of_their_own)
{
	mach_port_t stranger = make_child(mach_task_self_cached()), first, second, third;
	mach_port_t parent = make_child(mach_task_self_cached());
	host_call_labels_t labels = labels_told_apart();
	unsigned label;

	EXPECT_EQ(labels.n, 0);
	label = count_for(parent);
	first = make_child(parent);
	EXPECT_EQ(host_calls_children(host()), KERN_SUCCESS);
	second = make_child(parent);
	third = make_child(second);
	end_child(make_child(stranger));
	end_child(make_child(first));
	labels = labels_told_apart();
	EXPECT_EQ(labels.n, 3);
	EXPECT_EQ(labels.missed, 0);
	EXPECT_EQ(labels.labels[0], label);
	EXPECT_EQ(labels.labels[1], count_for(second));
	EXPECT_EQ(labels.labels[2], count_for(third));
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end_child(make_child(second));
	EXPECT_EQ(labels_told_apart().n, 0);
	label = count_for(parent);
	end_child(make_child(parent));
	EXPECT_EQ(labels_told_apart().n, 1);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	end_child(third);
	end_child(second);
	end_child(first);
	end_child(parent);
	end_child(stranger);
}

/* A child is made whether there is room or not, and is counted as one that was missed if not. */
TEST(children_without_room_are_missed)
{
	mach_port_t parent = make_child(mach_task_self_cached()), last = MACH_PORT_NULL;
	host_call_labels_t labels;
	unsigned n = 0;

	count_for(parent);
	EXPECT_EQ(host_calls_children(host()), KERN_SUCCESS);
	do {
		if (last != MACH_PORT_NULL)
			end_child(last);
		last = make_child(parent);
		labels = labels_told_apart();
		n++;
	} while (labels.missed == 0 && n < HOST_CALLS_LABELS);
	EXPECT_EQ(labels.missed, 1);
	EXPECT_EQ(labels.n, n); /* The parent's is one of them. */
	end_child(make_child(last));
	EXPECT_EQ(labels_told_apart().missed, 2);
	EXPECT_EQ(labels_told_apart().n, n);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	EXPECT_EQ(labels_told_apart().missed, 0);
	end_child(last);
	end_child(parent);
}

/* ---------------- Requests ---------------- */

#define ID  4711
#define FEW 7u

/* The number of this task. */
static uint32_t begin_requests(void)
{
	uint32_t own = count_for(mach_task_self_cached());

	EXPECT_EQ(host_requests_count(host()), KERN_SUCCESS);
	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	return own;
}

static void end_requests(void)
{
	EXPECT_EQ(host_calls_count(host(), FALSE), KERN_SUCCESS);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
}

/* How often this task has asked the server for that, and from how many places in it. */
static uint32_t requests_of(uint32_t own, uint32_t server, uint32_t id, uint32_t *places,
			    unsigned *lost)
{
	mach_msg_type_number_t n = 0;
	struct host_request *all = NULL;
	uint32_t count = 0;

	*places = 0;
	EXPECT_EQ(host_requests_get(host(), lost, (host_request_array_t *)&all, &n), KERN_SUCCESS);
	for (uint32_t i = 0; i < n / HOST_REQUEST_WORDS; i++) {
		const struct host_request *request = &all[i];

		if (request->task == own && request->label == own && request->id == id &&
		    request->server == server && request->count[0] != 0) {
			EXPECT_EQ(request->count[1], 0);
			count += request->count[0];
			++*places;
		}
	}
	if (n > 0)
		EXPECT_EQ(vm_deallocate(mach_task_self_cached(), (vm_address_t)all,
					n * sizeof(uint32_t)),
			  KERN_SUCCESS);
	return count;
}

static __attribute__((noinline)) void ask(mach_port_t port, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, ID);
}

/* By two functions, each so often: a place is one with all its callers. */
TEST(requests_are_counted_by_place)
{
	const volatile uint32_t few = FEW; /* Compilers make several places of a known few. */
	mach_port_t port = port_new();
	uint32_t places, own = begin_requests();
	unsigned lost;

	for (uint32_t i = 0; i < few; i++) {
		ask(port, 1);
		message_drain(port);
	}
	ask(port, 2);
	message_drain(port);
	work();
	EXPECT_EQ(requests_of(own, own, ID, &places, &lost), FEW + 2);
	EXPECT_EQ(places, 2);
	EXPECT_EQ(requests_of(own, 0, ID_MACH_PORT_TYPE, &places, &lost), CALLS);
	EXPECT_EQ(lost, 0);
	end_requests();
	port_destroy(port);
}

/* Nobody has asked for it. */
TEST(requests_are_not_counted_by_themselves)
{
	mach_msg_type_number_t n;
	unsigned lost, *words;

	count_for(mach_task_self_cached());
	EXPECT_EQ(host_calls_count(host(), TRUE), KERN_SUCCESS);
	EXPECT_EQ(host_requests_get(host(), &lost, &words, &n), KERN_INVALID_ARGUMENT);
	end_requests();
}

/* What finds no room, or nobody, was not sent; and a reply is no request. */
TEST(what_is_no_request)
{
	mach_port_t port = port_new(), reply = port_new(), once = port_send_once(reply);
	mach_port_t dead = port_new_with_send();
	uint32_t places, own = begin_requests();
	unsigned lost;

	port_drop_receive(dead);
	ask(port, MACH_PORT_QLIMIT_DEFAULT + FEW);
	EXPECT_EQ(message_send_id(dead, MACH_MSG_TYPE_COPY_SEND, ID), MACH_SEND_INVALID_DEST);
	EXPECT_EQ(message_send_id(once, MACH_MSG_TYPE_MOVE_SEND_ONCE, ID), MACH_MSG_SUCCESS);
	EXPECT_EQ(message_send_id(reply, MACH_MSG_TYPE_MAKE_SEND_ONCE, ID), MACH_MSG_SUCCESS);
	EXPECT_EQ(requests_of(own, own, ID, &places, &lost), MACH_PORT_QLIMIT_DEFAULT);
	EXPECT_EQ(requests_of(own, 0, ID, &places, &lost), 0);
	EXPECT_EQ(message_drain(port), MACH_PORT_QLIMIT_DEFAULT);
	end_requests();
	port_destroy(port);
	port_destroy(reply);
	port_destroy(dead);
}

/* Of more different ones than there is room for, those that have none are known by number. */
TEST(there_is_an_end_of_requests)
{
	mach_port_t port = port_new();
	uint32_t places, own = begin_requests();
	unsigned lost;

	requests_of(own, own, ID, &places, &lost);
	for (uint32_t i = 0; i < HOST_REQUESTS_MAX + FEW; i++) {
		EXPECT_EQ(message_send_id(port, MACH_MSG_TYPE_MAKE_SEND, (mach_msg_id_t)(ID + i)),
			  MACH_MSG_SUCCESS);
		message_drain(port);
	}
	/* These calls are requests, too. */
	EXPECT_EQ(requests_of(own, own, ID + HOST_REQUESTS_MAX, &places, &lost), 0);
	EXPECT(lost >= FEW && lost <= 2 * FEW);
	EXPECT_EQ(requests_of(own, own, ID, &places, &lost), 1);
	EXPECT_EQ(host_calls_reset(host()), KERN_SUCCESS);
	EXPECT_EQ(requests_of(own, own, ID, &places, &lost), 0);
	EXPECT_EQ(lost, 0);
	end_requests();
	port_destroy(port);
}

TEST(wrong_calls)
{
	mach_msg_type_number_t n;
	host_call_labels_t labels;
	unsigned label, lost, *words;

	EXPECT_EQ(host_calls_children(mach_host_self()), KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_labels(mach_host_self(), &labels), KERN_INVALID_HOST);

	EXPECT_EQ(host_requests_count(mach_host_self()), KERN_INVALID_HOST);
	EXPECT_EQ(host_requests_get(mach_host_self(), &lost, &words, &n), KERN_INVALID_HOST);
	EXPECT_EQ(host_requests_get(host(), &lost, &words, &n), KERN_INVALID_ARGUMENT);

	EXPECT_EQ(host_calls_for(mach_host_self(), mach_task_self_cached(), &label),
		  KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_for(host(), mach_host_self(), &label), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(host_calls_get_for(mach_host_self(), HOST_CALLS_SYSTEM, &words, &n),
		  KERN_INVALID_HOST);
	EXPECT_EQ(host_calls_get_for(host(), HOST_CALLS_SYSTEM, &words, &n), KERN_INVALID_ARGUMENT);
}
