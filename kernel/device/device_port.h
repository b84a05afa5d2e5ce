/* SPDX-License-Identifier: MIT */
/* From ports to devices, for the stubs of the kernel's interfaces: see task/convert.h. */
#ifndef DEVICE_DEVICE_PORT_H
#define DEVICE_DEVICE_PORT_H

#include "ipc/ipc_port.h"

struct device;

typedef struct device *io_device_t;

/* The device that is open by this port, without a reference; NULL if none is. */
io_device_t convert_port_to_device(ipc_port_t port);

#endif
