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

/* A sample whose frames are all there. */
static inline const struct prof_sample *record_as_sample(const struct prof_record *record)
{
	const struct prof_sample *sample = (const struct prof_sample *)record;
	size_t frames;

	if (!record_is(record, PROF_SAMPLE, sizeof(*sample)))
		return NULL;
	frames = (size_t)sample->kernel_frames + sample->user_frames;
	return record_is(record, PROF_SAMPLE, sizeof(*sample) + frames * sizeof(uint32_t)) ? sample
											   : NULL;
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

/* How many words a sample is long without its clients. */
static inline size_t record_sample_words(const struct prof_sample *sample)
{
	return sizeof(*sample) / sizeof(uint32_t) + sample->kernel_frames + sample->user_frames;
}

#endif
