/* SPDX-License-Identifier: MIT */
/* What all disks answer alike: see disk.h. */
#include "device/disk.h"

#include <stddef.h>

#include "base/assert.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/page.h"

io_return_t disk_check(const struct device_request *request, uint32_t records)
{
	if (request->size == 0 || request->size % DISK_RECORD_SIZE != 0)
		return D_INVALID_SIZE;
	if (request->record >= records)
		return D_INVALID_RECNUM;
	if (request->size / DISK_RECORD_SIZE > records - request->record)
		return D_INVALID_SIZE;
	return D_SUCCESS;
}

_Static_assert(DISK_RECORD_SIZE > IO_INBAND_MAX, "no record is in band");
_Static_assert(DEV_GET_SIZE_COUNT == 2 && DEV_GET_RECORDS_COUNT == 2, "answered alike");
_Static_assert(DEV_GET_SIZE_DEVICE_SIZE == 0 && DEV_GET_RECORDS_DEVICE_RECORDS == 0, "in order");

io_return_t disk_get_status(uint32_t records, dev_flavor_t flavor, int *status, uint32_t *n)
{
	bool in_bytes = flavor == DEV_GET_SIZE;

	if (!in_bytes && flavor != DEV_GET_RECORDS)
		return D_INVALID_OPERATION;
	if (*n < DEV_GET_SIZE_COUNT)
		return D_INVALID_SIZE;
	if (in_bytes && records > UINT32_MAX / DISK_RECORD_SIZE)
		status[0] = 0;
	else
		status[0] = (int)(in_bytes ? records * DISK_RECORD_SIZE : records);
	status[1] = DISK_RECORD_SIZE;
	*n = DEV_GET_SIZE_COUNT;
	return D_SUCCESS;
}

bool disk_make_room(struct device_request *request)
{
	uint32_t left = request->size;
	struct copy *copy = copy_for_pages(request->size);

	assert(request->data == NULL);
	if (copy == NULL)
		return false;
	while (left != 0) {
		uint32_t bytes = left < PAGE_SIZE ? left : PAGE_SIZE;
		struct page *page =
			bytes < PAGE_SIZE ? page_alloc_zeroed(PAGE_USER) : page_alloc(PAGE_USER);

		if (page == NULL) {
			copy_destroy(copy);
			return false;
		}
		copy_add_page(copy, page);
		left -= bytes;
		pause_each();
	}
	request->data = copy;
	return true;
}
