/* SPDX-License-Identifier: MIT */
/*
 * The records around the samples of a message (<mach/prof.h>): what a stream is, and the counts
 * that prove that no sample is missing.  Guarded by the kernel lock.
 */
#include "prof/stream_internal.h"

#include "base/cpu.h"

#define WORDS(type) ((uint32_t)(sizeof(struct type) / sizeof(uint32_t)))

uint32_t trailer_words(const struct stream *stream, bool last)
{
	return cpu_count() * WORDS(prof_clock) + WORDS(prof_stream) +
	       (stream_wants_waits(stream) ? WORDS(prof_waits) : 0) + (last ? WORDS(prof_end) : 0);
}

static void record_set_u64(uint32_t words[2], uint64_t value)
{
	words[0] = (uint32_t)value;
	words[1] = (uint32_t)(value >> 32);
}

/* Appends a record of `words` words after its head, which is made here. */
static void record_append(struct buffer *buffer, struct prof_record *record, enum prof_type type,
			  uint32_t words)
{
	*record = (struct prof_record){
		.words = (uint16_t)words,
		.type = (uint8_t)type,
		.version = PROF_VERSION,
	};
	buffer_append(buffer, record, words);
}

void record_begin(const struct stream *stream, struct buffer *buffer)
{
	bool periodic = (stream->flavors & SAMPLED_PC_PERIODIC) != 0;
	struct prof_begin begin = {
		.flavors = stream->flavors,
		.rate = periodic ? stream->rate : 0,
		.interval_ns = periodic ? sampler_interval_ns(stream->rate) : 0,
		.options = stream->options,
		.depth = stream->depth,
		.target = stream->target.kind,
		.id = stream->target.id,
		.cpus = cpu_count(),
		.clock_is_block = sampler_clock_is_block(),
		.cpus_in_turn = sampler_cpus_in_turn(),
	};

	record_set_u64(begin.time, stream->begin_time);
	record_append(buffer, &begin.record, PROF_BEGIN, WORDS(prof_begin));
}

/* What a stream has of the sampling clock, on all CPUs. */
struct clock_sums {
	uint64_t taken;
	uint64_t ringed;
	uint64_t lost;
};

/* One CPU's counts, which belong to one moment; all zero for a stream without a clock. */
static void record_append_clock(const struct stream *stream, struct buffer *buffer, uint32_t cpu,
				struct clock_sums *sums)
{
	struct sampler_counts counts = {0};
	struct prof_clock clock = {.cpu = cpu};

	if (stream->slot != SAMPLER_NO_SLOT)
		sampler_read(stream->slot, cpu, &counts);
	assert(counts.due == counts.fired + counts.missed + counts.parked);
	assert(counts.fired == counts.idle + counts.elsewhere + counts.taken);
	assert(counts.taken == counts.ringed + counts.ring_lost);
	record_set_u64(clock.due, counts.due);
	record_set_u64(clock.fired, counts.fired);
	record_set_u64(clock.missed, counts.missed);
	record_set_u64(clock.parked, counts.parked);
	record_set_u64(clock.idle, counts.idle);
	record_set_u64(clock.elsewhere, counts.elsewhere);
	record_set_u64(clock.taken, counts.taken);
	record_append(buffer, &clock.record, PROF_CLOCK, WORDS(prof_clock));
	sums->taken += counts.taken;
	sums->ringed += counts.ringed;
	sums->lost += counts.ring_lost;
}

static void record_append_stream(const struct stream *stream, struct buffer *buffer,
				 const struct clock_sums *sums)
{
	uint64_t taken = sums->taken + stream->events_taken;
	uint64_t lost = sums->lost + stream->lost;
	uint64_t buffered = sums->ringed - stream->clock_handed + stream->buffered;
	struct prof_stream counts = {0};

	assert(taken == stream->delivered + lost + buffered);
	record_set_u64(counts.taken, taken);
	record_set_u64(counts.delivered, stream->delivered);
	record_set_u64(counts.lost, lost);
	record_set_u64(counts.buffered, buffered);
	record_append(buffer, &counts.record, PROF_STREAM, WORDS(prof_stream));
}

static void record_append_waits(const struct stream_waits *waits, struct buffer *buffer)
{
	struct prof_waits times = {0};

	assert(waits->taken == waits->delivered + waits->lost + waits->buffered);
	record_set_u64(times.taken, waits->taken);
	record_set_u64(times.delivered, waits->delivered);
	record_set_u64(times.lost, waits->lost);
	record_set_u64(times.buffered, waits->buffered);
	record_append(buffer, &times.record, PROF_WAITS, WORDS(prof_waits));
}

static void record_append_end(const struct stream *stream, struct buffer *buffer)
{
	struct prof_end end = {.reason = stream->end};

	record_set_u64(end.time, stream->end_time);
	record_append(buffer, &end.record, PROF_END, WORDS(prof_end));
}

void record_trailer(const struct stream *stream, struct buffer *buffer, bool last)
{
	struct clock_sums sums = {0};

	for (uint32_t cpu = 0; cpu < cpu_count(); cpu++)
		record_append_clock(stream, buffer, cpu, &sums);
	record_append_stream(stream, buffer, &sums);
	if (stream_wants_waits(stream))
		record_append_waits(&stream->waits, buffer);
	if (last)
		record_append_end(stream, buffer);
}
