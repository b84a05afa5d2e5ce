/* SPDX-License-Identifier: MIT */
/* Devices: types and codes of <mach/device.defs>. */
#ifndef MACH_DEVICE_TYPES_H
#define MACH_DEVICE_TYPES_H

#include <mach/port.h>
#include <mach/std_types.h>

/* In the kernel a device is another thing: kernel/device/device_port.h. */
#ifndef KERNEL
typedef mach_port_t device_t;
#endif

typedef char dev_name_t[128];
typedef const char *const_dev_name_t;

typedef unsigned int dev_mode_t;

#define D_READ    0x1
#define D_WRITE   0x2
#define D_NODELAY 0x4 /* Open without waiting for the device, */
#define D_NOWAIT  0x8 /* read only what is there. */

typedef char *io_buf_ptr_t;
typedef const char *const_io_buf_ptr_t;

/* Data in the message itself. */
#define IO_INBAND_MAX 128
typedef char io_buf_ptr_inband_t[IO_INBAND_MAX];
typedef const char *const_io_buf_ptr_inband_t;

typedef natural_t recnum_t;

typedef unsigned int dev_flavor_t;
typedef int *dev_status_t;

#define DEV_STATUS_MAX 1024
typedef int dev_status_data_t[DEV_STATUS_MAX];

/* Statuses that every device has: the size in bytes, */
#define DEV_GET_SIZE             0
#define DEV_GET_SIZE_DEVICE_SIZE 0 /* 0: it has none. */
#define DEV_GET_SIZE_RECORD_SIZE 1 /* 1: bytes come one after another. */
#define DEV_GET_SIZE_COUNT       2

/* and in records. */
#define DEV_GET_RECORDS                1
#define DEV_GET_RECORDS_DEVICE_RECORDS 0
#define DEV_GET_RECORDS_RECORD_SIZE    1
#define DEV_GET_RECORDS_COUNT          2

typedef short filter_t;
typedef filter_t filter_array_t[128];

typedef int io_return_t;

#define D_IO_QUEUED         (-1) /* Not an answer yet. */
#define D_SUCCESS           0
#define D_IO_ERROR          2500
#define D_WOULD_BLOCK       2501 /* D_NOWAIT, and nothing is there. */
#define D_NO_SUCH_DEVICE    2502
#define D_ALREADY_OPEN      2503
#define D_DEVICE_DOWN       2504 /* It was closed meanwhile. */
#define D_INVALID_OPERATION 2505 /* This device does no such thing. */
#define D_INVALID_RECNUM    2506
#define D_INVALID_SIZE      2507
#define D_NO_MEMORY         2508
#define D_READ_ONLY         2509

#endif
