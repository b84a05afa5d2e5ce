/* SPDX-License-Identifier: MIT */
/*
 * What generated stubs need: mach_msg() and reply ports.  Any number of threads may make calls.
 *
 * Owns the names of reply ports that are not in use at the moment, and the task's own.
 */
#include "mach.h"

#include <mach/messages.h>
#include <stdbool.h>
#include <stddef.h>

#include "assay.h"

/* ---------------- Messages ---------------- */

unsigned mach_msg_patience;

bool mach_is_short(kern_return_t result)
{
	return result == MACH_SEND_NO_BUFFER || result == MACH_SEND_INVALID_REPLY ||
	       result == KERN_RESOURCE_SHORTAGE;
}

bool mach_wait_if_short(kern_return_t result)
{
	if (!mach_is_short(result))
		return false;
	thread_switch(MACH_PORT_NULL, SWITCH_OPTION_WAIT, 1);
	return true;
}

/* Whether what could not be sent is to be sent again: it is in its buffer as before, or whole. */
static bool mach_msg_sends_again(mach_msg_option_t option, mach_msg_return_t result,
				 unsigned *tries)
{
	if (result == MACH_SEND_INTERRUPTED)
		return (option & MACH_SEND_INTERRUPT) == 0;
	return result == MACH_SEND_NO_BUFFER && (*tries)++ < mach_msg_patience &&
	       mach_await_memory(result);
}

/*
 * Starts again what thread_abort() broke off, unless the caller asked to be told.  A call is not
 * made if nobody would hear its answer, as there was no memory for a port.
 */
mach_msg_return_t mach_msg(mach_msg_header_t *msg, mach_msg_option_t option,
			   mach_msg_size_t send_size, mach_msg_size_t rcv_size,
			   mach_port_name_t rcv_name, mach_msg_timeout_t timeout,
			   mach_port_name_t notify)
{
	mach_msg_return_t result;
	unsigned tries = 0;

	if (rcv_name == MACH_PORT_NULL && (option & MACH_RCV_MSG) != 0)
		return (option & MACH_SEND_MSG) != 0 ? MACH_SEND_INVALID_REPLY
						     : MACH_RCV_INVALID_NAME;
	do {
		result = mach_msg_trap(msg, option, send_size, rcv_size, rcv_name, timeout, notify);
		if (result == MACH_MSG_SUCCESS)
			return result;
	} while (mach_msg_sends_again(option, result, &tries));
	/* Sent it has been by then. */
	while (result == MACH_RCV_INTERRUPTED && (option & MACH_RCV_INTERRUPT) == 0)
		result = mach_msg_trap(msg, option & ~MACH_SEND_MSG, 0, rcv_size, rcv_name, timeout,
				       notify);
	return result;
}

/* ---------------- The task's own port ---------------- */

static mach_port_t task_self;

mach_port_t mach_task_self_cached(void)
{
	if (task_self == MACH_PORT_NULL)
		task_self = mach_task_self();
	return task_self;
}

/* ---------------- Reply ports ---------------- */

#define KEPT 32

static mach_port_t kept[KEPT]; /* MACH_PORT_NULL: an empty place. */

void mach_forget_names(void)
{
	task_self = MACH_PORT_NULL;
	for (unsigned i = 0; i < KEPT; i++)
		kept[i] = MACH_PORT_NULL;
}

mach_port_t mig_get_reply_port(void)
{
	for (unsigned i = 0; i < KEPT; i++) {
		mach_port_t port = kept[i];

		if (port != MACH_PORT_NULL &&
		    __atomic_compare_exchange_n(&kept[i], &port, MACH_PORT_NULL, false,
						__ATOMIC_ACQ_REL, __ATOMIC_RELAXED))
			return port;
	}
	return mach_reply_port();
}

void mig_put_reply_port(mach_port_t port)
{
	for (unsigned i = 0; i < KEPT; i++) {
		mach_port_t empty = MACH_PORT_NULL;

		if (__atomic_compare_exchange_n(&kept[i], &empty, port, false, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return;
	}
	mig_dealloc_reply_port(port);
}

/* mach_port_mod_refs(self, port, receive, -1), without a reply: there is no port to get it by. */
void mig_dealloc_reply_port(mach_port_t port)
{
	static const mach_msg_type_t word = DESCRIBE_UNSIGNED(1);
	static const mach_msg_type_t name = DESCRIBE_MACH_PORT_NAME_T(1);
	struct {
		mach_msg_header_t header;
		mach_msg_type_t port_type;
		mach_port_name_t port;
		mach_msg_type_t right_type;
		mach_port_right_t right;
		mach_msg_type_t delta_type;
		mach_port_delta_t delta;
	} request = {.port_type = name,
		     .port = port,
		     .right_type = word,
		     .right = MACH_PORT_RIGHT_RECEIVE,
		     .delta_type = word,
		     .delta = -1};

	if (!MACH_PORT_VALID(port))
		return;
	request.header.msgh_bits = MACH_MSGH_BITS(MACH_MSG_TYPE_COPY_SEND, 0);
	request.header.msgh_size = sizeof request;
	request.header.msgh_remote_port = mach_task_self();
	request.header.msgh_id = ID_MACH_PORT_MOD_REFS;
	mach_msg(&request.header, MACH_SEND_MSG, sizeof request, 0, MACH_PORT_NULL,
		 MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL);
	syscall_mach_port_deallocate(request.header.msgh_remote_port,
				     request.header.msgh_remote_port);
}

void mig_release_reply_ports(void)
{
	for (unsigned i = 0; i < KEPT; i++)
		mig_dealloc_reply_port(
			__atomic_exchange_n(&kept[i], MACH_PORT_NULL, __ATOMIC_ACQ_REL));
}

/* ---------------- Strings and memory ---------------- */

size_t mig_strncpy(char *to, const char *from, size_t size)
{
	size_t length = 0;

	if (size == 0)
		return 0;
	while (length < size - 1 && from[length] != '\0') {
		to[length] = from[length];
		length++;
	}
	to[length] = '\0';
	return length;
}

void mig_allocate(vm_offset_t *address, vm_size_t size)
{
	if (syscall_vm_allocate(mach_task_self_cached(), address, size, TRUE) != KERN_SUCCESS)
		*address = 0;
}

void mig_deallocate(vm_offset_t address, vm_size_t size)
{
	syscall_vm_deallocate(mach_task_self_cached(), address, size);
}
