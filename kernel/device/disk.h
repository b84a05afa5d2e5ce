/* SPDX-License-Identifier: MIT */
/* What all disks answer alike, whatever they are made of. */
#ifndef DEVICE_DISK_H
#define DEVICE_DISK_H

#include <stdbool.h>
#include <stdint.h>

#include "device/device.h"

#define DISK_RECORD_SIZE 512u

/*
 * Whether a request is for whole records that a disk of so many has: D_SUCCESS, D_INVALID_SIZE for
 * nothing, for parts of records and for what reaches beyond the end, D_INVALID_RECNUM for what
 * begins there.  What is in band is refused: it is smaller than a record.
 */
io_return_t disk_check(const struct device_request *request, uint32_t records);

/* get_status() of a disk: DEV_GET_SIZE, which says 0 from 4 GiB on, and DEV_GET_RECORDS. */
io_return_t disk_get_status(uint32_t records, dev_flavor_t flavor, int *status, uint32_t *n);

/*
 * Gives a request that reads the pages to read into; what lies in them beyond the data is cleared.
 * False without memory.
 */
bool disk_make_room(struct device_request *request);

#endif
