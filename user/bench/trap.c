/* SPDX-License-Identifier: MIT */
/* A trap that does nothing: the way into the kernel and out, with the call of the stub. */
#include "measure.h"

void bench_trap(uint32_t n)
{
	measure_calibrate();
	MEASURE(n, null_trap());
	report_samples(n, 1);
}
