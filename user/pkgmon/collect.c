/* SPDX-License-Identifier: MIT */
/*
 * Collecting: one stream of the whole machine, each sample of which goes to the part that it is of,
 * and the kernel's counts of calls by label.
 */
#include <mach.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <mach/assay.h>
#include <mach/calls.h>

#include "common/common.h"
#include "pkgmon.h"

/* ---------------- Samples ---------------- */

static kern_return_t begin_host(void *context, uint32_t flavors, uint32_t rate,
				sample_options_t options, mach_port_t reply)
{
	const struct collection *collection = context;

	return host_sample_start(collection->host, 0, flavors, rate, options, reply);
}

static kern_return_t end_host(void *context, mach_port_t reply)
{
	const struct collection *collection = context;

	return host_sample_stop(collection->host, reply);
}

static kern_return_t flush_host(void *context, mach_port_t reply, uint64_t *delivered)
{
	const struct collection *collection = context;

	return host_sample_flush(collection->host, reply, delivered);
}

static void add_to(struct part *part, const struct prof_record *record)
{
	if (part == NULL)
		return;
	prof_collector_add(part->collector, (const uint32_t *)record, record->words);
	part->samples++;
}

/*
 * What the kernel does is the kernel's part, and is noted in that of the program from which it was
 * called as well: where that was.
 */
static void take_sample(struct collection *collection, const struct prof_record *record)
{
	const struct prof_sample *sample = (const struct prof_sample *)record;
	struct subject *subject = find_subject(collection, sample->label);
	bool in_kernel = sample->kernel_pc != 0;

	collection->delivered++;
	if (subject != NULL) {
		if (in_kernel)
			add_to(subject->parts, record);
		if (sample->task != 0)
			add_to(part_of_task(collection, subject, sample->task), record);
	} else if (in_kernel) {
		add_to(sample->label == HOST_CALLS_SYSTEM ? collection->system : collection->others,
		       record);
	}
}

/* How the clock ran, and what was lost, is the same for all. */
static void each_part(struct collection *collection,
		      void (*what)(struct part *part, const struct collection *collection,
				   const struct prof_record *record),
		      const struct prof_record *record)
{
	for (unsigned n = 0; n < collection->n_subjects; n++)
		for (struct part *part = collection->subjects[n].parts; part != NULL;
		     part = part->next)
			what(part, collection, record);
	what(collection->system, collection, record);
	what(collection->others, collection, record);
}

static void take_account(struct part *part, const struct collection *collection,
			 const struct prof_record *record)
{
	(void)collection;
	prof_collector_add(part->collector, (const uint32_t *)record, record->words);
}

static void take_record(struct collection *collection, const struct prof_record *record)
{
	if (record->type == PROF_SAMPLE) {
		take_sample(collection, record);
		return;
	}
	if (record->type == PROF_BEGIN &&
	    record->words * sizeof(uint32_t) >= sizeof(struct prof_begin))
		memcpy(&collection->began, record, sizeof(collection->began));
	each_part(collection, take_account, record);
}

static void take(void *context, const uint32_t *words, size_t left)
{
	while (left > 0) {
		const struct prof_record *record = (const struct prof_record *)words;

		if (record->words == 0 || record->words > left)
			return;
		take_record(context, record);
		words += record->words;
		left -= record->words;
	}
}

/* A collector counts what it is told of; the rest of the stream was others'. */
static void tell_others(struct part *part, const struct collection *collection,
			const struct prof_record *none)
{
	(void)none;
	prof_collector_add_others(part->collector, collection->delivered - part->samples);
}

/* ---------------- Both ---------------- */

static bool fail(const char *what, kern_return_t result)
{
	if (result == KERN_RESOURCE_SHORTAGE)
		report("%s: there is no memory left for it", what);
	else
		report("%s: error %d", what, result);
	return false;
}

static bool make_parts(struct collection *collection)
{
	if (!program_read(&collection->kernel, KERNEL_FILE))
		return false;
	for (unsigned n = 0; n < collection->n_subjects; n++)
		if (part_of_kernel(collection, &collection->subjects[n]) == NULL)
			return fail("samples", KERN_RESOURCE_SHORTAGE);
	collection->system = part_of_nobody(collection, "kernel");
	collection->others = part_of_nobody(collection, "other");
	if (collection->system == NULL || collection->others == NULL)
		return fail("samples", KERN_RESOURCE_SHORTAGE);
	return true;
}

static bool begin_samples(struct collection *collection)
{
	const struct prof_collector_target target = {
		.proxy = (uint32_t)getpid(),
		.of_kernel = true,
		.low = collection->kernel.of.low,
		.high = collection->kernel.of.high,
		.context = collection,
		.begin = begin_host,
		.end = end_host,
		.flush = flush_host,
		.watch = take,
	};
	const gprof_options_t options = {.rate = collection->wanted->rate, .flags = SAMPLE_NMI};
	sampled_pc_flavor_t flavors = SAMPLED_PC_PERIODIC;
	kern_return_t result = prof_collector_make(&target, &collection->stream);

	if (result == KERN_SUCCESS)
		result = prof_collector_options(collection->stream, &options);
	if (result == KERN_SUCCESS)
		result = prof_collector_switch(collection->stream, &flavors);
	return result == KERN_SUCCESS || fail("samples", result);
}

/* Whether calls are being counted, and whether there are counts. */
static kern_return_t look_at_calls(const struct collection *collection, boolean_t *on,
				   mach_msg_type_number_t *n)
{
	host_call_array_t words = NULL;
	kern_return_t result = host_calls_get(collection->host, HOST_CALLS_ALL_CPUS, on, &words, n);

	if (result == KERN_SUCCESS && *n != 0)
		vm_deallocate(mach_task_self(), (vm_address_t)words, *n * sizeof(*words));
	return result;
}

/*
 * Somebody else's counts would be mixed up with these, and be forgotten with them.  So would
 * another pkgmon's children, which -s -f has without counts.
 */
static bool calls_are_free(const struct collection *collection)
{
	host_call_labels_t told_apart = {0};
	mach_msg_type_number_t n = 0;
	boolean_t on = FALSE;
	kern_return_t result = look_at_calls(collection, &on, &n);
	bool are_free;

	if (result == KERN_SUCCESS)
		result = host_calls_labels(collection->host, &told_apart);
	if (result != KERN_SUCCESS)
		return fail("calls", result);
	are_free = !on && n == 0 && told_apart.n == 0;
	if (!are_free)
		report("the kernel's calls are counted already: kgmon -h -r ends and forgets that");
	return are_free;
}

/* However pkgmon ends, but by force.  A server tells the kernel of calls only while that counts. */
static const struct collection *counting;

static void end_counting(void)
{
	if (counting->wanted->requests)
		requests_switch(false);
	host_calls_count(counting->host, FALSE);
	host_calls_reset(counting->host);
}

static bool begin_calls(struct collection *collection)
{
	kern_return_t result = KERN_SUCCESS;

	if (!calls_are_free(collection))
		return false;
	counting = collection;
	atexit(end_counting);
	if (collection->wanted->requests)
		result = host_requests_count(collection->host);
	if (result == KERN_SUCCESS)
		result = subjects_begin(collection);
	if (result == KERN_SUCCESS && collection->wanted->calls)
		result = host_calls_count(collection->host, TRUE);
	if (result == KERN_SUCCESS && collection->wanted->requests)
		requests_switch(true);
	return result == KERN_SUCCESS || fail("calls", result);
}

bool collect_begin(struct collection *collection)
{
	if (!make_parts(collection))
		return false;
	if (collection->wanted->samples && !begin_samples(collection))
		return false;
	return (!collection->wanted->calls && !collection->wanted->children) ||
	       begin_calls(collection);
}

bool collect_serve(struct collection *collection, unsigned milliseconds)
{
	kern_return_t result;

	if (collection->stream == NULL) {
		usleep(milliseconds * 1000);
		return true;
	}
	result = prof_collector_serve(collection->stream, milliseconds);
	if (result == KERN_SUCCESS || result == MACH_RCV_TIMED_OUT ||
	    result == MACH_RCV_INTERRUPTED)
		return true;
	collection->failed = true;
	return fail("samples", result);
}

/* `kgmon -h` ends it for all. */
static kern_return_t end_calls(struct collection *collection)
{
	mach_msg_type_number_t n = 0;
	boolean_t on = FALSE;
	kern_return_t result = look_at_calls(collection, &on, &n);

	if (result != KERN_SUCCESS)
		return result;
	if (!on) {
		report("calls: kgmon has ended the counting, and those after that are missing");
		collection->failed = true;
	}
	return host_calls_count(collection->host, FALSE);
}

void collect_end(struct collection *collection)
{
	sampled_pc_flavor_t none = 0;
	kern_return_t result = KERN_SUCCESS;

	if (collection->wanted->requests)
		requests_switch(false);
	if (collection->wanted->calls)
		result = end_calls(collection);
	if (result == KERN_SUCCESS && collection->stream != NULL)
		result = prof_collector_switch(collection->stream, &none);
	subjects_end(collection);
	if (result != KERN_SUCCESS)
		collection->failed = !fail("the end", result);
	else if (collection->wanted->requests && !requests_read(collection))
		collection->failed = true;
	each_part(collection, tell_others, NULL);
}
