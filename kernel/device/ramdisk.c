/* SPDX-License-Identifier: MIT */
/* RAM disks: see ramdisk.h.  Guarded by the kernel lock. */
#include "device/ramdisk.h"

#include <stddef.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/command.h"
#include "base/log.h"
#include "base/string.h"
#include "device/device.h"
#include "device/disk.h"
#include "i386/cpu/memory.h"
#include "thread/work.h"
#include "vm/map/copy.h"
#include "vm/page/page.h"

#define MEGABYTE 0x100000u

/* Volatile: read from outside the machine.  Written at boot. */
volatile struct machine_ramdisk machine_ramdisks[MACHINE_RAMDISKS];

static unsigned n_disks;
static struct device devices[MACHINE_RAMDISKS];
static char names[MACHINE_RAMDISKS][4];

_Static_assert(MACHINE_RAMDISKS <= 10, "a digit in each name");

/* ---------------- What there is to be ---------------- */

bool ramdisk_is_module(const char *command)
{
	return command_has_action(command, "$(ramdisk-create)");
}

/* The number at `*text`, which is left behind it, in bytes; 0 for what is none, or too large. */
static uint32_t ramdisk_read_mib(const char **text)
{
	uint32_t number = 0;

	for (; **text >= '0' && **text <= '9' && number < DIRECT_MAP_SIZE / MEGABYTE; ++*text)
		number = number * 10 + (uint32_t)(**text - '0');
	return number < DIRECT_MAP_SIZE / MEGABYTE ? number * MEGABYTE : 0;
}

/* `SIZE` or `SIZE@START`, with nothing behind it but a comma. */
static bool ramdisk_read_wish(const char *text, struct ramdisk_wish *wish)
{
	*wish = (struct ramdisk_wish){.size = ramdisk_read_mib(&text)};
	if (*text == '@') {
		text++;
		wish->start = ramdisk_read_mib(&text);
		if (wish->start == 0)
			return false;
	}
	return wish->size != 0 && (*text == '\0' || *text == ',');
}

bool ramdisk_wanted(unsigned n, struct ramdisk_wish *wish)
{
	static bool is_told; /* What is wrong with the argument. */
	char value[64];
	const char *text = value;

	if (!argument_string("ramdisk", value, sizeof value))
		return false;
	for (; n > 0 && text != NULL; n--) {
		text = strchr(text, ',');
		text = text == NULL ? NULL : text + 1;
	}
	if (text == NULL)
		return false;
	if (ramdisk_read_wish(text, wish))
		return true;
	if (!is_told)
		klog("arguments: ramdisk=%s: not a list of SIZE or SIZE@START in MiB\n", value);
	is_told = true;
	return false;
}

bool ramdisk_add(uint32_t start, uint32_t size)
{
	assert(start % PAGE_SIZE == 0 && size > 0 && size % DISK_RECORD_SIZE == 0);
	assert(size <= DIRECT_MAP_SIZE && start <= DIRECT_MAP_SIZE - size);
	if (n_disks == MACHINE_RAMDISKS)
		return false;
	machine_ramdisks[n_disks].address = start;
	machine_ramdisks[n_disks].size = size;
	n_disks++;
	return true;
}

/* ---------------- Requests ---------------- */

static uint32_t ramdisk_records_of(const struct device *device)
{
	const volatile struct machine_ramdisk *disk = device->state;

	return disk->size / DISK_RECORD_SIZE;
}

/* Where the records of a request are, which has been checked. */
static char *ramdisk_place_of(const struct device *device, const struct device_request *request)
{
	const volatile struct machine_ramdisk *disk = device->state;

	return (char *)phys_to_virt(disk->address) + request->record * DISK_RECORD_SIZE;
}

static void ramdisk_read_page(char *to, const char *from, uint32_t size)
{
	if (size == PAGE_SIZE && ((uintptr_t)from & PAGE_MASK) == 0)
		page_copy(to, from);
	else
		memcpy(to, from, size);
}

/* Fills the pages of the request, which are nobody else's. */
static void ramdisk_read_pages(struct device_request *request, const char *from)
{
	struct list *link;

	list_for_each (link, &request->data->pages) {
		uint32_t left = request->size - request->done;
		uint32_t size = left < PAGE_SIZE ? left : PAGE_SIZE;

		ramdisk_read_page(page_data(list_object(link, struct page, link)), from, size);
		from += size;
		request->done += size;
		pause_each_page();
	}
}

static io_return_t ramdisk_read(struct device *device, struct device_request *request)
{
	io_return_t result = disk_check(request, ramdisk_records_of(device));

	if (result != D_SUCCESS)
		return result;
	if (!disk_make_room(request))
		return D_NO_MEMORY;
	ramdisk_read_pages(request, ramdisk_place_of(device, request));
	request_done(request, D_SUCCESS);
	return D_SUCCESS;
}

static io_return_t ramdisk_write(struct device *device, struct device_request *request)
{
	io_return_t result = disk_check(request, ramdisk_records_of(device));

	if (result != D_SUCCESS)
		return result;
	if (copy_read(request->data, ramdisk_place_of(device, request), request->size) !=
	    KERN_SUCCESS)
		return D_IO_ERROR;
	request->done = request->size;
	request_done(request, D_SUCCESS);
	return D_SUCCESS;
}

static io_return_t ramdisk_status(struct device *device, dev_flavor_t flavor, int *status,
				  uint32_t *n)
{
	return disk_get_status(ramdisk_records_of(device), flavor, status, n);
}

static const struct driver driver = {
	.read = ramdisk_read,
	.write = ramdisk_write,
	.get_status = ramdisk_status,
};

void ramdisk_init(void)
{
	for (unsigned n = 0; n < n_disks; n++) {
		memcpy(names[n], "rd0", sizeof names[n]);
		names[n][2] = (char)('0' + n);
		devices[n] = (struct device){
			.name = names[n],
			.driver = &driver,
			.state = (void *)&machine_ramdisks[n],
			.record_size = DISK_RECORD_SIZE,
		};
		device_add(&devices[n]);
		klog("ramdisk: %s is %u bytes at 0x%08x\n", names[n],
		     (unsigned)machine_ramdisks[n].size, (unsigned)machine_ramdisks[n].address);
	}
}
