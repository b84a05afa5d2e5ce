/* SPDX-License-Identifier: MIT */
/* A stand-in for what MIG makes of device.defs, on the host: the calls that files are read by. */
#ifndef MACH_DEVICE_H
#define MACH_DEVICE_H

#include <mach/device_types.h>
#include <mach/message.h>

kern_return_t device_open(mach_port_t master, dev_mode_t mode, const_dev_name_t name,
			  mach_port_t *device);
kern_return_t device_close(mach_port_t device);
kern_return_t device_get_status(mach_port_t device, dev_flavor_t flavor, dev_status_t status,
				mach_msg_type_number_t *count);
kern_return_t device_read(mach_port_t device, dev_mode_t mode, recnum_t record, int wanted,
			  io_buf_ptr_t *data, mach_msg_type_number_t *bytes);
kern_return_t device_write(mach_port_t device, dev_mode_t mode, recnum_t record, io_buf_ptr_t data,
			   mach_msg_type_number_t size, int *bytes);

#endif
