/* SPDX-License-Identifier: MIT */
/*
 * Is a profile this program's?  The table of another one's would be wrong, and nobody would see it.
 *
 * Files of ours carry a sum of the code that ran, which decides.  Of all others it can be told
 * where the histogram lies and where calls were counted: with -pg that is behind a call of mcount,
 * and another program has none there.
 */
#include "fits.h"

#include <string.h>

#include "gmon.h"
#include "gmon_program.h"
#include "graph.h"
#include "util.h"

/* Mappings are rounded to pages. */
#define PAGE_BYTES 4096ull

/* A histogram's end is rounded up, to a bin or to a few words. */
#define ROUNDING 16u

#define CALL          0xe8u
#define CALL_BYTES    5u
#define PROLOGUE_MOST 64u /* Of a function's code, in which it counts itself. */

/* ---------------- Calls of mcount ---------------- */

struct counting {
	const struct elfsym *elf;
	uint64_t places[COUNTING_NAMES]; /* Of the functions that count calls. */
	unsigned n;
};

static void fits_find_counting(struct counting *counting, const struct elfsym *elf)
{
	*counting = (struct counting){.elf = elf};
	for (unsigned i = 0; i < COUNTING_NAMES; i++) {
		const struct elfsym_function *function =
			elfsym_find_name(elf, graph_counting_names[i]);

		if (function != NULL)
			counting->places[counting->n++] = function->start;
	}
}

/* Whether the instruction before the address is such a call. */
static bool fits_is_behind_call(const struct counting *counting, uint64_t address)
{
	const unsigned char *call = elfsym_bytes(counting->elf, address - CALL_BYTES, CALL_BYTES);
	uint64_t mask = counting->elf->is_64 ? UINT64_MAX : UINT32_MAX;
	uint64_t to;

	if (call == NULL || call[0] != CALL)
		return false;
	to = (address + (uint64_t)(int64_t)(int32_t)load_u32(call + 1)) & mask;
	for (unsigned i = 0; i < counting->n; i++)
		if (counting->places[i] == to)
			return true;
	return false;
}

/* Whether any function of the program counts itself so that it can be seen here. */
static bool fits_counts_itself(const struct counting *counting)
{
	for (size_t i = 0; i < counting->elf->n_functions; i++) {
		const struct elfsym_function *function = &counting->elf->functions[i];
		uint64_t bytes = function->end - function->start;

		if (bytes > PROLOGUE_MOST)
			bytes = PROLOGUE_MOST;
		for (uint64_t j = CALL_BYTES; j <= bytes; j++)
			if (fits_is_behind_call(counting, function->start + j))
				return true;
	}
	return false;
}

/* Code that no compiler wrote may count itself in other ways: so most of the calls decide. */
static bool fits_counts_elsewhere(const struct profile *profile, const struct profile_mark *mark,
				  const struct elfsym *elf)
{
	struct counting counting;
	size_t right = 0, wrong = 0;

	fits_find_counting(&counting, elf);
	if (counting.n == 0)
		return false;
	for (size_t i = mark->arcs; i < profile->n_arcs; i++)
		if (profile->arcs[i].count > 0)
			*(fits_is_behind_call(&counting, profile->arcs[i].self) ? &right
										: &wrong) += 1;
	return wrong > right && (right > 0 || fits_counts_itself(&counting));
}

/* ---------------- Addresses ---------------- */

static bool fits_is_in_text(const struct elfsym *elf, uint64_t address)
{
	return address >= elf->text_start && address < elf->text_end;
}

static bool fits_begins_with_headers(const struct elfsym *elf, const struct profile_bins *bins)
{
	return elf->image_start < elf->code_start && bins->low <= elf->image_start &&
	       bins->low + ROUNDING > elf->image_start;
}

/*
 * Of whole pages; or from somewhere in the code to somewhere in it, as the program chose.  Where a
 * program begins whose headers are before its code no program chooses to begin: so does the library
 * that samples all of it, up to the end of a section with code.
 */
static bool fits_is_range_of_code(const struct elfsym *elf, const struct profile_bins *bins)
{
	uint64_t rounding = (bins->high - bins->low) / bins->n;

	if (rounding < ROUNDING)
		rounding = ROUNDING;
	if (bins->low % PAGE_BYTES == 0 && bins->high % PAGE_BYTES == 0)
		return bins->low >= elf->image_start / PAGE_BYTES * PAGE_BYTES &&
		       bins->high < elf->code_end + PAGE_BYTES;
	if (fits_begins_with_headers(elf, bins))
		return elfsym_ends_code(elf, bins->high, rounding);
	return bins->low + rounding > elf->code_start && bins->high < elf->code_end + rounding;
}

static bool fits_counts_outside(const struct elfsym *elf, const struct profile_bins *bins)
{
	for (uint32_t i = 0; i < bins->n; i++)
		if (profile_bins_get(bins, i) > 0 &&
		    (profile_bins_start(bins, i + 1) <= elf->text_start ||
		     profile_bins_start(bins, i) >= elf->text_end))
			return true;
	return false;
}

/*
 * Who sampled more than the program has, and found nothing there, may have meant this program.
 * One that ends early does not show what was behind its end.
 */
static bool fits_is_of_code(const struct elfsym *elf, const struct profile_bins *bins)
{
	bool is_wider = bins->high > elf->text_end ||
			(bins->low < elf->text_start && !fits_begins_with_headers(elf, bins));
	bool is_elsewhere = bins->low >= elf->text_end || bins->high <= elf->text_start;

	return fits_is_range_of_code(elf, bins) ||
	       (is_wider && !is_elsewhere && !fits_counts_outside(elf, bins));
}

/* Ours may cover constants behind the code as well. */
static bool fits_is_in_image(const struct profile *profile, const struct elfsym *elf)
{
	return profile->high == 0 || (profile->low + ROUNDING > elf->image_start &&
				      profile->high < elf->text_end + ROUNDING);
}

static bool fits_has_places(const struct profile *profile, const struct profile_mark *mark,
			    const struct elfsym *elf)
{
	uint64_t inside = 0, outside = 0;

	for (size_t i = mark->arcs; i < profile->n_arcs; i++)
		if (profile->arcs[i].count > 0 && !fits_is_in_text(elf, profile->arcs[i].self))
			return false;
	for (size_t i = 0; i < profile->n_flavors; i++) {
		const struct profile_flavor *flavor = &profile->flavors[i];
		const struct profile_counts *counts = &flavor->counts[PROFILE_USER];

		for (size_t j = mark->bins[i]; j < flavor->n_bins; j++)
			if (!fits_is_of_code(elf, &flavor->bins[j]))
				return false;
		for (size_t j = mark->counts[i]; j < counts->n; j++)
			*(fits_is_in_text(elf, counts->items[j].pc) ? &inside : &outside) +=
				counts->items[j].count;
	}
	return outside == 0 || (inside > 0 && fits_is_in_image(profile, elf));
}

/* ---------------- Files ---------------- */

void profile_mark(struct profile *profile, struct profile_mark *mark)
{
	*mark = (struct profile_mark){.arcs = profile->n_arcs};
	for (size_t i = 0; i < profile->n_flavors; i++) {
		mark->bins[i] = profile->flavors[i].n_bins;
		mark->counts[i] = profile->flavors[i].counts[PROFILE_USER].n;
	}
	profile->n_codes = 0;
	profile->low = profile->high = 0;
}

static bool fits_has_code(const struct profile *profile, const struct elfsym *elf)
{
	for (size_t i = 0; i < profile->n_codes; i++) {
		const struct profile_code *code = &profile->codes[i];
		const unsigned char *bytes = elfsym_bytes(elf, code->start, code->bytes);

		if (bytes == NULL || gmon_code_sum(bytes, code->bytes) != code->sum)
			return false;
	}
	return !profile_knows(profile, GMON_TEXT_HIGH) ||
	       (profile->values[GMON_TEXT_LOW] == elf->text_start &&
		profile->values[GMON_TEXT_HIGH] == elf->text_end);
}

enum profile_fit profile_fits(const struct profile *profile, const struct profile_mark *mark,
			      const struct elfsym *elf)
{
	if (!fits_has_code(profile, elf))
		return PROFILE_OTHER_CODE;
	if (!fits_has_places(profile, mark, elf))
		return PROFILE_OTHER_PLACES;
	if (profile->n_codes > 0)
		return PROFILE_SAME_CODE;
	return fits_counts_elsewhere(profile, mark, elf) ? PROFILE_OTHER_CALLS : PROFILE_MAY_FIT;
}

/* ---------------- Single samples ---------------- */

static bool fits_is_end(uint64_t end, uint64_t of_code)
{
	if (end % PAGE_BYTES == 0)
		of_code = (of_code + PAGE_BYTES - 1) / PAGE_BYTES * PAGE_BYTES;
	return end == of_code;
}

/* Whole pages, or the code alone. */
static bool fits_is_mapped_as(const struct profile_image *image, const struct elfsym *elf)
{
	return image->low / PAGE_BYTES == elf->text_start / PAGE_BYTES &&
	       fits_is_end(image->high, elf->text_end);
}

static bool fits_is_named(const struct profile_image *image, const char *program)
{
	return strcmp(file_part(image->path), file_part(program)) == 0;
}

/* A profile of one program is of this one, whatever its name is by now. */
enum profile_fit profile_fits_images(const struct profile *profile, const struct elfsym *elf,
				     const char *program)
{
	bool is_one = profile_is_of_one(profile), is_any = false, is_mapped = false;
	struct gmon_program own;

	gmon_program_read(&own, elf->image, elf->size);
	for (size_t i = 0; i < profile->n_images; i++) {
		const struct profile_image *image = &profile->images[i];

		if (image->is_kernel || (!is_one && !fits_is_named(image, program)))
			continue;
		if (image->sum != 0 && own.sum != 0 && image->sum != own.sum)
			return PROFILE_OTHER_CODE;
		is_mapped |= fits_is_mapped_as(image, elf);
		is_any = true;
	}
	return is_mapped || !is_any ? PROFILE_MAY_FIT : PROFILE_OTHER_PLACES;
}

const char *profile_name_of(const struct profile *profile, const struct elfsym *elf,
			    const char *program)
{
	const char *name = program;

	for (size_t i = 0; i < profile->n_images; i++) {
		const struct profile_image *image = &profile->images[i];

		if (fits_is_named(image, program))
			return program;
		if (!image->is_kernel && image->low == elf->text_start &&
		    image->high == elf->text_end)
			name = image->path;
	}
	return name;
}
