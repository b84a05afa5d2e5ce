/* SPDX-License-Identifier: MIT */
/*
 * Routines of <mach/device.defs>: from calls to devices and requests.
 *
 * Reading and writing always answer MIG_NO_REPLY: the reply right, and what the request brought,
 * go over to the request, which is answered when it is done.  Guarded by the kernel lock.
 */
#include <stddef.h>

#include <mach/mig_errors.h>

#include "base/string.h"
#include "device/device.h"
#include "ipc/port.h"
#include "mach/device_server.h"
#include "vm/map/copy.h"
#include "vm/object/object.h"

/* ---------------- Opening and closing ---------------- */

/* Whether a name, which came as it is in the message, has an end. */
static bool device_has_end(const char *name)
{
	for (unsigned i = 0; i < sizeof(dev_name_t); i++) {
		if (name[i] == '\0')
			return true;
	}
	return false;
}

kern_return_t ds_device_open(ipc_port_t master, ipc_port_t reply, mach_msg_type_name_t reply_kind,
			     dev_mode_t mode, const_dev_name_t name, ipc_port_t *right)
{
	struct device *device;

	(void)reply;
	(void)reply_kind;
	if (!port_is_valid(master) || master->kind != OBJECT_DEVICE_MASTER)
		return D_INVALID_OPERATION;
	device = device_has_end(name) ? device_find(name) : NULL;
	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	return device_open(device, mode, right);
}

kern_return_t ds_device_close(struct device *device)
{
	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	device_close(device);
	return D_SUCCESS;
}

/* ---------------- Reading and writing ---------------- */

/* Out-of-line data as drivers take it: in pages of its own.  May block. */
static io_return_t device_take_data(struct device_request *request, struct copy *data)
{
	request->data = data;
	if (data == NULL)
		return request->size == 0 ? D_SUCCESS : D_INVALID_SIZE;
	if (data->size != request->size || data->size > DEVICE_SIZE_MAX)
		return D_INVALID_SIZE;
	switch (copy_make_pages(data)) {
	case KERN_SUCCESS:
		return D_SUCCESS;
	case KERN_RESOURCE_SHORTAGE:
		return D_NO_MEMORY;
	default:
		return D_IO_ERROR;
	}
}

kern_return_t ds_device_write(struct device *device, ipc_port_t reply,
			      mach_msg_type_name_t reply_kind, dev_mode_t mode, recnum_t record,
			      io_buf_ptr_t data, mach_msg_type_number_t size, int *written)
{
	struct request_origin origin = {device, reply, reply_kind, true, false, mode, record, size};
	struct device_request *request;
	io_return_t result;

	(void)written;
	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	request = request_create(&origin);
	if (request == NULL)
		return D_NO_MEMORY;
	result = device_take_data(request, (struct copy *)data);
	if (result == D_SUCCESS)
		request_start(request);
	else
		request_done(request, result);
	return MIG_NO_REPLY;
}

kern_return_t ds_device_write_inband(struct device *device, ipc_port_t reply,
				     mach_msg_type_name_t reply_kind, dev_mode_t mode,
				     recnum_t record, const io_buf_ptr_inband_t data,
				     mach_msg_type_number_t size, int *written)
{
	struct request_origin origin = {device, reply, reply_kind, true, true, mode, record, size};
	struct device_request *request;

	(void)written;
	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	request = request_create(&origin);
	if (request == NULL)
		return D_NO_MEMORY;
	if (size <= IO_INBAND_MAX)
		memcpy(request->bytes, data, size);
	request_start(request);
	return MIG_NO_REPLY;
}

/* A negative size is one that is too large. */
static kern_return_t device_start_read(const struct request_origin *origin)
{
	struct device_request *request;

	if (origin->device == NULL)
		return D_NO_SUCH_DEVICE;
	request = request_create(origin);
	if (request == NULL)
		return D_NO_MEMORY;
	request_start(request);
	return MIG_NO_REPLY;
}

kern_return_t ds_device_read(struct device *device, ipc_port_t reply,
			     mach_msg_type_name_t reply_kind, dev_mode_t mode, recnum_t record,
			     int wanted, io_buf_ptr_t *data, mach_msg_type_number_t *size)
{
	struct request_origin origin = {device, reply, reply_kind, false,
					false,  mode,  record,     (uint32_t)wanted};

	(void)data;
	*size = 0;
	return device_start_read(&origin);
}

kern_return_t ds_device_read_inband(struct device *device, ipc_port_t reply,
				    mach_msg_type_name_t reply_kind, dev_mode_t mode,
				    recnum_t record, int wanted, io_buf_ptr_inband_t data,
				    mach_msg_type_number_t *size)
{
	struct request_origin origin = {device, reply, reply_kind, false,
					true,   mode,  record,     (uint32_t)wanted};

	(void)data;
	(void)size;
	return device_start_read(&origin);
}

/* ---------------- Mapping and status ---------------- */

/* The port has a reference to the object of its own, and ends with its last send right. */
kern_return_t ds_device_map(struct device *device, vm_prot_t rights, vm_offset_t offset,
			    vm_size_t size, ipc_port_t *right, int unmap)
{
	struct object *object;
	struct port *port;
	io_return_t result;

	(void)unmap;
	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	if (device->driver->map == NULL)
		return D_INVALID_OPERATION;
	result = device->driver->map(device, rights, offset, size, &object);
	if (result != D_SUCCESS)
		return result;
	port = port_create(OBJECT_MEMORY, object, NULL);
	if (port == NULL)
		return D_NO_MEMORY;
	object_reference(object);
	*right = port_make_send(port);
	return D_SUCCESS;
}

kern_return_t ds_device_set_status(struct device *device, dev_flavor_t flavor,
				   const dev_status_t status, mach_msg_type_number_t count)
{
	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	if (device->driver->set_status == NULL)
		return D_INVALID_OPERATION;
	return device->driver->set_status(device, flavor, status, count);
}

/* The sizes in bytes and in records are told alike. */
static io_return_t device_size_of_none(const struct device *device, dev_flavor_t flavor,
				       int *status, uint32_t *n)
{
	if (flavor != DEV_GET_SIZE && flavor != DEV_GET_RECORDS)
		return D_INVALID_OPERATION;
	if (*n < DEV_GET_SIZE_COUNT)
		return D_INVALID_SIZE;
	status[DEV_GET_SIZE_DEVICE_SIZE] = 0;
	status[DEV_GET_SIZE_RECORD_SIZE] = (int)device->record_size;
	*n = DEV_GET_SIZE_COUNT;
	return D_SUCCESS;
}

kern_return_t ds_device_get_status(struct device *device, dev_flavor_t flavor, dev_status_t status,
				   mach_msg_type_number_t *count)
{
	uint32_t n = *count;
	io_return_t result;

	if (device == NULL)
		return D_NO_SUCH_DEVICE;
	if (device->driver->get_status == NULL)
		result = device_size_of_none(device, flavor, status, &n);
	else
		result = device->driver->get_status(device, flavor, status, &n);
	if (result == D_SUCCESS)
		*count = n;
	return result;
}

/* ---------------- What no device here does ---------------- */

/* Packets and interrupts for programs: there is no network, and interrupts are the kernel's. */
static kern_return_t device_not_here(const struct device *device)
{
	return device == NULL ? D_NO_SUCH_DEVICE : D_INVALID_OPERATION;
}

kern_return_t ds_device_set_filter(struct device *device, ipc_port_t receiver, int priority,
				   const filter_array_t filter, mach_msg_type_number_t count)
{
	(void)receiver;
	(void)priority;
	(void)filter;
	(void)count;
	return device_not_here(device);
}

kern_return_t ds_device_intr_register(struct device *device, int id, int flags, ipc_port_t receiver)
{
	(void)id;
	(void)flags;
	(void)receiver;
	return device_not_here(device);
}

kern_return_t ds_device_intr_ack(struct device *device, ipc_port_t receiver)
{
	(void)receiver;
	return device_not_here(device);
}
