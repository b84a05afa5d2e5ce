/* SPDX-License-Identifier: MIT */
/*
 * The machine report: see report.h.
 *
 * The counts that must balance are gathered from where they are kept.  Pages that zones and stacks
 * keep for their next use are not among them.
 */
#include "boot/report.h"

#include "base/assert.h"
#include "base/cpu.h"
#include "base/kernel_stack.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/string.h"
#include "base/timer.h"
#include "base/zone.h"
#include "prof/stream.h"
#include "vm/page/page.h"
#include "vm/pager/pageout.h"

/* Volatile: the runner reads it, and writes `request`, from outside the machine. */
volatile struct machine_report machine_report;

static uint32_t before[MACHINE_COUNTS];
static uint32_t n_before;

/* Counts as they are gathered, by name. */
struct gathered {
	uint32_t n;
	const char *names[MACHINE_COUNTS];
	uint32_t values[MACHINE_COUNTS];
};

static void report_add(struct gathered *counts, const char *name, uint32_t value)
{
	assert(counts->n < MACHINE_COUNTS);
	counts->names[counts->n] = name;
	counts->values[counts->n] = value;
	counts->n++;
}

static void report_add_zone(const struct zone *zone, void *counts)
{
	report_add(counts, zone->name, zone_in_use(zone));
}

static void report_gather(struct gathered *counts)
{
	counts->n = 0;
	report_add(counts, "pages of users", page_count(PAGE_USER));
	report_add(counts, "pages of messages", page_count(PAGE_KERNEL));
	report_add(counts, "pages of tables", page_count(PAGE_TABLE));
	report_add(counts, "kernel stacks", kernel_stack_count());
	report_add(counts, "timers", timer_count() - pageout_timers() - delivery_timers());
	zone_for_each(report_add_zone, counts);
}

void report_begin(uint64_t cycles)
{
	machine_report.version = MACHINE_REPORT_VERSION;
	machine_report.tsc_entry = cycles;
	machine_report.magic = MACHINE_REPORT_MAGIC;
}

void report_counts_before(void)
{
	struct gathered counts;

	report_gather(&counts);
	n_before = counts.n;
	memcpy(before, counts.values, sizeof before);
}

void report_user_mode(void)
{
	if (machine_report.tsc_user == 0)
		machine_report.tsc_user = machine_cycles();
}

uint32_t report_counts(struct machine_count *out, uint32_t room)
{
	struct gathered counts;

	report_gather(&counts);
	for (uint32_t n = 0; n < counts.n && n < room; n++) {
		memset(&out[n], 0, sizeof out[n]);
		strlcpy(out[n].name, counts.names[n], sizeof out[n].name);
		out[n].before = n < n_before ? before[n] : 0;
		out[n].after = counts.values[n];
	}
	return counts.n;
}

/* Under no lock: the other CPUs have been stopped. */
static void report_publish_counts(void)
{
	static struct machine_count counts[MACHINE_COUNTS];
	uint32_t n = report_counts(counts, MACHINE_COUNTS);

	for (uint32_t i = 0; i < n; i++)
		machine_report.counts[i] = counts[i];
	machine_report.n_counts = n;
}

static void report_say(enum machine_outcome outcome, uint32_t status)
{
	static const char *const names[] = {
		[MACHINE_RUNNING] = "running", [MACHINE_EXIT] = "exit",
		[MACHINE_PANIC] = "panic",     [MACHINE_TIMEOUT] = "timeout",
		[MACHINE_REFUSED] = "refused",
	};

	if (outcome == MACHINE_EXIT)
		klog("machine: exit status %u\n", (unsigned)status);
	else
		klog("machine: %s\n", names[outcome]);
}

void report_end(enum machine_outcome outcome, uint32_t status)
{
	machine_report.tsc_end = machine_cycles();
	report_say(outcome, status);
	if (outcome == MACHINE_EXIT)
		report_publish_counts();
	machine_report.cpus = cpu_count();
	machine_report.status = status;
	machine_report.outcome = outcome;
}

bool report_request_pending(void)
{
	return machine_report.request == MACHINE_REQUEST_BACKTRACE;
}
