/* SPDX-License-Identifier: MIT */
/* A collector of samples: see samples.h. */
#include "samples.h"

#include "check.h"

#define WORDS(type) (sizeof(type) / sizeof(uint32_t))

struct kept_sample kept[SAMPLES_KEPT];
struct kept_wait kept_waits[SAMPLES_KEPT];

/* Where in a message the reader is: records come in the order of these. */
enum place {
	AT_BEGIN,
	AT_SAMPLES,
	AT_CLOCKS,
	AT_STREAM,
	AT_WAITS,
	AT_END,
};

struct reading {
	struct collected *collected;
	enum place place;
	uint32_t clocks;
};

void samples_new(struct collected *collected)
{
	memset(collected, 0, sizeof *collected);
	collected->port = port_new();
}

void samples_forget(struct collected *collected)
{
	port_destroy(collected->port);
}

static void read_begin(struct reading *reading, const struct prof_begin *begin)
{
	EXPECT_EQ(begin->record.words, WORDS(*begin));
	EXPECT(!reading->collected->begun && reading->place == AT_BEGIN);
	EXPECT_LE(begin->cpus, SAMPLE_CPUS);
	reading->collected->begin = *begin;
	reading->collected->begun = true;
	reading->place = AT_SAMPLES;
}

static void read_sample(struct reading *reading, const struct prof_sample *sample)
{
	struct collected *collected = reading->collected;

	EXPECT_EQ(sample->record.words,
		  WORDS(*sample) + sample->kernel_frames + sample->user_frames);
	EXPECT_LE(reading->place, AT_SAMPLES);
	reading->place = AT_SAMPLES;
	if (collected->samples < SAMPLES_KEPT)
		kept[collected->samples] = (struct kept_sample){
			.pc = sample->pc,
			.kernel_pc = sample->kernel_pc,
			.thread = sample->thread,
			.task = sample->task,
			.label = sample->label,
			.flavor = sample->flavor,
			.flags = sample->flags,
			.kernel_frames = sample->kernel_frames,
			.user_frames = sample->user_frames,
			.caller = sample->user_frames == 0 ? 0
							   : sample->frames[sample->kernel_frames],
			.time = prof_u64(sample->time),
		};
	collected->samples++;
}

static void keep_wait(struct kept_wait *to, const struct prof_wait *wait)
{
	*to = (struct kept_wait){
		.pc = wait->pc,
		.kernel_pc = wait->kernel_pc,
		.thread = wait->thread,
		.task = wait->task,
		.label = wait->label,
		.reason = wait->reason,
		.kernel_frames = wait->kernel_frames,
		.user_frames = wait->user_frames,
		.caller = wait->user_frames == 0 ? 0 : wait->frames[wait->kernel_frames],
		.begin = prof_u64(wait->time),
		.end = prof_u64(wait->time) + prof_u64(wait->length),
	};
}

static void read_wait(struct reading *reading, const struct prof_wait *wait)
{
	struct collected *collected = reading->collected;

	EXPECT_EQ(wait->record.words, WORDS(*wait) + wait->kernel_frames + wait->user_frames);
	EXPECT_EQ(wait->flavor, SAMPLED_PC_WAIT);
	EXPECT_LT(0, prof_u64(wait->length));
	EXPECT_LE(reading->place, AT_SAMPLES);
	reading->place = AT_SAMPLES;
	if (collected->waits < SAMPLES_KEPT)
		keep_wait(&kept_waits[collected->waits], wait);
	collected->waits++;
	collected->waited += prof_u64(wait->length);
}

static void read_clock(struct reading *reading, const struct prof_clock *clock)
{
	EXPECT_EQ(clock->record.words, WORDS(*clock));
	EXPECT_LE(reading->place, AT_CLOCKS);
	EXPECT_EQ(clock->cpu, reading->clocks);
	EXPECT_EQ(prof_u64(clock->due),
		  prof_u64(clock->fired) + prof_u64(clock->missed) + prof_u64(clock->parked));
	EXPECT_EQ(prof_u64(clock->fired),
		  prof_u64(clock->idle) + prof_u64(clock->elsewhere) + prof_u64(clock->taken));
	reading->collected->clocks[reading->clocks++ % SAMPLE_CPUS] = *clock;
	reading->place = AT_CLOCKS;
}

static void read_stream(struct reading *reading, const struct prof_stream *stream)
{
	struct collected *collected = reading->collected;

	EXPECT_EQ(stream->record.words, WORDS(*stream));
	EXPECT_EQ(reading->place, AT_CLOCKS);
	EXPECT_EQ(reading->clocks, collected->begin.cpus);
	EXPECT_EQ(prof_u64(stream->taken), prof_u64(stream->delivered) + prof_u64(stream->lost) +
						   prof_u64(stream->buffered));
	EXPECT_EQ(prof_u64(stream->delivered), collected->samples + collected->waits);
	EXPECT_LE(prof_u64(collected->stream.taken), prof_u64(stream->taken));
	EXPECT_LE(prof_u64(collected->stream.lost), prof_u64(stream->lost));
	collected->stream = *stream;
	reading->place = AT_STREAM;
}

static void read_waits(struct reading *reading, const struct prof_waits *times)
{
	struct collected *collected = reading->collected;

	EXPECT_EQ(times->record.words, WORDS(*times));
	EXPECT_EQ(reading->place, AT_STREAM);
	EXPECT_EQ(prof_u64(times->taken),
		  prof_u64(times->delivered) + prof_u64(times->lost) + prof_u64(times->buffered));
	EXPECT_EQ(prof_u64(times->delivered), collected->waited);
	collected->times = *times;
	reading->place = AT_WAITS;
}

static void read_end(struct reading *reading, const struct prof_end *end)
{
	EXPECT_EQ(end->record.words, WORDS(*end));
	EXPECT_LE(AT_STREAM, reading->place);
	EXPECT_EQ(prof_u64(reading->collected->stream.buffered), 0);
	EXPECT_EQ(prof_u64(reading->collected->times.buffered), 0);
	reading->collected->end = *end;
	reading->collected->ended = true;
	reading->place = AT_END;
}

static void read_record(struct reading *reading, const struct prof_record *record)
{
	EXPECT_EQ(record->version, PROF_VERSION);
	switch (record->type) {
	case PROF_BEGIN:
		read_begin(reading, (const struct prof_begin *)record);
		break;
	case PROF_SAMPLE:
		read_sample(reading, (const struct prof_sample *)record);
		break;
	case PROF_WAIT:
		read_wait(reading, (const struct prof_wait *)record);
		break;
	case PROF_WAITS:
		read_waits(reading, (const struct prof_waits *)record);
		break;
	case PROF_CLOCK:
		read_clock(reading, (const struct prof_clock *)record);
		break;
	case PROF_STREAM:
		read_stream(reading, (const struct prof_stream *)record);
		break;
	case PROF_END:
		read_end(reading, (const struct prof_end *)record);
		break;
	default:
		check_fail("a record of type %u", record->type);
	}
}

static void read_words(struct collected *collected, const unsigned *words, uint32_t n)
{
	struct reading reading = {.collected = collected};
	uint32_t at = 0;

	EXPECT(!collected->ended);
	while (at < n && !check_failed()) {
		const struct prof_record *record = (const struct prof_record *)(words + at);

		if (!EXPECT(record->words > 0 && record->words <= n - at))
			return;
		read_record(&reading, record);
		at += record->words;
	}
	EXPECT(collected->begun && reading.place >= AT_STREAM);
	collected->messages++;
	collected->words = n;
}

bool samples_receive(struct collected *collected, uint32_t limit)
{
	struct message message;
	unsigned *words;

	if (message_get(&message, collected->port, limit) != MACH_MSG_SUCCESS)
		return false;
	EXPECT_EQ(message.head.msgh_id, 2450);
	EXPECT_EQ(message.head.msgh_size, sizeof(mach_msg_header_t) + 16);
	EXPECT_EQ(message.body[0], TYPE_LONG | TYPE_IS_MOVED);
	EXPECT_EQ(message.body[1], MACH_MSG_TYPE_INTEGER_32 | 32 << 16);
	words = (unsigned *)message.body[3];
	read_words(collected, words, message.body[2]);
	EXPECT_EQ(vm_deallocate(mach_task_self(), (vm_address_t)words, message.body[2] * 4),
		  KERN_SUCCESS);
	return true;
}

bool samples_receive_all(struct collected *collected)
{
	while (!collected->ended && !check_failed())
		if (!EXPECT(samples_receive(collected, LONG_WAIT)))
			return false;
	return collected->ended;
}

uint32_t samples_of(const struct collected *collected, uint32_t flavor)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < collected->samples && i < SAMPLES_KEPT; i++)
		n += kept[i].flavor == flavor;
	return n;
}

void samples_expect_callers(const struct collected *collected, const char *from, const char *to,
			    const char *one, const char *other, uint32_t least)
{
	uint32_t inside = 0, wrong = 0;

	for (uint32_t i = 0; i < collected->samples && i < SAMPLES_KEPT; i++) {
		const struct kept_sample *sample = &kept[i];

		if (sample->pc < (uint32_t)from || sample->pc >= (uint32_t)to)
			continue;
		inside++;
		if (sample->caller != (uint32_t)one && sample->caller != (uint32_t)other &&
		    wrong++ == 0)
			check_fail("pc 0x%x: caller 0x%x, not 0x%x or 0x%x", sample->pc,
				   sample->caller, (uint32_t)one, (uint32_t)other);
	}
	EXPECT_LT(least, inside);
}
