/* SPDX-License-Identifier: MIT */
/*
 * Devices by name, and the ports of those that are open: see device.h.
 *
 * Owns the list of all devices.  A device's port is there as long as it is open; all who have
 * opened it share it.  Guarded by the kernel lock.
 */
#include "device/device.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/lock.h"
#include "base/string.h"
#include "device/console.h"
#include "device/device_port.h"
#include "device/ramdisk.h"
#include "device/time.h"
#include "ipc/port.h"

/* Written at boot. */
static struct list devices = LIST_INITIALIZER(devices);

void device_add(struct device *device)
{
	assert(device->driver != NULL && device->record_size > 0);
	assert(device_find(device->name) == NULL);
	list_add_last(&devices, &device->link);
}

struct device *device_find(const char *name)
{
	list_for_each_object (struct device, device, &devices, link) {
		if (strcmp(device->name, name) == 0)
			return device;
	}
	return NULL;
}

io_device_t convert_port_to_device(ipc_port_t port)
{
	if (!port_is_valid(port) || port->kind != OBJECT_DEVICE || !port_is_alive(port))
		return NULL;
	assert(port->magic == PORT_MAGIC && port->object != NULL);
	return port->object;
}

/* Takes the port away from the device, whose it is for the last time. */
static void device_end_port(struct device *device)
{
	struct port *port = device->port;

	device->port = NULL;
	port_destroy(port);
}

static io_return_t device_open_first(struct device *device, dev_mode_t mode)
{
	io_return_t result = D_SUCCESS;

	device->port = port_create(OBJECT_DEVICE, device, NULL);
	if (device->port == NULL)
		return D_NO_MEMORY;
	if (device->driver->open != NULL)
		result = device->driver->open(device, mode);
	if (result != D_SUCCESS)
		device_end_port(device);
	return result;
}

io_return_t device_open(struct device *device, dev_mode_t mode, struct port **right)
{
	io_return_t result = D_SUCCESS;

	assert(kernel_locked());
	assert((device->port == NULL) == (device->opens == 0));
	if (device->port == NULL)
		result = device_open_first(device, mode);
	else if (device->driver->open != NULL)
		result = device->driver->open(device, mode);
	if (result != D_SUCCESS)
		return result;
	device->opens++;
	*right = port_make_send(device->port);
	return D_SUCCESS;
}

/* The port is dead before the driver answers anybody: nothing new comes by it. */
static void device_close_all(struct device *device)
{
	device->opens = 0;
	device_end_port(device);
	if (device->driver->close != NULL)
		device->driver->close(device);
}

void device_close(struct device *device)
{
	assert(kernel_locked());
	assert(device->opens > 0);
	if (device->opens > 1)
		device->opens--;
	else
		device_close_all(device);
}

void device_no_senders(struct device *device)
{
	assert(kernel_locked());
	assert(device->opens > 0 && device->port->send_rights == 0);
	device_close_all(device);
}

void device_module_init(void)
{
	device_request_module_init();
	console_init();
	time_device_init();
	ramdisk_init();
}
