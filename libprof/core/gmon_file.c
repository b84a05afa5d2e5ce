/* SPDX-License-Identifier: MIT */
/*
 * The file of a profile: see gmon_file.h.
 *
 * A histogram is as large as the program's text, and may have to be there several times; so its
 * bins are counted in the file itself, and nothing of that size is needed beside it.
 */
#include "gmon_file.h"

#include <gmon.h>
#include <string.h>

#include "arcs.h"
#include "code.h"
#include "pages.h"

#define BIN_BYTES 2u /* Of text, for each bin; the exact places are in records of our own. */
#define BIN_MAX   0xffffu
#define NEW_ARCS  64u /* Room for arcs that are new when the file is written. */

/* Tag and record, as they lie in the file. */
#define HISTOGRAM_SIZE (1 + sizeof(struct gmon_histogram))
#define ARC_SIZE       (1 + sizeof(struct gmon_arc))

_Static_assert(sizeof(struct gmon_header) == 20 && sizeof(struct gmon_histogram) == 32 &&
		       sizeof(struct gmon_arc) == 12 && sizeof(struct gmon_44bsd_header) == 32 &&
		       sizeof(struct gmon_bsd_header) == 12,
	       "the file's layout");

struct output {
	char *to;
	size_t size;
	size_t room;
	bool has_tags; /* Of the GNU format. */
	bool is_cut;   /* There was no room for something. */
};

static void put(struct output *output, const void *data, size_t size)
{
	if (size > output->room - output->size) {
		output->is_cut = true;
		return;
	}
	memcpy(output->to + output->size, data, size);
	output->size += size;
}

/* ---------------- What is in the histogram ---------------- */

/* The first of the flavors that were sampled: the lowest bit. */
static uint32_t main_flavor(const struct collection *collection)
{
	uint32_t flavors = collection->flavors;

	return flavors == 0 ? SAMPLED_PC_PERIODIC : flavors & -flavors;
}

static uint32_t main_kind(const struct collection *collection)
{
	return 2 * (uint32_t)__builtin_ctz(main_flavor(collection));
}

static uint32_t rate_of(const struct collection *collection)
{
	if (main_flavor(collection) != SAMPLED_PC_PERIODIC)
		return 1;
	return collection->rate != 0 ? collection->rate : SAMPLE_RATE_DEFAULT;
}

static uint32_t bins_of(const struct collection *collection)
{
	return (collection->high - collection->low + BIN_BYTES - 1) / BIN_BYTES;
}

static bool is_in_histogram(const struct collection *collection, const struct pc_count *place)
{
	return place->count != 0 && place->kind == main_kind(collection) &&
	       place->pc >= collection->low && place->pc < collection->high;
}

/* The count of the other pc in the same bin. */
static uint64_t neighbour(const struct collection *collection, const struct pc_count *place)
{
	uint32_t pc = ((place->pc - collection->low) ^ 1) + collection->low;

	return __pc_table_count(&collection->pcs, pc, place->kind);
}

/* How often the histogram must be there, so that no bin of 16 bits overflows. */
static uint32_t histograms_of(const struct collection *collection)
{
	uint64_t most = 1;
	uint32_t full;

	for (uint32_t n = 0; n < collection->pcs.size; n++) {
		const struct pc_count *place = &collection->pcs.places[n];

		if (is_in_histogram(collection, place)) {
			uint64_t count = place->count + neighbour(collection, place);

			if (count > most)
				most = count;
		}
	}
	/* In 32 bits: there is no library for longer divisions where this is linked. */
	full = most > UINT32_MAX ? UINT32_MAX : (uint32_t)most;
	return full / BIN_MAX + (full % BIN_MAX > 0);
}

/*
 * Adds to a bin as far as it has room; what is left goes to the same bin of the next histogram,
 * `stride` bytes further on.  Bins may lie at odd addresses.
 */
static void fill(char *bin, uint64_t count, uint32_t histograms, size_t stride)
{
	for (; histograms > 0 && count > 0; histograms--, bin += stride) {
		uint16_t now;
		uint32_t more;

		memcpy(&now, bin, sizeof now);
		more = count < BIN_MAX - now ? (uint32_t)count : BIN_MAX - now;
		now = (uint16_t)(now + more);
		memcpy(bin, &now, sizeof now);
		count -= more;
	}
}

/* Counts all samples into the bins of histograms that are zero, the first of them at `bins`. */
static void fill_all(const struct collection *collection, char *bins, uint32_t histograms,
		     size_t stride)
{
	for (uint32_t n = 0; n < collection->pcs.size; n++) {
		const struct pc_count *place = &collection->pcs.places[n];

		if (is_in_histogram(collection, place))
			fill(bins + (place->pc - collection->low) / BIN_BYTES * sizeof(uint16_t),
			     place->count, histograms, stride);
	}
}

/* ---------------- Arcs, and what looks like them ---------------- */

static void put_arc(struct output *output, uint32_t from, uint32_t self, uint32_t count)
{
	static const char tag = GMON_TAG_ARC;
	const struct gmon_arc arc = {.from = from, .self = self, .count = count};

	if (output->room - output->size < ARC_SIZE) {
		output->is_cut = true;
		return;
	}
	if (output->has_tags)
		put(output, &tag, sizeof tag);
	put(output, &arc, sizeof arc);
}

/* How often 2^32 - 1 goes into the count, a part of it counting as a whole. */
static uint32_t records_for(uint64_t count)
{
	uint64_t rest = (count >> 32) + (uint32_t)count;

	return (uint32_t)(count >> 32) + (rest > 0) + (rest > UINT32_MAX);
}

/* A count of more than 32 bits takes several records, which readers add up. */
static void put_count(struct output *output, uint32_t from, uint32_t self, uint64_t count)
{
	while (count > 0) {
		uint32_t part = count < UINT32_MAX ? (uint32_t)count : UINT32_MAX;

		put_arc(output, from, self, part);
		count -= part;
	}
}

static uint64_t count_of(const struct arc *arc)
{
	return (uint64_t)arc->high << 32 | arc->low;
}

static void measure_arc(const struct arc *arc, void *argument)
{
	uint32_t *records = argument;

	*records += records_for(count_of(arc));
}

/* A call from where no program has code is not taken for a record of ours. */
static void write_arc(const struct arc *arc, void *argument)
{
	uint32_t from = arc->from < GMON_EXTRA_END ? GMON_EXTRA_END : arc->from;

	put_count(argument, from, arc->self, count_of(arc));
}

/* ---------------- Our own records ---------------- */

#define VALUES_MAX 32u
#define CPU_VALUES 7u /* Of each CPU. */

static void put_value(struct output *output, enum gmon_value value, uint64_t number)
{
	put_arc(output, GMON_EXTRA_VALUE, value, (uint32_t)number);
	if (number >> 32 != 0)
		put_arc(output, GMON_EXTRA_VALUE_HIGH, value, (uint32_t)(number >> 32));
}

#define NAME_WORDS (GMON_NAME_ROOM / sizeof(uint32_t))

/* Before all else that is ours, for who looks whose the file is (whose.c). */
static void put_owner(struct output *output, const struct collection *collection)
{
	uint32_t words[NAME_WORDS] = {0};
	size_t length;

	if (collection->name == NULL)
		return;
	length = strlen(collection->name);
	memcpy(words, collection->name, length < sizeof words ? length : sizeof words - 1);
	put_arc(output, GMON_EXTRA_LABEL_PID, collection->task, collection->pid + 1);
	for (uint32_t n = 0; n < NAME_WORDS && words[n] != 0; n++)
		put_arc(output, GMON_EXTRA_LABEL_NAME + n, collection->task, words[n]);
}

static void put_settings(struct output *output, const struct collection *collection)
{
	uint32_t world = (collection->clock_is_block ? GMON_CLOCK_IS_BLOCK : 0) |
			 (collection->cpus_in_turn ? GMON_CPUS_IN_TURN : 0);

	put_value(output, GMON_FORMAT, 1);
	put_value(output, GMON_FLAVOR, main_flavor(collection));
	put_value(output, GMON_FLAVORS, collection->flavors);
	put_value(output, GMON_RATE, collection->rate);
	put_value(output, GMON_INTERVAL, collection->interval_ns);
	put_value(output, GMON_OPTIONS, collection->options | world);
	put_value(output, GMON_PID, collection->pid);
	put_value(output, GMON_TASK, collection->task);
}

static void put_code(uint32_t code, uint32_t bytes, uint32_t sum, void *argument)
{
	put_arc(argument, GMON_EXTRA_CODE, code, bytes);
	put_arc(argument, GMON_EXTRA_CODE_SUM, code, sum);
}

static void put_program(struct output *output, const struct collection *collection, bool with_arcs)
{
	if (collection->has_program) {
		put_value(output, GMON_TEXT_LOW, collection->program.low);
		put_value(output, GMON_TEXT_HIGH, collection->program.high);
	}
	__code_visit(collection, with_arcs, put_code, output);
}

static void put_sums(struct output *output, const struct collection *collection)
{
	struct clock_counts clocks = __collection_clocks(collection);
	struct stream_counts counts = __collection_counts(collection);
	struct place_counts places = __collection_places(collection);

	put_value(output, GMON_DUE, clocks.due);
	put_value(output, GMON_FIRED, clocks.fired);
	put_value(output, GMON_MISSED, clocks.missed);
	put_value(output, GMON_IDLE, clocks.idle);
	put_value(output, GMON_ELSEWHERE, clocks.elsewhere);
	put_value(output, GMON_TAKEN, clocks.taken);
	put_value(output, GMON_PARKED, clocks.parked);
	put_value(output, GMON_ALL_TAKEN, counts.taken);
	put_value(output, GMON_DELIVERED, counts.delivered);
	put_value(output, GMON_LOST, counts.lost);
	put_value(output, GMON_BUFFERED, counts.buffered);
	put_value(output, GMON_PROFILER, collection->profiler);
	put_value(output, GMON_OUTSIDE, places.outside);
	put_value(output, GMON_ARCS_LOST, __arcs_lost());
	put_value(output, GMON_KERNEL, places.kernel);
	if (collection->others != 0 || collection->of_kernel)
		put_value(output, GMON_OTHERS, collection->others);
}

static void put_cpu_value(struct output *output, uint32_t cpu, enum gmon_value value,
			  uint64_t number)
{
	put_arc(output, GMON_EXTRA_CPU, GMON_CPU_VALUE(cpu, value), (uint32_t)number);
	if (number >> 32 != 0)
		put_arc(output, GMON_EXTRA_CPU_HIGH, GMON_CPU_VALUE(cpu, value),
			(uint32_t)(number >> 32));
}

/* Of one CPU alone the sums say all. */
static void put_cpus(struct output *output, const struct collection *collection)
{
	for (uint32_t cpu = 0; collection->cpus > 1 && cpu < collection->cpus; cpu++) {
		struct clock_counts counts = __collection_clock(collection, cpu);

		put_cpu_value(output, cpu, GMON_DUE, counts.due);
		put_cpu_value(output, cpu, GMON_FIRED, counts.fired);
		put_cpu_value(output, cpu, GMON_MISSED, counts.missed);
		put_cpu_value(output, cpu, GMON_PARKED, counts.parked);
		put_cpu_value(output, cpu, GMON_IDLE, counts.idle);
		put_cpu_value(output, cpu, GMON_ELSEWHERE, counts.elsewhere);
		put_cpu_value(output, cpu, GMON_TAKEN, counts.taken);
	}
}

static void put_pcs(struct output *output, const struct collection *collection)
{
	for (uint32_t n = 0; n < collection->pcs.size; n++) {
		const struct pc_count *place = &collection->pcs.places[n];

		put_count(output, GMON_EXTRA_PC + place->kind, place->pc, place->count);
	}
}

static void put_labels(struct output *output, const struct collection *collection)
{
	for (uint32_t n = 0; n < collection->labels.size; n++) {
		const struct pc_count *place = &collection->labels.places[n];

		put_count(output, GMON_EXTRA_LABEL, place->pc, place->count);
	}
}

static uint32_t records_of(const struct pc_table *table)
{
	uint32_t records = 0;

	for (uint32_t n = 0; n < table->size; n++)
		records += records_for(table->places[n].count);
	return records;
}

/* ---------------- The three forms ---------------- */

/* Flavors' names by the numbers of their bits. */
static const char *const names[] = {
	[4] = "zfill", [5] = "reactivation", [6] = "pagein", [7] = "cow", [8] = "any",
};

static const char *dimension_of(const struct collection *collection)
{
	uint32_t bit = main_kind(collection) / 2;

	return bit < sizeof names / sizeof names[0] && names[bit] != NULL ? names[bit] : "seconds";
}

static void put_gnu_histogram(struct output *output, const struct collection *collection)
{
	static const char tag = GMON_TAG_HISTOGRAM;
	uint32_t bins = bins_of(collection);
	const char *dimension = dimension_of(collection);
	struct gmon_histogram histogram = {
		.low = collection->low,
		.high = collection->low + bins * BIN_BYTES,
		.bins = bins,
		.rate = rate_of(collection),
		.abbreviation = dimension[0],
	};

	memcpy(histogram.dimension, dimension, strlen(dimension));
	put(output, &tag, sizeof tag);
	put(output, &histogram, sizeof histogram);
	output->size += bins * sizeof(uint16_t);
}

static void put_gnu_head(struct output *output, const struct collection *collection)
{
	struct gmon_header header = {.version = GMON_VERSION};
	uint32_t histograms = histograms_of(collection);
	size_t stride = HISTOGRAM_SIZE + bins_of(collection) * sizeof(uint16_t);

	memcpy(header.magic, GMON_MAGIC, sizeof header.magic);
	put(output, &header, sizeof header);
	fill_all(collection, output->to + output->size + HISTOGRAM_SIZE, histograms, stride);
	for (uint32_t n = 0; n < histograms; n++)
		put_gnu_histogram(output, collection);
}

/* There is one histogram only: a bin stays at the most that it can hold. */
static void put_bsd_head(struct output *output, const struct collection *collection,
			 enum gprof_format format)
{
	size_t bytes = bins_of(collection) * sizeof(uint16_t);
	size_t size = format == GPROF_BSD ? sizeof(struct gmon_bsd_header)
					  : sizeof(struct gmon_44bsd_header);
	const struct gmon_44bsd_header header = {
		.low = collection->low,
		.high = collection->low + bins_of(collection) * BIN_BYTES,
		.bytes = (int32_t)(size + bytes),
		.version = GMON_44BSD_VERSION,
		.rate = (int32_t)rate_of(collection),
	};

	put(output, &header, size); /* The older one is the beginning of the newer. */
	fill_all(collection, output->to + output->size, 1, 0);
	output->size += bytes;
}

size_t __gmon_room(const struct collection *collection, bool with_arcs, enum gprof_format format)
{
	size_t bins = bins_of(collection) * sizeof(uint16_t);
	uint32_t records = NEW_ARCS;
	size_t room;

	if (with_arcs)
		__arcs_visit(measure_arc, &records);
	if (format != GPROF_GNU)
		return sizeof(struct gmon_44bsd_header) + bins + records * ARC_SIZE;
	room = sizeof(struct gmon_header) + histograms_of(collection) * (HISTOGRAM_SIZE + bins);
	records += 1 + NAME_WORDS + 2 * VALUES_MAX + 2 * CPU_VALUES * collection->cpus +
		   2 * __code_ranges(collection) + records_of(&collection->pcs) +
		   records_of(&collection->labels);
	return room + records * ARC_SIZE;
}

size_t __gmon_write(const struct collection *collection, bool with_arcs, enum gprof_format format,
		    char *to, size_t room)
{
	struct output output = {.to = to, .room = room, .has_tags = format == GPROF_GNU};

	if (format == GPROF_GNU) {
		put_gnu_head(&output, collection);
		put_owner(&output, collection);
		put_settings(&output, collection);
		put_program(&output, collection, with_arcs);
		put_sums(&output, collection);
		put_cpus(&output, collection);
		put_pcs(&output, collection);
		put_labels(&output, collection);
	} else {
		put_bsd_head(&output, collection, format);
	}
	if (with_arcs)
		__arcs_visit(write_arc, &output);
	return output.is_cut ? 0 : output.size;
}

char *__gmon_make(const struct collection *collection, bool with_arcs, enum gprof_format format,
		  size_t *size, size_t *room)
{
	for (;;) {
		char *data;

		*room = __gmon_room(collection, with_arcs, format);
		data = __prof_pages(*room);
		if (data == NULL)
			return NULL;
		*size = __gmon_write(collection, with_arcs, format, data, *room);
		if (*size != 0)
			return data;
		/* Other threads have called much that is new: those arcs are there now. */
		__prof_pages_free(data, *room);
	}
}
