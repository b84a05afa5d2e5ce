/* SPDX-License-Identifier: MIT */
/* Work to be sampled: loops of a known length, in functions that stay functions. */
#ifndef TESTS_LIBPROF_WORK_H
#define TESTS_LIBPROF_WORK_H

#define KEPT __attribute__((noinline, noclone))

static volatile unsigned sink;

/* A millisecond each, or a little more, where an instruction takes a nanosecond. */
#define LOOPS_PER_MS 200000u

static KEPT __attribute__((unused)) void spin(unsigned ms)
{
	for (unsigned n = 0; n < ms * LOOPS_PER_MS; n++)
		sink += n;
}

#endif
