/* SPDX-License-Identifier: MIT */
/*
 * The time of day in a page that is mapped.
 *
 * machine: cpus=1 arguments="${device-port} ${host-port}"
 * machine: cpus=2 seed=5 arguments="${device-port} ${host-port}"
 */
#include "check.h"
#include "ipc.h"

#include <mach/time_value.h>

#define MICROS_PER_MS 1000ll
#define TOLERANCE_MS  40 /* A tick, and what it takes to look. */

static mach_port_t self(void)
{
	return mach_task_self_cached();
}

static mach_port_t open_time(void)
{
	mach_port_t device = MACH_PORT_NULL;

	EXPECT_EQ(device_open(check_number(0), D_READ, "time", &device), D_SUCCESS);
	return device;
}

static void close_time(mach_port_t device)
{
	EXPECT_EQ(device_close(device), D_SUCCESS);
	port_drop_send(device);
}

/* Maps the page as programs do; NULL if that fails. */
static const volatile mapped_time_value_t *map_time(void)
{
	mach_port_t device = open_time(), memory = MACH_PORT_NULL;
	vm_address_t address = 0;

	EXPECT_EQ(device_map(device, VM_PROT_READ, 0, PAGE_SIZE, &memory, 0), D_SUCCESS);
	EXPECT_EQ(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, memory, 0, FALSE, VM_PROT_READ,
			 VM_PROT_READ, VM_INHERIT_NONE),
		  KERN_SUCCESS);
	port_drop_send(memory);
	close_time(device);
	return (const volatile mapped_time_value_t *)address;
}

static void unmap_time(const volatile mapped_time_value_t *page)
{
	EXPECT_EQ(vm_deallocate(self(), (vm_address_t)page, PAGE_SIZE), KERN_SUCCESS);
}

/* In microseconds. */
static long long read_time(const volatile mapped_time_value_t *page)
{
	integer_t seconds, micros;

	do {
		seconds = page->seconds;
		__sync_synchronize();
		micros = page->microseconds;
		__sync_synchronize();
	} while (seconds != page->check_seconds);
	EXPECT(micros >= 0 && micros < TIME_MICROS_MAX);
	return (long long)seconds * TIME_MICROS_MAX + micros;
}

static time_value_t host_time(void)
{
	mach_port_t host = mach_host_self();
	time_value_t now = {0, 0};

	EXPECT_EQ(host_get_time(host, &now), KERN_SUCCESS);
	port_drop_send(host);
	return now;
}

static long long ask_time(void)
{
	time_value_t now = host_time();

	return (long long)now.seconds * TIME_MICROS_MAX + now.microseconds;
}

/* The page stays when the device is closed and the memory object's port is gone. */
TEST(the_page_shows_the_time)
{
	const volatile mapped_time_value_t *page = map_time();
	long long shown;

	REQUIRE(page != NULL);
	shown = read_time(page);
	EXPECT_LE(shown, ask_time());
	EXPECT_LT(ask_time() - shown, TOLERANCE_MS * MICROS_PER_MS);
	sleep_ms(50);
	EXPECT_LE(shown + 30 * MICROS_PER_MS, read_time(page));
	EXPECT_LT(ask_time() - read_time(page), TOLERANCE_MS * MICROS_PER_MS);
	unmap_time(page);
}

/* It never goes back while nobody sets the clock. */
TEST(time_goes_on)
{
	const volatile mapped_time_value_t *page = map_time();
	long long last;

	REQUIRE(page != NULL);
	last = read_time(page);
	for (unsigned turn = 0; turn < 200; turn++) {
		long long now = read_time(page);

		EXPECT_LE(last, now);
		last = now;
		sleep_ms(1);
	}
	unmap_time(page);
}

/* A second that somebody sets is there with the next tick. */
TEST(the_clock_is_set)
{
	const volatile mapped_time_value_t *page = map_time();
	time_value_t before = host_time();
	time_value_t other = {1000000000, 0};

	REQUIRE(page != NULL);
	EXPECT_EQ(host_set_time(check_number(1), other), KERN_SUCCESS);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(page->seconds, 1000000000);
	EXPECT_EQ(host_set_time(check_number(1), before), KERN_SUCCESS);
	unmap_time(page);
}

TEST(more_than_the_page_is_refused)
{
	mach_port_t device = open_time(), memory;

	EXPECT_EQ(device_map(device, VM_PROT_READ | VM_PROT_WRITE, 0, PAGE_SIZE, &memory, 0),
		  D_READ_ONLY);
	EXPECT_EQ(device_map(device, VM_PROT_READ, PAGE_SIZE, PAGE_SIZE, &memory, 0),
		  D_INVALID_SIZE);
	EXPECT_EQ(device_map(device, VM_PROT_READ, 0, 2 * PAGE_SIZE, &memory, 0), D_INVALID_SIZE);
	close_time(device);
}

/* Whoever has the memory object may still not write to the kernel's page. */
TEST(nobody_writes_to_the_page)
{
	mach_port_t device = open_time(), memory = MACH_PORT_NULL;
	vm_address_t address = 0;

	EXPECT_EQ(device_map(device, VM_PROT_READ, 0, PAGE_SIZE, &memory, 0), D_SUCCESS);
	EXPECT_NE(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, memory, 0, FALSE,
			 VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE,
			 VM_INHERIT_NONE),
		  KERN_SUCCESS);
	port_drop_send(memory);
	close_time(device);
}

/* A copy is the caller's own, and does not go on. */
TEST(a_copy_of_the_page)
{
	mach_port_t device = open_time(), memory = MACH_PORT_NULL;
	vm_address_t address = 0;

	EXPECT_EQ(device_map(device, VM_PROT_READ, 0, PAGE_SIZE, &memory, 0), D_SUCCESS);
	if (EXPECT_EQ(vm_map(self(), &address, PAGE_SIZE, 0, TRUE, memory, 0, TRUE,
			     VM_PROT_READ | VM_PROT_WRITE, VM_PROT_READ | VM_PROT_WRITE,
			     VM_INHERIT_NONE),
		      KERN_SUCCESS)) {
		volatile mapped_time_value_t *copy = (volatile mapped_time_value_t *)address;

		copy->seconds = 1;
		sleep_ms(SHORT_WAIT);
		EXPECT_EQ(copy->seconds, 1);
		vm_deallocate(self(), address, PAGE_SIZE);
	}
	port_drop_send(memory);
	close_time(device);
}

TEST(nothing_to_read_or_write)
{
	mach_port_t device = open_time();
	io_buf_ptr_inband_t bytes = "x";
	mach_msg_type_number_t n;
	int written;

	EXPECT_EQ(device_read_inband(device, 0, 0, 1, bytes, &n), D_INVALID_OPERATION);
	EXPECT_EQ(device_write_inband(device, 0, 0, bytes, 1, &written), D_INVALID_OPERATION);
	close_time(device);
}
