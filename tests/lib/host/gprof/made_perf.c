/* SPDX-License-Identifier: MIT */
/* A perf.data in pipe form with a record of every kind that is read: see made.h. */
#include <stddef.h>
#include <string.h>

#include "made.h"
#include "perf_format.h"

#define PERIODIC      1u
#define ZFILL         16u
#define WHERE         0xc0100000u
#define PERF_PID      137u
#define PERF_SAMPLING (PERF_HAS_IP | PERF_HAS_TID | PERF_HAS_TIME | PERF_HAS_ID | PERF_HAS_CPU)

static void put_long(struct made *made, uint64_t number)
{
	made_put(made, &number, sizeof(number));
}

/* Begins a record; what follows is part of it up to end_record(). */
static size_t begin_record(struct made *made, uint32_t type, uint16_t misc)
{
	const struct perf_header header = {type, misc, 0};

	made_put(made, &header, sizeof(header));
	return made->size - sizeof(header);
}

static void end_record(struct made *made, size_t at)
{
	uint16_t size;

	while ((made->size - at) % 8 != 0)
		made_put(made, "", 1);
	size = (uint16_t)(made->size - at);
	memcpy(made->bytes + at + offsetof(struct perf_header, size), &size, sizeof(size));
	made->records++;
}

static void put_event(struct made *made, uint64_t id, const char *name, struct perf_attr attr)
{
	static const unsigned char rest[PERF_ATTR_SIZE - PERF_ATTR_USED];
	size_t at = begin_record(made, PERF_ATTR, 0);

	made_put(made, &attr, sizeof(attr));
	made_put(made, rest, sizeof(rest));
	put_long(made, id);
	end_record(made, at);
	at = begin_record(made, PERF_EVENT_UPDATE, 0);
	put_long(made, PERF_UPDATE_NAME);
	put_long(made, id);
	made_put(made, name, strlen(name) + 1);
	end_record(made, at);
}

static void put_image(struct made *made, uint32_t type, uint16_t mode, uint64_t low)
{
	static const unsigned char more[PERF_MMAP2_MORE];
	size_t at = begin_record(made, type, mode);

	made_put_word(made, PERF_PID);
	made_put_word(made, PERF_PID);
	put_long(made, low);
	put_long(made, MADE_TEXT_BYTES);
	put_long(made, 0);
	if (type == PERF_MMAP2)
		made_put(made, more, sizeof(more));
	made_put(made, "/bin/program", 13);
	end_record(made, at);
}

/* What ends a record that is no sample: process, thread, time, event, CPU. */
static void put_when(struct made *made, uint64_t time)
{
	made_put_word(made, PERF_PID);
	made_put_word(made, PERF_PID);
	put_long(made, time);
	put_long(made, PERIODIC);
	put_long(made, 0); /* The CPU. */
}

static void put_names(struct made *made)
{
	size_t at = begin_record(made, PERF_CGROUP, 0);

	put_long(made, 7);
	made_put(made, "/137:cat", 9);
	end_record(made, at);
	at = begin_record(made, PERF_CGROUP, 0);
	put_long(made, 0);
	made_put(made, "/system", 8);
	end_record(made, at);
	at = begin_record(made, PERF_COMM, 0);
	made_put_word(made, PERF_PID + 1);
	made_put_word(made, PERF_PID + 1);
	made_put(made, "other", 6);
	end_record(made, at);
}

/* The process executes another program, after the first samples' time. */
static void put_exec(struct made *made)
{
	static const char *const names[] = {"/137:cat", "/137:wc"};

	for (unsigned i = 0; i < 2; i++) {
		size_t at = begin_record(made, PERF_CGROUP, 0);

		put_long(made, 7 + i);
		made_put(made, names[i], strlen(names[i]) + 1);
		end_record(made, at);
		at = begin_record(made, PERF_COMM, 0);
		made_put_word(made, PERF_PID);
		made_put_word(made, PERF_PID);
		made_put(made, "program", 8);
		put_when(made, 5 * i);
		end_record(made, at);
	}
}

static void put_sample(struct made *made, uint64_t event, const uint64_t *chain, unsigned n)
{
	bool is_kernel = chain[0] == PERF_CONTEXT_KERNEL;
	size_t at = begin_record(made, PERF_SAMPLE, is_kernel ? PERF_MISC_KERNEL : PERF_MISC_USER);

	put_long(made, chain[1]);
	made_put_word(made, PERF_PID);
	made_put_word(made, PERF_PID);
	put_long(made, 5);
	put_long(made, event);
	put_long(made, 1);
	put_long(made, n);
	made_put(made, chain, n * sizeof(*chain));
	put_long(made, 7);
	end_record(made, at);
}

static void put_counts(struct made *made)
{
	static const char *const words[] = {"monctl", "due=9", "missed=1", "lost=3"};
	size_t at = begin_record(made, PERF_LOST, 0);

	put_long(made, PERIODIC);
	put_long(made, 2);
	end_record(made, at);
	at = begin_record(made, PERF_LOST_SAMPLES, 0);
	put_long(made, 1);
	end_record(made, at);
	at = begin_record(made, PERF_FEATURE, 0);
	put_long(made, PERF_FEATURE_CMDLINE);
	made_put_word(made, sizeof(words) / sizeof(*words));
	for (size_t i = 0; i < sizeof(words) / sizeof(*words); i++) {
		made_put_word(made, (uint32_t)strlen(words[i]) + 1);
		made_put(made, words[i], strlen(words[i]) + 1);
	}
	end_record(made, at);
	end_record(made, begin_record(made, PERF_FINISHED_ROUND, 0));
}

struct made made_perf(void)
{
	static const uint64_t user[] = {PERF_CONTEXT_USER, MADE_TEXT + 4, MADE_TEXT + 70};
	static const uint64_t kernel[] = {PERF_CONTEXT_KERNEL, WHERE + 4, WHERE + 9,
					  PERF_CONTEXT_USER, MADE_TEXT + 40};
	const struct perf_attr clock = {
		.type = PERF_TYPE_SOFTWARE,
		.size = PERF_ATTR_SIZE,
		.period = 1000,
		.sample_type = PERF_SAMPLING | PERF_HAS_CALLCHAIN | PERF_HAS_CGROUP,
		.flags = PERF_FLAG_FREQUENCY | PERF_FLAG_SAMPLE_ID_ALL,
	};
	struct perf_attr fault = clock;
	struct made made = {0};

	fault.period = 1;
	fault.flags = PERF_FLAG_SAMPLE_ID_ALL;
	put_long(&made, PERF_MAGIC);
	put_long(&made, PERF_PIPE_HEADER);
	put_event(&made, PERIODIC, "periodic", clock);
	put_event(&made, ZFILL, "zfill", fault);
	put_names(&made);
	put_exec(&made);
	put_image(&made, PERF_MMAP2, PERF_MISC_USER, MADE_TEXT);
	put_image(&made, PERF_MMAP, PERF_MISC_KERNEL, WHERE);
	for (unsigned i = 0; i < 3; i++)
		put_sample(&made, PERIODIC, user, sizeof(user) / sizeof(*user));
	put_sample(&made, ZFILL, kernel, sizeof(kernel) / sizeof(*kernel));
	put_counts(&made);
	return made;
}
