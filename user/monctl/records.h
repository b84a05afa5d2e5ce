/* SPDX-License-Identifier: MIT */
/* Going through the records of a message (<mach/prof.h>). */
#ifndef MONCTL_RECORDS_H
#define MONCTL_RECORDS_H

#include <stddef.h>

#include <mach/prof.h>

/* Hands over each in turn, up to the end or to what does not make sense. */
static inline void records_take(const uint32_t *words, size_t left,
				void (*take)(void *context, const struct prof_record *record),
				void *context)
{
	while (left > 0) {
		const struct prof_record *record = (const struct prof_record *)words;

		if (record->words == 0 || record->words > left)
			return;
		take(context, record);
		words += record->words;
		left -= record->words;
	}
}

/* Whether it is of this type, and as long as a structure of it. */
static inline bool record_is(const struct prof_record *record, enum prof_type type, size_t size)
{
	return record->type == type && record->version == PROF_VERSION &&
	       record->words * sizeof(uint32_t) >= size;
}

/* A wait begins as a sample does, and is read as one: its reason is in `reserved`. */
_Static_assert(offsetof(struct prof_wait, label) == offsetof(struct prof_sample, label) &&
		       offsetof(struct prof_wait, user_frames) ==
			       offsetof(struct prof_sample, user_frames) &&
		       offsetof(struct prof_wait, reason) ==
			       offsetof(struct prof_sample, reserved) &&
		       offsetof(struct prof_wait, time) == offsetof(struct prof_sample, time),
	       "a wait is a sample with a length");

/* NULL for a sample that is none. */
static inline const struct prof_wait *record_as_wait(const struct prof_sample *sample)
{
	return sample->record.type == PROF_WAIT ? (const struct prof_wait *)sample : NULL;
}

/* How long a wait was, in nanoseconds; 0 for other samples. */
static inline uint64_t record_length(const struct prof_sample *sample)
{
	const struct prof_wait *wait = record_as_wait(sample);

	return wait != NULL ? prof_u64(wait->length) : 0;
}

/* When it was taken, a wait at its end. */
static inline uint64_t record_time(const struct prof_sample *sample)
{
	return prof_u64(sample->time) + record_length(sample);
}

/* The kernel's frames, and behind them the user's. */
static inline const uint32_t *record_frames(const struct prof_sample *sample)
{
	const struct prof_wait *wait = record_as_wait(sample);

	return wait != NULL ? wait->frames : sample->frames;
}

/* How many words it is long without its clients. */
static inline size_t record_sample_words(const struct prof_sample *sample)
{
	size_t head = record_as_wait(sample) != NULL ? sizeof(struct prof_wait) : sizeof(*sample);

	return head / sizeof(uint32_t) + sample->kernel_frames + sample->user_frames;
}

/* A sample, or a wait, whose frames are all there. */
static inline const struct prof_sample *record_as_sample(const struct prof_record *record)
{
	const struct prof_sample *sample = (const struct prof_sample *)record;

	if (!record_is(record, PROF_SAMPLE, sizeof(*sample)) &&
	    !record_is(record, PROF_WAIT, sizeof(struct prof_wait)))
		return NULL;
	return record->words >= record_sample_words(sample) ? sample : NULL;
}

/* The client that begins so many words behind the beginning of the record; NULL: there is none. */
static inline const struct prof_client *record_client(const struct prof_record *record,
						      size_t words)
{
	const struct prof_client *client =
		(const struct prof_client *)((const uint32_t *)record + words);
	size_t size = sizeof(*client) / sizeof(uint32_t);

	if (words + size > record->words || words + size + client->user_frames > record->words)
		return NULL;
	return client;
}

/* How many words a client is long. */
static inline size_t record_client_words(const struct prof_client *client)
{
	return sizeof(*client) / sizeof(uint32_t) + client->user_frames;
}

#endif
