/* SPDX-License-Identifier: MIT */
/*
 * Sampling that begins while memory runs out: each allocation of it fails in turn, the first piece
 * of a ring and those in the middle.  It says so, nothing is left that is half built, everything is
 * given back, and what is begun after that has all its pieces.
 *
 * machine: cpus=1 append="inject=1"
 * machine: cpus=2 append="inject=1"
 */
#include <mach/pc_sample.h>

#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF  mach_task_self()
#define SITES 256u

/* A way to sample: begins, ends, and fetches what came. */
struct way {
	const char *name;
	kern_return_t (*begin)(void);
	kern_return_t (*end)(int *samples);
	kern_return_t (*fetch)(unsigned *seqno, mach_msg_type_number_t *n);
};

static sampled_pc_t samples[MAX_PC_SAMPLES];
static mach_port_t thread;

static kern_return_t begin_task(void)
{
	int tick = 0;

	return task_enable_pc_sampling(SELF, &tick, SAMPLED_PC_VM_ZFILL_FAULTS);
}

static kern_return_t end_task(int *count)
{
	return task_disable_pc_sampling(SELF, count);
}

static kern_return_t fetch_task(unsigned *seqno, mach_msg_type_number_t *n)
{
	return task_get_sampled_pcs(SELF, seqno, samples, n);
}

static kern_return_t begin_thread(void)
{
	int tick = 0;

	return thread_enable_pc_sampling(thread, &tick, SAMPLED_PC_VM_ZFILL_FAULTS);
}

static kern_return_t end_thread(int *count)
{
	return thread_disable_pc_sampling(thread, count);
}

static kern_return_t fetch_thread(unsigned *seqno, mach_msg_type_number_t *n)
{
	return thread_get_sampled_pcs(thread, seqno, samples, n);
}

static const struct way ways[] = {
	{"of a task", begin_task, end_task, fetch_task},
	{"of a thread", begin_thread, end_thread, fetch_thread},
};

/* ---------------- What it allocates ---------------- */

static bool is_of_sampling(const struct assay_allocation_site *site)
{
	return strncmp(site->file, "kernel/prof/", 12) == 0;
}

static void read_hits(uint32_t *hits)
{
	struct assay_allocation_site site;

	for (uint32_t n = 0; n < SITES; n++) {
		bool is_there = assay_allocation_site(n, &site) == KERN_SUCCESS;

		hits[n] = is_there && is_of_sampling(&site) ? site.hits : 0;
	}
}

/* How often each site of the sampler's is reached by beginning. */
static void count_hits(const struct way *way, uint32_t *hits)
{
	static uint32_t before[SITES];
	int count;

	read_hits(before);
	EXPECT_EQ(way->begin(), KERN_SUCCESS);
	read_hits(hits);
	EXPECT_EQ(way->end(&count), KERN_SUCCESS);
	for (uint32_t n = 0; n < SITES; n++)
		hits[n] -= before[n];
}

/* ---------------- With one of them failing ---------------- */

static void expect_nothing(const struct way *way)
{
	mach_msg_type_number_t n = MAX_PC_SAMPLES;
	unsigned seqno = 0;
	int count;

	EXPECT_EQ(way->fetch(&seqno, &n), KERN_FAILURE);
	EXPECT_EQ(way->end(&count), KERN_FAILURE);
}

static void begin_failing(const struct way *way, uint32_t site, uint32_t nth)
{
	balance_note();
	EXPECT_EQ(assay_fail_allocation(site, nth), KERN_SUCCESS);
	EXPECT_EQ(way->begin(), KERN_RESOURCE_SHORTAGE);
	assay_fail_allocation(ASSAY_NO_SITE, 0);
	expect_nothing(way);
	balance_settle();
	if (check_failed())
		print("# %s, with allocation %u of site %u failing\n", way->name, nth, site);
}

static void touch_pages(uint32_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		vm_address_t page = 0;

		EXPECT_EQ(vm_allocate(SELF, &page, PAGE_SIZE, TRUE), KERN_SUCCESS);
		*(volatile uint32_t *)page = 1;
		EXPECT_EQ(vm_deallocate(SELF, page, PAGE_SIZE), KERN_SUCCESS);
	}
}

/* As many samples as it can hold, and each of them is one. */
static void expect_whole(const struct way *way)
{
	mach_msg_type_number_t n = MAX_PC_SAMPLES;
	unsigned seqno = 0, right = 0;
	int count = 0;

	EXPECT_EQ(way->begin(), KERN_SUCCESS);
	touch_pages(MAX_PC_SAMPLES);
	EXPECT_EQ(way->fetch(&seqno, &n), KERN_SUCCESS);
	EXPECT_EQ(n, MAX_PC_SAMPLES);
	for (uint32_t i = 0; i < n; i++)
		right += samples[i].sampletype == SAMPLED_PC_VM_ZFILL_FAULTS;
	EXPECT_EQ(right, MAX_PC_SAMPLES);
	EXPECT_EQ(way->end(&count), KERN_SUCCESS);
	EXPECT_EQ(count, seqno);
}

/* The stream is one allocation, and its ring more than one of the same site. */
static void fail_each(const struct way *way)
{
	static uint32_t hits[SITES];
	uint32_t most = 0, sites = 0;

	expect_whole(way);
	count_hits(way, hits);
	for (uint32_t site = 0; site < SITES; site++) {
		sites += hits[site] > 0;
		most = hits[site] > most ? hits[site] : most;
		for (uint32_t nth = 1; nth <= hits[site]; nth++)
			begin_failing(way, site, nth);
	}
	EXPECT_LE(2, sites);
	EXPECT_LE(2, most);
	expect_whole(way);
}

TEST(a_ring_is_whole_or_not_there)
{
	thread = mach_thread_self();
	for (uint32_t n = 0; n < sizeof ways / sizeof ways[0]; n++)
		fail_each(&ways[n]);
	port_drop_send(thread);
}

/* ---------------- Streams ---------------- */

static kern_return_t start(mach_port_t reply)
{
	return task_sample_start(SELF, SAMPLED_PC_PERIODIC, 1000, (sample_options_t){0}, reply);
}

/* Begins a stream, and ends it if it is there; it is there if and only if that was the answer. */
static kern_return_t start_and_stop(void)
{
	static struct collected collected;
	kern_return_t result;

	samples_new(&collected);
	result = start(collected.port);
	assay_fail_allocation(ASSAY_NO_SITE, 0);
	if (result == KERN_SUCCESS) {
		EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
		EXPECT(samples_receive_all(&collected));
	} else {
		EXPECT_EQ(result, KERN_RESOURCE_SHORTAGE);
		EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_INVALID_ARGUMENT);
		EXPECT(message_none(collected.port));
	}
	samples_forget(&collected);
	return result;
}

TEST(a_stream_is_whole_or_not_there)
{
	static uint32_t before[SITES], after[SITES];
	uint32_t failed = 0;

	EXPECT_EQ(start_and_stop(), KERN_SUCCESS);
	read_hits(before);
	EXPECT_EQ(start_and_stop(), KERN_SUCCESS);
	read_hits(after);
	for (uint32_t site = 0; site < SITES; site++) {
		for (uint32_t nth = 1; nth <= after[site] - before[site]; nth++) {
			balance_note();
			EXPECT_EQ(assay_fail_allocation(site, nth), KERN_SUCCESS);
			failed += start_and_stop() != KERN_SUCCESS;
			balance_settle();
		}
	}
	EXPECT_LE(2, failed);
	EXPECT_EQ(start_and_stop(), KERN_SUCCESS);
}
