/* SPDX-License-Identifier: MIT */
/* Which kind of profile is it?  See read.h. */
#include "read.h"

#include <string.h>

const char read_other_rate[] =
	"was sampled at another rate than the files before it: they cannot be summed";
const char read_overlap[] = "has histograms that overlap, or more of them than programs have parts";

/* Of the file's own rounding: less than a sample in a million. */
static bool read_is_same_rate(double one, double other)
{
	double difference = one - other;

	return difference * 1e6 < one && -difference * 1e6 < one;
}

bool read_rate(struct profile_flavor *flavor, double rate)
{
	if (rate <= 0 || flavor->is_event)
		return true;
	if (flavor->rate > 0 && !read_is_same_rate(flavor->rate, rate))
		return false;
	flavor->rate = rate;
	return true;
}

bool read_is_recording(const unsigned char *bytes, size_t size)
{
	return size >= 8 && memcmp(bytes, "PERFILE2", 8) == 0;
}

const char *read_profile(struct profile *profile, const unsigned char *bytes, size_t size,
			 unsigned address_bytes)
{
	if (size >= 4 && memcmp(bytes, "gmon", 4) == 0)
		return gmon_read(profile, bytes, size, address_bytes);
	if (read_is_recording(bytes, size))
		return perf_read(profile, bytes, size);
	if (size == 0)
		return "is empty";
	return gmon_read_bsd(profile, bytes, size, address_bytes);
}
