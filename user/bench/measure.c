/* SPDX-License-Identifier: MIT */
/* How the benchmarks measure: see measure.h. */
#include "measure.h"

#define CALIBRATIONS 100
#define NOPS         10

uint32_t samples[SAMPLES_MAX];
uint32_t overhead;

static struct assay_cpu_info before, after;

static void sort(uint32_t *values, uint32_t n)
{
	for (uint32_t gap = n / 2; gap > 0; gap /= 2) {
		for (uint32_t i = gap; i < n; i++) {
			uint32_t value = values[i];
			uint32_t j = i;

			for (; j >= gap && values[j - gap] > value; j -= gap)
				values[j] = values[j - gap];
			values[j] = value;
		}
	}
}

static uint32_t median(uint32_t n)
{
	sort(samples, n);
	return samples[n / 2];
}

uint32_t median_of(uint32_t *values, uint32_t n)
{
	sort(values, n);
	return values[n / 2] - overhead;
}

void measure_begin(void)
{
	assay_cpu_info(&before);
	hot_start();
}

void measure_end(void)
{
	hot_stop();
	assay_cpu_info(&after);
}

void measure_calibrate(void)
{
	/* The room for samples is there, or the first of a page would cost a fault. */
	for (uint32_t n = 0; n < SAMPLES_MAX; n++)
		samples[n] = 1;
	SAMPLE(CALIBRATIONS, );
	overhead = median(CALIBRATIONS);
	SAMPLE(CALIBRATIONS, __asm__ volatile(".rept %c0; nop; .endr" ::"i"(NOPS)));
	if (median(CALIBRATIONS) - overhead == NOPS)
		return;
	print("bench: this needs the fixed instruction clock: %d instructions took %u\n", NOPS,
	      samples[CALIBRATIONS / 2] - overhead);
	assay_exit(3);
}

void report_costs(uint32_t operations)
{
	print("operations %u\n", operations);
	print("cr3 %u\n", after.cr3_loads - before.cr3_loads);
	print("flushes %u\n", after.tlb_flushes - before.tlb_flushes);
	print("ipis %u\n", after.ipis - before.ipis);
}

void report_median(uint32_t n)
{
	print("median %u\n", median_of(samples, n));
}

void report_samples(uint32_t n, uint32_t parts)
{
	report_median(n);
	print("parts %u\n", parts);
	report_costs(n * parts);
}

uint32_t measured_ticks(void)
{
	return after.ticks - before.ticks;
}

uint64_t length_of(workload *run, uint32_t turns)
{
	uint64_t before = cycles();

	run(turns);
	return cycles() - before;
}

void must(kern_return_t result, const char *what)
{
	if (result == KERN_SUCCESS)
		return;
	print("bench: %s failed with %d\n", what, result);
	assay_exit(3);
}
