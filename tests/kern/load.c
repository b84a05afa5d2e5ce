/* SPDX-License-Identifier: MIT */
/*
 * The load: averages over 5, 30 and 60 seconds, from boot on, of threads that want to run.
 *
 * The kernel looks once a second, the first time a second after its start.  Threads of ours sleep
 * in between, and all of them compute while it looks; so what it finds is known.  The tables below
 * are made from that alone, by hand: a value loses 181, 33 and 17 thousandths of itself a second
 * (one minus e to the power of -1/5, -1/30, -1/60) and gains as much of what there is now.
 *
 * machine: cpus=1
 * machine: cpus=2
 */
#include "check.h"
#include "ipc.h"

#define LOOKS        5
#define AVERAGES     3
#define NANOS_PER_MS 1000000ull
#define FIRST_MS     1000
#define PERIOD_MS    1010 /* Up to a tick more than a second. */
#define BEFORE_MS    40
#define AFTER_MS     40

/* How many threads want to run at each look. */
static const uint32_t busy[LOOKS] = {0, 1, 3, 3, 0};

static const int averages[LOOKS][AVERAGES] = {
	{0, 0, 0}, {181, 33, 17}, {691, 130, 67}, {1108, 224, 116}, {907, 216, 114},
};

/* Of one CPU and of two: what a new thread would get, 1 of a CPU that has nothing to do. */
static const int factors[2][LOOKS][AVERAGES] = {
	{{181, 33, 17}, {148, 31, 16}, {166, 38, 19}, {181, 44, 22}, {329, 75, 38}},
	{{362, 66, 34}, {477, 96, 50}, {481, 109, 57}, {484, 121, 64}, {758, 183, 96}},
};

static uint64_t now_ms(void)
{
	uint64_t nanos = 0;

	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &nanos);
	divide(&nanos, NANOS_PER_MS);
	return nanos;
}

static void sleep_until(uint64_t ms)
{
	uint64_t now = now_ms();

	if (now < ms)
		sleep_ms((uint32_t)(ms - now));
}

static uint64_t time_of(uint32_t look)
{
	return FIRST_MS + look * PERIOD_MS;
}

/* The nth thread computes at every look at which there are to be more than n. */
static void compute_at_looks(void *number)
{
	for (uint32_t look = 0; look < LOOKS; look++) {
		if (busy[look] <= (uint32_t)number)
			continue;
		sleep_until(time_of(look) - BEFORE_MS);
		while (now_ms() < time_of(look) + AFTER_MS)
			continue;
	}
}

static uint32_t cpus(void)
{
	struct assay_cpu_info info = {.cpus = 1};

	assay_cpu_info(&info);
	return info.cpus;
}

/* The set of processors tells the quickest of the averages, too. */
static void expect_set(mach_port_t host, uint32_t look)
{
	struct processor_set_basic_info set = {0};
	mach_msg_type_number_t count = PROCESSOR_SET_BASIC_INFO_COUNT;
	mach_port_t name, owner;

	EXPECT_EQ(processor_set_default(host, &name), KERN_SUCCESS);
	EXPECT_EQ(processor_set_info(name, PROCESSOR_SET_BASIC_INFO, &owner,
				     (processor_set_info_t)&set, &count),
		  KERN_SUCCESS);
	EXPECT_EQ(set.load_average, averages[look][0]);
	EXPECT_EQ(set.mach_factor, factors[cpus() - 1][look][0]);
	port_drop_send(owner);
	port_drop_send(name);
}

static void expect_load(uint32_t look)
{
	mach_port_t host = mach_host_self();
	struct host_load_info load;
	mach_msg_type_number_t count = HOST_LOAD_INFO_COUNT;

	memset(&load, 0, sizeof load);
	EXPECT_EQ(host_info(host, HOST_LOAD_INFO, (host_info_t)&load, &count), KERN_SUCCESS);
	for (uint32_t n = 0; n < AVERAGES; n++) {
		EXPECT_EQ(load.avenrun[n], averages[look][n]);
		EXPECT_EQ(load.mach_factor[n], factors[cpus() - 1][look][n]);
	}
	expect_set(host, look);
	port_drop_send(host);
}

TEST(what_wants_to_run_is_the_load)
{
	for (uint32_t n = 0; n < 3; n++)
		worker_start(n, compute_at_looks, (void *)n);
	for (uint32_t look = 0; look < LOOKS; look++) {
		sleep_until(time_of(look) + 2 * AFTER_MS);
		expect_load(look);
	}
	for (uint32_t n = 0; n < 3; n++)
		worker_join(n);
}
