/* SPDX-License-Identifier: MIT */
/*
 * Collectors, their ports and their threads: see <prof/collector.h>.
 *
 * Samples and requests come to ports of one set, from which the collector's thread receives: so
 * nothing in it is guarded.  The list of all collectors is, by `list_lock`, which is held for a few
 * instructions: a request's routine gets the number of a port, and finds the collector there.
 */
#include "collector.h"

#include <mach.h>
#include <mach/thread_switch.h>
#include <servers/gprof_server.h>

#include "arcs.h"
#include "message.h"
#include "pages.h"
#include "ports.h"
#include "prof_thread.h"

#define STACK_SIZE 65536u /* Of its thread. */
#define IDLE_MS    60000u /* Until a thread is terminated, which it is at once. */

#define STATUS_ENDS 128u /* What an answer with counts has around them, at most. */

boolean_t gprof_server(mach_msg_header_t *request, mach_msg_header_t *reply);
kern_return_t thread_switch(mach_port_t thread, int option, mach_msg_timeout_t milliseconds);

union buffer {
	mach_msg_header_t head;
	mig_reply_header_t reply;
	char room[PROF_MESSAGE_MAX];
};

_Static_assert(sizeof(gprof_status_t) + STATUS_ENDS < PROF_MESSAGE_MAX, "the longest answer");

/* ---------------- All of them ---------------- */

static struct prof_collector *list; /* Those with ports, the newest first. */
static int list_lock;

/* Whoever holds it may have a lower priority than we. */
static void lock(void)
{
	while (__atomic_exchange_n(&list_lock, 1, __ATOMIC_ACQUIRE) != 0)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_DEPRESS, 1);
}

static void unlock(void)
{
	__atomic_store_n(&list_lock, 0, __ATOMIC_RELEASE);
}

/* False, and it is not listed: the program's calls are another's. */
static bool enlist(struct prof_collector *collector)
{
	bool is_possible = true;

	lock();
	for (const struct prof_collector *other = list; other != NULL; other = other->next)
		is_possible &= !other->target.counts_calls || !collector->target.counts_calls;
	if (is_possible) {
		collector->next = list;
		list = collector;
	}
	unlock();
	return is_possible;
}

/* Nothing, if it is not listed. */
static void delist(const struct prof_collector *collector)
{
	struct prof_collector **place = &list;

	lock();
	while (*place != NULL && *place != collector)
		place = &(*place)->next;
	if (*place != NULL)
		*place = collector->next;
	unlock();
}

struct prof_collector *__collector_of(mach_port_t port)
{
	struct prof_collector *collector;

	lock();
	for (collector = list; collector != NULL; collector = collector->next)
		if (collector->control == port || collector->known == port)
			break;
	unlock();
	return collector;
}

/* ---------------- Serving ---------------- */

static void answer(mach_msg_header_t *request)
{
	union buffer reply;

	gprof_server(request, &reply.head);
	request->msgh_remote_port = MACH_PORT_NULL; /* It is the answer's now. */
	mach_msg_destroy(request);
	__message_answer(&reply.reply);
}

bool prof_collector_feed(struct prof_collector *collector, mach_msg_header_t *message)
{
	mach_port_t port = message->msgh_local_port;

	if (port == MACH_PORT_NULL)
		return false;
	if (port == collector->samples)
		__collector_take(collector, message);
	else if (port == collector->control || port == collector->known)
		answer(message);
	else
		return false;
	return true;
}

static void handle(struct prof_collector *collector, mach_msg_header_t *message)
{
	if (prof_collector_feed(collector, message))
		return;
	if (collector->target.other != NULL)
		collector->target.other(collector->target.context, message);
	else
		mach_msg_destroy(message);
}

/* A message that could not be received whole is one less; its sender knows. */
kern_return_t prof_collector_serve(struct prof_collector *collector, mach_msg_timeout_t timeout_ms)
{
	mach_msg_option_t option = MACH_RCV_MSG;
	union buffer message;
	mach_msg_return_t result;

	if (timeout_ms != MACH_MSG_TIMEOUT_NONE)
		option |= MACH_RCV_TIMEOUT;
	result = mach_msg(&message.head, option, 0, sizeof message, collector->set, timeout_ms,
			  MACH_PORT_NULL);
	switch (result & ~MACH_MSG_MASK) {
	case MACH_MSG_SUCCESS:
		handle(collector, &message.head);
		return KERN_SUCCESS;
	case MACH_RCV_BODY_ERROR:
		mach_msg_destroy(&message.head);
		return KERN_SUCCESS;
	case MACH_RCV_HEADER_ERROR:
	case MACH_RCV_TOO_LARGE:
		return KERN_SUCCESS;
	default:
		return result;
	}
}

/* ---------------- Its own thread ---------------- */

/*
 * Whoever has asked for the end terminates this thread when the answer has come: had it called the
 * kernel for that itself, it would have kept a reply port.
 */
static _Noreturn void tell_ended(mach_port_t asker)
{
	mach_msg_header_t message = {
		.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_MOVE_SEND_ONCE, 0),
		.msgh_size = sizeof message,
		.msgh_remote_port = asker,
		.msgh_id = ID_END_THREAD,
	};

	mach_msg(&message, MACH_SEND_MSG, sizeof message, 0, MACH_PORT_NULL, MACH_MSG_TIMEOUT_NONE,
		 MACH_PORT_NULL);
	for (;;)
		thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, IDLE_MS);
}

/* Without an end that was asked for its ports are gone. */
static _Noreturn void run(void *argument)
{
	struct prof_collector *collector = argument;

	while (collector->ended == MACH_PORT_NULL &&
	       prof_collector_serve(collector, MACH_MSG_TIMEOUT_NONE) == KERN_SUCCESS)
		continue;
	if (collector->ended != MACH_PORT_NULL)
		tell_ended(collector->ended);
	thread_terminate(collector->thread);
	__builtin_trap();
}

static void free_stack(struct prof_collector *collector)
{
	if (collector->stack != NULL)
		__prof_pages_free(collector->stack, STACK_SIZE);
	collector->stack = NULL;
}

/* What its thread had: nobody runs on the stack any more. */
static void free_own_thread(struct prof_collector *collector)
{
	if (collector->asker != MACH_PORT_NULL)
		mach_port_destroy(mach_task_self_cached(), collector->asker);
	collector->asker = MACH_PORT_NULL;
	free_stack(collector);
}

kern_return_t prof_collector_run(struct prof_collector *collector)
{
	kern_return_t result;

	if (collector->stack != NULL || collector->set == MACH_PORT_NULL)
		return KERN_INVALID_ARGUMENT;
	collector->stack = __prof_pages(STACK_SIZE);
	result = collector->stack == NULL
			 ? KERN_RESOURCE_SHORTAGE
			 : mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_RECEIVE,
					      &collector->asker);
	if (result == KERN_SUCCESS)
		result = __prof_thread_start(run, collector, (char *)collector->stack + STACK_SIZE,
					     &collector->thread, &collector->collection.own_thread);
	if (result != KERN_SUCCESS)
		free_own_thread(collector);
	return result;
}

/* When this returns, the thread is done with all it had in hand, and runs no more. */
static void end_thread(struct prof_collector *collector)
{
	union buffer message = {.head = {.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND,
								     MACH_MSG_TYPE_MAKE_SEND_ONCE),
					 .msgh_size = sizeof message.head,
					 .msgh_remote_port = collector->samples,
					 .msgh_local_port = collector->asker,
					 .msgh_id = ID_END_THREAD}};

	mach_msg(&message.head, MACH_SEND_MSG | MACH_RCV_MSG, sizeof message.head, sizeof message,
		 collector->asker, MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
	thread_terminate(collector->thread);
	mach_port_deallocate(mach_task_self_cached(), collector->thread);
	free_own_thread(collector);
}

/* ---------------- Its ports ---------------- */

static bool has_stream(const struct prof_collector_target *target)
{
	return target->task != MACH_PORT_NULL || target->begin != NULL;
}

static kern_return_t make_ports(struct prof_collector *collector)
{
	const struct prof_collector_target *target = &collector->target;
	kern_return_t result = KERN_SUCCESS;

	collector->set = target->set;
	if (collector->set == MACH_PORT_NULL)
		result = mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_PORT_SET,
					    &collector->set);
	if (result == KERN_SUCCESS)
		result = __prof_port_member(&collector->samples, collector->set);
	if (result == KERN_SUCCESS)
		result = __prof_port_member(&collector->control, collector->set);
	collector->known = collector->control;
	if (result == KERN_SUCCESS && target->owner_only)
		result = __prof_port_member(&collector->known, collector->set);
	if (result == KERN_SUCCESS && target->proxy != 0 && target->task != MACH_PORT_NULL &&
	    !target->with_children)
		result = __prof_port_watch(target->task, collector->samples);
	return result;
}

static void destroy_port(mach_port_t port)
{
	if (port != MACH_PORT_NULL)
		mach_port_destroy(mach_task_self_cached(), port);
}

static void destroy_ports(struct prof_collector *collector)
{
	destroy_port(collector->samples);
	if (collector->known != collector->control)
		destroy_port(collector->known);
	destroy_port(collector->control);
	if (collector->target.set == MACH_PORT_NULL)
		destroy_port(collector->set);
}

kern_return_t prof_collector_add_port(struct prof_collector *collector, mach_port_t *port)
{
	return __prof_port_member(port, collector->set);
}

mach_port_t prof_collector_public_port(const struct prof_collector *collector)
{
	return collector->known;
}

mach_port_t prof_collector_port(const struct prof_collector *collector)
{
	return collector->control;
}

uint32_t prof_collector_beginnings(const struct prof_collector *collector)
{
	return collector->beginnings;
}

bool prof_collector_target_ended(const struct prof_collector *collector)
{
	return collector->target_ended;
}

/* Takes the same time for every wrong token.  No token at all is nobody's. */
bool __collector_admits(const struct prof_collector *collector, const char *token)
{
	const char *ours = collector->target.token;
	unsigned different = 0;

	if (!collector->target.owner_only)
		return true;
	if (ours[0] == '\0')
		return false;
	for (size_t n = 0; n < sizeof collector->target.token; n++) {
		different |= (unsigned)(token[n] ^ ours[n]);
		if (ours[n] == '\0')
			break; /* What is behind the string is anything. */
	}
	return different == 0;
}

/* ---------------- Making and ending ---------------- */

static void fill_in(struct prof_collector *collector, const struct prof_collector_target *target)
{
	struct collection *collection = &collector->collection;

	collector->target = *target;
	*collection = (struct collection){.low = target->low,
					  .high = target->high,
					  .pid = target->pid,
					  .name = target->name,
					  .task = target->task_id,
					  .of_kernel = target->of_kernel,
					  .runs_here = target->runs_here,
					  .only_task = target->only_task};
	if (target->task != MACH_PORT_NULL)
		collection->task = __prof_task_number(target->task);
	if (target->program != NULL)
		collection->program = *target->program;
	collection->has_program = target->program != NULL
					  ? target->program->high > 0
					  : gmon_program_read(&collection->program, target->image,
							      target->image_size);
}

static void free_memory(struct prof_collector *collector)
{
	free_stack(collector);
	__collection_clear(&collector->collection, 0);
	__prof_pages_free(collector, sizeof *collector);
}

static bool is_sensible(const struct prof_collector_target *target)
{
	return (target->begin != NULL) == (target->end != NULL) &&
	       (target->begin != NULL) == (target->flush != NULL);
}

kern_return_t prof_collector_make(const struct prof_collector_target *target,
				  struct prof_collector **collector)
{
	struct prof_collector *made;
	kern_return_t result = KERN_SUCCESS;

	if (!is_sensible(target))
		return KERN_INVALID_ARGUMENT;
	made = __prof_pages(sizeof *made);
	if (made == NULL)
		return KERN_RESOURCE_SHORTAGE;
	fill_in(made, target);
	if (has_stream(target))
		result = make_ports(made);
	if (result == KERN_SUCCESS && has_stream(target) && !enlist(made))
		result = KERN_NAME_EXISTS;
	if (result != KERN_SUCCESS) {
		destroy_ports(made);
		free_memory(made);
		return result;
	}
	*collector = made;
	return KERN_SUCCESS;
}

void prof_collector_end(struct prof_collector *collector)
{
	if (collector->stack != NULL)
		end_thread(collector);
	__collector_count_calls(collector, false);
	if (collector->flavors != 0)
		__collector_end_stream(collector);
	delist(collector);
	destroy_ports(collector);
	free_memory(collector);
}

/* Nobody else runs in the child: if somebody had the lock, that is over. */
uint32_t prof_collector_forget(struct prof_collector *collector, gprof_options_t *options)
{
	uint32_t flavors = collector->flavors;

	*options = flavors != 0 ? collector->chosen : collector->options;
	options->format = collector->options.format;
	unlock();
	delist(collector);
	__collector_count_calls(collector, false);
	if (collector->target.counts_calls)
		__arcs_clear();
	free_memory(collector);
	return flavors;
}
