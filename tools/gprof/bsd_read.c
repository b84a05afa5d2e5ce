/* SPDX-License-Identifier: MIT */
/*
 * Reads the gmon.out of 4.2BSD and 4.4BSD: a header, one histogram, arcs to the end of the file.
 *
 * Neither has a magic number, so all that can be checked is: a header that fits its file is one.
 */
#include "gmon.h"
#include "model.h"
#include "read.h"

#define COUNT_BYTES 4u

struct layout {
	size_t header;
	unsigned rate; /* 0: not said. */
};

/* Programs of 64 bits have the older header padded to whole words. */
static struct layout bsd_layout_of(const unsigned char *bytes, size_t size, unsigned address_bytes)
{
	struct layout layout = {.header = address_bytes == 8 ? 24 : 12};
	size_t version = 2 * (size_t)address_bytes + 4;

	if (size >= version + 20 && load_u32(bytes + version) == GMON_44BSD_VERSION) {
		layout.header = version + 20;
		layout.rate = load_u32(bytes + version + 4);
	}
	return layout;
}

const char *gmon_read_bsd(struct profile *profile, const unsigned char *bytes, size_t size,
			  unsigned address_bytes)
{
	struct layout layout = bsd_layout_of(bytes, size, address_bytes);
	size_t arc_bytes = 2 * (size_t)address_bytes + COUNT_BYTES;
	struct profile_flavor *flavor;
	struct profile_bins *bins;
	uint64_t low, high;
	uint32_t length, n;

	if (size < layout.header)
		return "is not a profile: it is too short for the header of one";
	low = load_address(bytes, address_bytes);
	high = load_address(bytes + address_bytes, address_bytes);
	length = load_u32(bytes + 2 * (size_t)address_bytes);
	if (low >= high || length < layout.header || length > size ||
	    (length - layout.header) % GMON_BIN_BYTES != 0)
		return "is not a profile, or is damaged: its header fits no kind of gmon.out";
	if ((size - length) % arc_bytes != 0)
		return "is damaged: it ends in an arc";
	n = (uint32_t)((length - layout.header) / GMON_BIN_BYTES);
	if (n > high - low)
		return "is damaged: its histogram has more bins than bytes of code";
	flavor = profile_flavor(profile, 0, "periodic");
	if (flavor == NULL || !read_rate(flavor, layout.rate))
		return read_other_rate;
	bins = n == 0 ? NULL : profile_bins(flavor, low, high, n);
	if (n > 0 && bins == NULL)
		return read_overlap;
	for (uint32_t i = 0; i < n; i++)
		profile_bins_add(bins, i, load_u16(bytes + layout.header + 2 * (size_t)i));
	for (size_t at = length; at < size; at += arc_bytes)
		profile_add_arc(profile, load_address(bytes + at, address_bytes),
				load_address(bytes + at + address_bytes, address_bytes),
				load_u32(bytes + at + 2 * (size_t)address_bytes));
	return NULL;
}
