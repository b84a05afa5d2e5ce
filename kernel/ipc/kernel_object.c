/* SPDX-License-Identifier: MIT */
/*
 * Calls of the kernel: see kernel_object.h.  Guarded by the kernel lock.
 *
 * A generated server function checks the request's descriptors, converts the ports in it to
 * objects, calls the routine and leaves in the reply its header and its result.  With KERN_SUCCESS
 * the routine has taken what the body carried; with any other result it has taken nothing.
 */
#include "ipc/kernel_object.h"

#include <mach/messages.h>
#include <mach/mig_errors.h>

#include "base/assert.h"
#include "base/string.h"
#include "i386/mmu/copy.h"
#include "ipc/fast_path.h"
#include "ipc/ipc_port.h"
#include "ipc/queue.h"
#include "ipc/right.h"
#include "task/task.h"
#include "thread/thread.h"

#include "mach/assay_server.h"
#include "mach/device_server.h"
#include "mach/gnumach_server.h"
#include "mach/mach4_server.h"
#include "mach/mach_host_server.h"
#include "mach/mach_i386_server.h"
#include "mach/mach_port_server.h"
#include "mach/mach_server.h"

/* Each interface has the ids of one hundred; the next hundred's are those of its replies. */
#define INTERFACE_SIZE 100u

static const mach_msg_type_t result_type = DESCRIBE_UNSIGNED(1);

/* ---------------- Around the stubs ---------------- */

bool ipc_port_check_circularity(struct port *port, struct port *reply_port)
{
	assert(port->state == PORT_MOVING && port->destination == NULL);
	if (port_makes_cycle(port, reply_port))
		return true;
	port->destination = port_reference(reply_port);
	return false;
}

#define STRING_MOST 64u /* Bytes of a string that the stubs hand out, whatever came. */

/* Puts zeroes where the end of a string would be, which the user need not have sent. */
static void kernel_call_end_string(struct message *request)
{
	uint32_t longest = sizeof(mach_msg_header_t) + sizeof(mach_msg_type_t) + STRING_MOST;
	uint32_t size = request->header.msgh_size;

	assert(request->room >= longest);
	if (size < longest)
		memset((char *)&request->header + size, 0, longest - size);
}

/* ---------------- Which stub ---------------- */

/* The ids of all interfaces, device's among them. */
#define ID_FIRST  2000u
#define ID_N      2700u
#define ID_DEVICE 2800u

/* What there is to know of a call before it is made; for an id that is no interface's, no stub. */
struct kernel_call {
	mig_routine_t routine;
	uint16_t more; /* Bytes that the reply may need beyond MESSAGE_SMALL. */
	bool strings;  /* The request may have strings. */
};

static struct kernel_call kernel_calls[ID_N + 1]; /* The last is of all other ids. */

static inline const struct kernel_call *kernel_call_of(const struct message *request)
{
	uint32_t n = (uint32_t)request->header.msgh_id - ID_FIRST;

	return &kernel_calls[n < ID_N ? n : ID_N];
}

/* A message for the reply, or NULL. */
static inline struct message *kernel_call_reply_alloc(const struct kernel_call *call)
{
	return message_alloc(MESSAGE_SMALL + call->more);
}

/* The calls whose replies are larger than a small message. */
static const struct large_reply {
	uint16_t id;
	uint16_t room;
} kernel_call_large[] = {
	{ID_TASK_INFO, MESSAGE_PAGE},           {ID_THREAD_GET_STATE, MESSAGE_PAGE},
	{ID_THREAD_INFO, MESSAGE_PAGE},         {ID_HOST_KERNEL_VERSION, MESSAGE_PAGE},
	{ID_HOST_INFO, MESSAGE_PAGE},           {ID_PROCESSOR_INFO, MESSAGE_PAGE},
	{ID_PROCESSOR_SET_INFO, MESSAGE_PAGE},  {ID_HOST_GET_KERNEL_VERSION, MESSAGE_PAGE},
	{ID_DEVICE_GET_STATUS, MESSAGE_PAGE},   {ID_I386_GET_LDT, MESSAGE_PAGE},
	{ID_VM_PAGES_PHYS, MESSAGE_PAGE},       {ID_HOST_OWNER, MESSAGE_PAGE},
	{ID_TASK_GET_SAMPLED_PCS, MESSAGE_BIG}, {ID_THREAD_GET_SAMPLED_PCS, MESSAGE_BIG},
};

/* Enters the calls of an interface, whose stubs `routine_of` finds. */
static void kernel_object_add(uint32_t first, bool strings,
			      mig_routine_t (*routine_of)(const mach_msg_header_t *header))
{
	for (uint32_t id = first; id < first + INTERFACE_SIZE; id++) {
		mach_msg_header_t header = {.msgh_id = (mach_msg_id_t)id};

		kernel_calls[id - ID_FIRST].routine = routine_of(&header);
		kernel_calls[id - ID_FIRST].strings = strings;
	}
}

void kernel_object_find_stubs(void)
{
	kernel_object_add(2000, false, mach_server_routine);
	kernel_object_add(2600, false, mach_host_server_routine);
	kernel_object_add(ID_DEVICE, false, device_server_routine);
	kernel_object_add(3200, false, mach_port_server_routine);
	kernel_object_add(3800, false, mach_i386_server_routine);
	kernel_object_add(4000, false, mach4_server_routine);
	kernel_object_add(4200, true, gnumach_server_routine);
	kernel_object_add(4600, false, assay_server_routine);
}

void kernel_object_module_init(void)
{
	for (uint32_t i = 0; i < sizeof kernel_call_large / sizeof kernel_call_large[0]; i++) {
		const struct large_reply *reply = &kernel_call_large[i];

		kernel_calls[reply->id - ID_FIRST].more = (uint16_t)(reply->room - MESSAGE_SMALL);
	}
	kernel_object_find_stubs();
}

/* ---------------- The call ---------------- */

/* Writes a reply that says no more than `result`, but for where it goes. */
static inline void kernel_call_reply_init(mig_reply_header_t *reply,
					  const mach_msg_header_t *request, kern_return_t result)
{
	reply->Head.msgh_bits = 0;
	reply->Head.msgh_size = sizeof *reply;
	reply->Head.msgh_id = (mach_msg_id_t)((uint32_t)request->msgh_id + INTERFACE_SIZE);
	reply->RetCodeType = result_type;
	reply->RetCode = result;
}

/*
 * Makes the call: what the request's body carried is gone then, and `reply`, which has room for it,
 * is the answer, but for where it goes.  The caller has the right to the object, as before, and
 * sees to kernel_call_answered().  May block.
 */
static inline void kernel_call(const struct kernel_call *call, struct message *request,
			       struct message *reply)
{
	mig_reply_header_t *answer = (mig_reply_header_t *)&reply->header;

	if (call->strings)
		kernel_call_end_string(request);
	kernel_call_reply_init(answer, &request->header, MIG_BAD_ID);
	if (call->routine != NULL)
		call->routine(&request->header, &answer->Head);
	assert(answer->Head.msgh_size <= reply->room);
	if (answer->RetCode != KERN_SUCCESS && answer->RetCode != MIG_NO_REPLY)
		message_destroy_body(request);
}

/* ---------------- The answer ---------------- */

static inline kern_return_t kernel_call_result(const struct message *reply)
{
	return ((const mig_reply_header_t *)&reply->header)->RetCode;
}

/* Whether a reply right is all that the answer needs to be sent. */
static inline bool kernel_call_replies(const struct message *reply)
{
	return kernel_call_result(reply) != MIG_NO_REPLY &&
	       (reply->header.msgh_bits & MACH_MSGH_BITS_CIRCULAR) == 0;
}

/*
 * A device answers later: its routine has taken the reply right, if it says that there is no reply.
 */
static bool kernel_call_keeps_reply_right(const mach_msg_header_t *asked)
{
	return (uint32_t)asked->msgh_id / INTERFACE_SIZE == ID_DEVICE / INTERFACE_SIZE;
}

/*
 * Gives the reply to a request whose header was `asked` that one's reply right; whether it is to be
 * sent.  If not nothing is left of it but the message: it was a routine without a reply, there is
 * no such right or the routine has taken it for later, or a reply like this cannot be sent.
 */
static bool kernel_call_answered(const mach_msg_header_t *asked, struct message *reply)
{
	struct port *port = (struct port *)asked->msgh_local_port;
	mach_msg_type_name_t kind = MACH_MSGH_BITS_LOCAL(asked->msgh_bits);

	message_set_ports(reply, port, PORT_NULL);
	reply->header.msgh_bits |= MACH_MSGH_BITS(kind, 0);
	reply->header.msgh_seqno = 0;
	if (port_is_valid(port) && kernel_call_replies(reply))
		return true;
	if (kernel_call_result(reply) == MIG_NO_REPLY && kernel_call_keeps_reply_right(asked))
		return false;
	message_destroy_body(reply);
	if (port_is_valid(port))
		right_release(port, kind);
	return false;
}

/* On behalf of whom the reply is: the one for whom the reply right was made. */
static uint32_t kernel_call_label_of_reply(const struct message *reply)
{
	const struct port *port = message_remote(reply);

	if (MACH_MSGH_BITS_REMOTE(reply->header.msgh_bits) == MACH_MSG_TYPE_PORT_SEND_ONCE &&
	    port_is_alive(port))
		return port->label;
	return current_thread()->label;
}

/* Makes the reply a message if the call was answered, and sends it; or frees it. */
static void kernel_call_answer(const mach_msg_header_t *asked, struct message *reply)
{
	if (kernel_call_answered(asked, reply)) {
		reply->label = kernel_call_label_of_reply(reply);
		message_send_always(reply);
	} else {
		message_free(reply);
	}
}

/* ---------------- The fast path ---------------- */

/*
 * Whether the answer can go to the caller at once: it fits, and the call has not changed who
 * receives it.
 */
static inline bool kernel_object_answers_at_once(const struct mach_msg_words *words,
						 const struct space *space,
						 const struct message *answer,
						 const struct port *port)
{
	return kernel_call_replies(answer) && answer->header.msgh_size <= words->rcv_size &&
	       port->receiver == space && port->name == words->rcv_name && port_is_quiet(port) &&
	       list_empty(&port->receivers.waiters);
}

/* Takes the answer, which carries nothing, with its right to the caller's own port. */
static inline mach_msg_return_t kernel_object_answer_at_once(const struct mach_msg_words *words,
							     struct task *task,
							     mach_msg_header_t *answer,
							     struct port *port)
{
	answer->msgh_bits = BITS_REPLY_GIVEN;
	answer->msgh_remote_port = MACH_PORT_NULL;
	answer->msgh_local_port = port->name;
	answer->msgh_seqno = port->seqno++;
	task->messages_received++;
	port_use_send_once(port);
	return (answer->msgh_size <= SHORT_COPY
			? copyout_short(words->message, answer, answer->msgh_size)
			: copyout(words->message, answer, answer->msgh_size))
		       ? MACH_MSG_SUCCESS
		       : MACH_RCV_INVALID_DATA;
}

/* Gives an answer with rights or memory, or sends one that is not for the caller at once. */
static mach_msg_return_t kernel_object_answer_as_message(const struct mach_msg_words *words,
							 struct thread *thread,
							 struct message *answer)
{
	const mach_msg_header_t *asked = &thread->receive.inbox.message.header;
	struct port *port = (struct port *)asked->msgh_local_port;

	if (thread->answer == answer)
		thread->answer = NULL;
	if (!kernel_object_answers_at_once(words, thread->task->space, answer, port)) {
		kernel_call_answer(asked, answer);
		return mach_msg_receive(words, NULL);
	}
	kernel_call_answered(asked, answer);
	answer->label = port->label;
	answer->header.msgh_seqno = port->seqno++;
	return message_copyout(answer, words, MACH_MSG_SUCCESS);
}

mach_msg_return_t kernel_object_call(const struct mach_msg_words *words, struct port *port,
				     struct port *reply)
{
	struct thread *thread = current_thread();
	struct message *request = &thread->receive.inbox.message;
	const struct kernel_call *call = kernel_call_of(request);
	struct message *answer = thread->answer;
	mach_msg_return_t result;

	if (answer == NULL || call->more != 0) {
		answer = kernel_call_reply_alloc(call);
		if (call->more == 0)
			thread->answer = answer;
		if (answer == NULL)
			return FAST_PATH_DECLINED;
	}
	port->send_rights++;
	port->refs++;
	reply->send_once_rights++;
	reply->refs++;
	reply->label = thread->label;
	request->header.msgh_bits = BITS_REQUEST_TAKEN;
	request->header.msgh_size = words->send_size;
	message_set_ports(request, port, reply);
	thread->task->messages_sent++;
	kernel_call(call, request, answer);
	port_release_send_valid(port);
	if (answer->header.msgh_bits != 0 ||
	    !kernel_object_answers_at_once(words, thread->task->space, answer, reply))
		return kernel_object_answer_as_message(words, thread, answer);
	result = kernel_object_answer_at_once(words, thread->task, &answer->header, reply);
	if (answer != thread->answer)
		message_free(answer);
	return result;
}

/* ---------------- The general path ---------------- */

static void kernel_call_use_up_right(const mach_msg_header_t *asked)
{
	right_release((struct port *)asked->msgh_remote_port,
		      MACH_MSGH_BITS_REMOTE(asked->msgh_bits));
}

/* There is no memory for a reply: the request itself becomes one that says so. */
static void kernel_call_answer_shortage(struct message *request)
{
	mach_msg_header_t asked = request->header;

	message_destroy_body(request);
	kernel_call_use_up_right(&asked);
	kernel_call_reply_init((mig_reply_header_t *)&request->header, &asked,
			       KERN_RESOURCE_SHORTAGE);
	kernel_call_answer(&asked, request);
}

/*
 * A request that asks for no reply, whose result nobody will see: needs no memory.  What pagers
 * answer when there is none left is such a request.
 */
static void kernel_call_without_reply(struct message *request)
{
	struct {
		struct message message;
		uint8_t body[MESSAGE_SMALL - sizeof(mach_msg_header_t)];
	} reply;

	message_init(&reply.message, MESSAGE_SMALL);
	kernel_call(kernel_call_of(request), request, &reply.message);
	kernel_call_use_up_right(&request->header);
	message_destroy_body(&reply.message);
	message_free(request);
}

void kernel_object_send(struct message *request)
{
	const struct kernel_call *call = kernel_call_of(request);
	struct message *reply;

	if (!port_is_valid(message_local(request)) && call->more == 0) {
		kernel_call_without_reply(request);
		return;
	}
	reply = kernel_call_reply_alloc(call);
	if (reply == NULL) {
		kernel_call_answer_shortage(request);
		return;
	}
	kernel_call(call, request, reply);
	kernel_call_use_up_right(&request->header);
	kernel_call_answer(&request->header, reply);
	message_free(request);
}

void kernel_object_send_before_wait(struct message *request, struct thread **woken)
{
	struct thread *thread = current_thread();
	struct wait_queue *queue;

	thread->hands_over = true;
	kernel_object_send(request);
	thread->hands_over = false;
	queue = thread->owing;
	thread->owing = NULL;
	if (queue != NULL && !list_empty(&queue->waiters))
		*woken = list_first_object(&queue->waiters, struct thread, wait_link);
}
