/* SPDX-License-Identifier: MIT */
/* The device "time": see time.h.  Guarded by the kernel lock. */
#include "device/time.h"

#include <stddef.h>

#include <mach/time_value.h>
#include <mach/vm_prot.h>

#include "base/assert.h"
#include "base/clock.h"
#include "base/divide.h"
#include "base/lock.h"
#include "device/device.h"
#include "vm/object/object.h"
#include "vm/page/page.h"
#include "vm/page/page_queue.h"

#define NS_PER_MICROSECOND 1000u

/* The page, and the object that has it; both are there for good. */
static volatile mapped_time_value_t *shown;
static struct object *object;

bool time_device_used;

/*
 * Programs read `seconds`, `microseconds` and `check_seconds`, in this order, and once more if the
 * first and the last differ; so they are written in the opposite one.
 */
void time_device_update(void)
{
	uint64_t now = clock_wall();
	uint64_t seconds = divide(now, NS_PER_SECOND);
	uint32_t rest = (uint32_t)(now - seconds * NS_PER_SECOND);

	assert(kernel_locked());
	shown->check_seconds = (integer_t)seconds;
	__atomic_thread_fence(__ATOMIC_RELEASE);
	shown->microseconds = (integer_t)(rest / NS_PER_MICROSECOND);
	__atomic_thread_fence(__ATOMIC_RELEASE);
	shown->seconds = (integer_t)seconds;
}

static io_return_t time_map(struct device *device, vm_prot_t rights, uint32_t offset, uint32_t size,
			    struct object **mapped)
{
	(void)device;
	if ((rights & VM_PROT_WRITE) != 0)
		return D_READ_ONLY;
	if (offset != 0 || size > PAGE_SIZE)
		return D_INVALID_SIZE;
	time_device_used = true;
	time_device_update();
	*mapped = object;
	return D_SUCCESS;
}

static const struct driver driver = {
	.map = time_map,
};

static struct device device = {
	.name = "time",
	.driver = &driver,
	.record_size = 1,
};

/* The page is wired, and this reference to its object is never given up. */
void time_device_init(void)
{
	ALLOCATES_AT_BOOT;
	struct page *page = page_alloc_zeroed(PAGE_USER);

	object = object_create(1);
	if (page == NULL || object == NULL || !object_insert(object, 0, page))
		panic("no memory for the page of the time");
	object->kernel = true;
	page->lock = VM_PROT_WRITE;
	page_wire(page);
	shown = page_data(page);
	device_add(&device);
}
