/* SPDX-License-Identifier: MIT */
/*
 * What pagers call.  There are no memory objects yet, so no port is the control port of one: every
 * call is answered with an error, and the stub gives back what the message carried.
 */
#include <stddef.h>

#include "ipc/port.h"
#include "mach/mach_server.h"

kern_return_t memory_object_data_unavailable(ipc_port_t control, vm_offset_t offset, vm_size_t size)
{
	(void)control;
	(void)offset;
	(void)size;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_get_attributes(ipc_port_t control, boolean_t *ready,
					   boolean_t *may_cache,
					   memory_object_copy_strategy_t *strategy)
{
	(void)control;
	(void)ready;
	(void)may_cache;
	(void)strategy;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_lock_request(ipc_port_t control, vm_offset_t offset, vm_size_t size,
					 memory_object_return_t should_return,
					 boolean_t should_flush, vm_prot_t lock,
					 ipc_port_t reply_to, mach_msg_type_name_t reply_type)
{
	(void)control;
	(void)offset;
	(void)size;
	(void)should_return;
	(void)should_flush;
	(void)lock;
	(void)reply_to;
	(void)reply_type;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_data_error(ipc_port_t control, vm_offset_t offset, vm_size_t size,
				       kern_return_t error)
{
	(void)control;
	(void)offset;
	(void)size;
	(void)error;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_destroy(ipc_port_t control, kern_return_t reason)
{
	(void)control;
	(void)reason;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_data_supply(ipc_port_t control, vm_offset_t offset, pointer_t data,
					mach_msg_type_number_t size, vm_prot_t lock,
					boolean_t precious, ipc_port_t reply_to,
					mach_msg_type_name_t reply_type)
{
	(void)control;
	(void)offset;
	(void)data;
	(void)size;
	(void)lock;
	(void)precious;
	(void)reply_to;
	(void)reply_type;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_ready(ipc_port_t control, boolean_t may_cache,
				  memory_object_copy_strategy_t strategy)
{
	(void)control;
	(void)may_cache;
	(void)strategy;
	return KERN_INVALID_ARGUMENT;
}

kern_return_t memory_object_change_attributes(ipc_port_t control, boolean_t may_cache,
					      memory_object_copy_strategy_t strategy,
					      ipc_port_t reply_to, mach_msg_type_name_t reply_type)
{
	(void)control;
	(void)may_cache;
	(void)strategy;
	(void)reply_to;
	(void)reply_type;
	return KERN_INVALID_ARGUMENT;
}

/* Asking for the manager without naming one is answered; there is none. */
kern_return_t vm_set_default_memory_manager(host_t host, ipc_port_t *manager)
{
	if (host == NULL)
		return KERN_INVALID_HOST;
	if (port_is_valid(*manager))
		return KERN_INVALID_ARGUMENT;
	*manager = PORT_NULL;
	return KERN_SUCCESS;
}
