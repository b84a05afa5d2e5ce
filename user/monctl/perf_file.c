/* SPDX-License-Identifier: MIT */
/* Records of perf's format, in its form for pipes. */
#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/common.h"
#include "perf_file.h"
#include "records.h"

#define PERF_MAGIC 0x32454c4946524550ull /* "PERFILE2" */

enum record_type {
	RECORD_COMMAND = 3,
	RECORD_EXIT = 4,
	RECORD_FORK = 7,
	RECORD_SAMPLE = 9,
	RECORD_MAP = 10,
	RECORD_LOST_SAMPLES = 13,
	RECORD_CGROUP = 19,
	RECORD_ATTRIBUTE = 64,
	RECORD_UPDATE = 78,
	RECORD_FEATURE = 80,
};

#define MISC_KERNEL  1
#define MISC_USER    2
#define MISC_EXECUTE (1 << 13)
#define MISC_NO_MAPS (1 << 13) /* Of a fork: what is in the child's memory is said of itself. */

#define TYPE_SOFTWARE   1
#define ATTRIBUTE_BYTES 136 /* Of perf_event_attr in the version that has cgroups. */
#define UPDATE_NAME     2
#define FEATURE_COMMAND 11

/* Which fields a sample has, in the order in which they come. */
#define SAMPLE_FIELDS                                                                      \
	(1u << 0 /* ip */ | 1u << 1 /* thread */ | 1u << 2 /* time */ | 1u << 6 /* id */ | \
	 1u << 7 /* cpu */ | 1u << 8 /* period */ | 1u << 5 /* call chain */ |             \
	 1u << 21 /* cgroup */)

/* Other records say at their end whom they are about, and when. */
#define FLAG_ALL_HAVE_ID (1ull << 18)
#define BYTES_TO_FLAGS   40

/* What addresses in a call chain belong to, from here on. */
#define CONTEXT_KERNEL (-128ull)
#define CONTEXT_USER   (-512ull)

/* Ours, which is nobody's.  By the name of Linux's own perf would look into the host's. */
#define KERNEL_NAME "/mach_kernel"
#define NOBODY      UINT32_MAX

#define PROTECTION 5 /* Read and execute, */
#define PRIVATE    2 /* a mapping that is not shared. */

/* Waits are events by what was waited for: this is one's number. */
#define WAIT_EVENT(reason) (SAMPLED_PC_WAIT | (reason) << 16)

/* What perf's own times off the CPU are: events whose period is their length in nanoseconds. */
#define CONFIG_OF_LENGTH 10

/* Linux's nearest relative of each flavor, and a name that says more. */
static const struct event {
	uint32_t number; /* The flavor, but of waits. */
	uint32_t config;
	const char *name;
} events[] = {
	{SAMPLED_PC_PERIODIC, 0, "periodic"},
	{SAMPLED_PC_VM_ZFILL_FAULTS, 5, "zfill"},
	{SAMPLED_PC_VM_REACTIVATION_FAULTS, 9, "reactivation"},
	{SAMPLED_PC_VM_PAGEIN_FAULTS, 6, "pagein"},
	{SAMPLED_PC_VM_COW_FAULTS, 9, "cow"},
	{SAMPLED_PC_VM_FAULTS_ANY, 2, "faults-any"},
	{WAIT_EVENT(PROF_WAIT_CPU), CONFIG_OF_LENGTH, "wait-cpu"},
	{WAIT_EVENT(PROF_WAIT_RECEIVE), CONFIG_OF_LENGTH, "wait-receive"},
	{WAIT_EVENT(PROF_WAIT_SEND), CONFIG_OF_LENGTH, "wait-send"},
	{WAIT_EVENT(PROF_WAIT_PAGE), CONFIG_OF_LENGTH, "wait-page"},
	{WAIT_EVENT(PROF_WAIT_LOCK), CONFIG_OF_LENGTH, "wait-lock"},
	{WAIT_EVENT(PROF_WAIT_TIMER), CONFIG_OF_LENGTH, "wait-timer"},
	{WAIT_EVENT(PROF_WAIT_THREAD), CONFIG_OF_LENGTH, "wait-thread"},
	{WAIT_EVENT(PROF_WAIT_STOP), CONFIG_OF_LENGTH, "wait-stop"},
};

/* ---------------- Putting a record together ---------------- */

static void grow(struct perf_file *file, size_t size)
{
	while (file->room - file->used < size)
		file->room = file->room == 0 ? COPY_BYTES : 2 * file->room;
	file->records = reallocate(file->records, file->room);
}

/* A sample has some thirty fields of one size or another: each is to be a store or two. */
static inline void *put_room(struct perf_file *file, size_t size)
{
	size_t begin = file->used;

	if (file->room - begin < size)
		grow(file, size);
	file->used = begin + size;
	return file->records + begin;
}

static inline void put(struct perf_file *file, const void *bytes, size_t size)
{
	memcpy(put_room(file, size), bytes, size);
}

static void put_32(struct perf_file *file, uint32_t value)
{
	put(file, &value, sizeof(value));
}

static void put_64(struct perf_file *file, uint64_t value)
{
	put(file, &value, sizeof(value));
}

static void pad(struct perf_file *file, size_t to)
{
	static const char zeros[8];

	assert(to <= sizeof(zeros));
	put(file, zeros, -(file->used - file->record) % to);
}

static void put_text(struct perf_file *file, const char *text)
{
	put(file, text, strlen(text) + 1);
}

/* The end of a record that is no sample's: of a sample's fields those that tell where it belongs.
 */
static void put_id(struct perf_file *file, uint32_t pid, uint32_t thread, uint64_t time)
{
	struct {
		uint32_t pid;
		uint32_t thread;
		uint64_t time;
		uint64_t event; /* Of no event alone, */
		uint64_t cpu;   /* and of no CPU. */
	} const id = {pid, thread, time, 0, 0};

	pad(file, 8);
	put(file, &id, sizeof(id));
}

struct record_head {
	uint32_t type;
	uint16_t misc;
	uint16_t size;
};

/* A record is a multiple of 8 bytes long; record_end() sets its length. */
static void record_begin(struct perf_file *file, enum record_type type, uint16_t misc)
{
	const struct record_head head = {type, misc, 0};

	file->record = file->used;
	put(file, &head, sizeof(head));
}

static void record_end(struct perf_file *file)
{
	uint16_t size;

	pad(file, 8);
	size = (uint16_t)(file->used - file->record);
	assert(size == file->used - file->record);
	((struct record_head *)(file->records + file->record))->size = size;
}

/* ---------------- The beginning ---------------- */

static uint64_t period_of(const struct perf_file *file, uint32_t number)
{
	return number == SAMPLED_PC_PERIODIC ? file->interval_ns : 1;
}

static void put_attribute(struct perf_file *file, const struct event *event)
{
	size_t begin;

	record_begin(file, RECORD_ATTRIBUTE, 0);
	begin = file->used;
	put_32(file, TYPE_SOFTWARE);
	put_32(file, ATTRIBUTE_BYTES);
	put_64(file, event->config);
	put_64(file, period_of(file, event->number));
	put_64(file, SAMPLE_FIELDS);
	put_64(file, 0);
	assert(file->used - begin == BYTES_TO_FLAGS);
	put_64(file, FLAG_ALL_HAVE_ID);
	while (file->used - begin < ATTRIBUTE_BYTES)
		put_64(file, 0);
	put_64(file, event->number);
	record_end(file);
}

static void put_name(struct perf_file *file, const struct event *event)
{
	record_begin(file, RECORD_UPDATE, 0);
	put_64(file, UPDATE_NAME);
	put_64(file, event->number);
	put_text(file, event->name);
	record_end(file);
}

void perf_begin(struct perf_file *file, const struct prof_begin *begin)
{
	*file = (struct perf_file){.interval_ns = begin->interval_ns};
	put_64(file, PERF_MAGIC);
	put_64(file, 2 * sizeof(uint64_t));
	for (size_t i = 0; i < sizeof(events) / sizeof(events[0]); i++)
		if (begin->flavors & events[i].number) {
			put_attribute(file, &events[i]);
			put_name(file, &events[i]);
		}
}

/* ---------------- Names ---------------- */

char *perf_decimal(char *at, uint32_t number)
{
	char digits[10];
	unsigned count = 0;

	do {
		digits[count++] = (char)('0' + number % 10);
		number /= 10;
	} while (number > 0);
	while (count > 0)
		*at++ = digits[--count];
	return at;
}

void perf_command(struct perf_file *file, uint32_t pid, uint32_t thread, const char *name,
		  uint64_t time)
{
	record_begin(file, RECORD_COMMAND, time != AT_ONCE ? MISC_EXECUTE : 0);
	put_32(file, pid);
	put_32(file, thread);
	put_text(file, name);
	put_id(file, pid, thread, time);
	record_end(file);
}

static void put_kin(struct perf_file *file, enum record_type type, uint32_t pid, uint32_t parent,
		    uint64_t time)
{
	record_begin(file, type, type == RECORD_FORK ? MISC_NO_MAPS : 0);
	put_32(file, pid);
	put_32(file, parent);
	put_32(file, pid);
	put_32(file, parent);
	put_64(file, time);
	put_id(file, pid, pid, time);
	record_end(file);
}

void perf_fork(struct perf_file *file, uint32_t pid, uint32_t parent)
{
	put_kin(file, RECORD_FORK, pid, parent, AT_ONCE);
}

void perf_exit(struct perf_file *file, uint32_t pid, uint32_t parent, uint64_t time)
{
	put_kin(file, RECORD_EXIT, pid, parent, time);
}

void perf_user(struct perf_file *file, uint32_t pid, uint32_t uid, const char *name)
{
	char command[] = "monctl", word[40], called[80];
	char *words[] = {command, word, called};
	char *at = perf_decimal(stpcpy(word, "user."), pid);

	*at++ = '=';
	*perf_decimal(at, uid) = '\0';
	if (name != NULL)
		snprintf(called, sizeof(called), "name.%lu=%s", (unsigned long)uid, name);
	perf_counts(file, words, name != NULL ? 3 : 2);
}

void perf_map(struct perf_file *file, const struct perf_map *map)
{
	record_begin(file, RECORD_MAP, map->is_kernel ? MISC_KERNEL : MISC_USER);
	put_32(file, map->is_kernel ? NOBODY : map->pid);
	put_32(file, map->is_kernel ? 0 : map->pid);
	put_64(file, map->start);
	put_64(file, map->length);
	put_64(file, map->is_kernel ? map->start : map->offset);
	put_64(file, 0); /* The device's number. */
	put_64(file, map->inode);
	put_64(file, map->code);
	put_32(file, PROTECTION);
	put_32(file, PRIVATE);
	put_text(file, map->is_kernel ? KERNEL_NAME : map->path);
	put_id(file, map->pid, map->pid, map->time);
	record_end(file);
}

void perf_label(struct perf_file *file, uint32_t label, const char *path)
{
	record_begin(file, RECORD_CGROUP, 0);
	put_64(file, label);
	put_text(file, path);
	put_id(file, 0, 0, AT_ONCE);
	record_end(file);
}

/* ---------------- Samples ---------------- */

/*
 * What is before a sample's addresses, field by field as SAMPLE_FIELDS has them.  A sample is most
 * of what a recorder writes, so its place is made at once and each field is one store or two.
 */
struct sample_head {
	struct record_head record;
	uint64_t pc;
	uint32_t pid;
	uint32_t thread;
	uint64_t time;
	uint64_t event;
	uint32_t cpu;
	uint32_t reserved;
	uint64_t period;
	uint64_t addresses;
};

_Static_assert(sizeof(struct sample_head) == 64, "perf has no gaps between fields");

static uint64_t *put_frames(uint64_t *at, const uint32_t *frames, unsigned count)
{
	for (unsigned i = 0; i < count; i++)
		*at++ = frames[i];
	return at;
}

/* How many addresses all clients together have. */
static unsigned count_client_frames(const struct prof_sample *sample)
{
	size_t words = record_sample_words(sample);
	const struct prof_client *client;
	unsigned count = 0;

	while ((client = record_client(&sample->record, words)) != NULL) {
		words += record_client_words(client);
		count += 1u + client->user_frames;
	}
	return count;
}

/* Behind the server's, as if that were called by them. */
static uint64_t *put_clients(uint64_t *at, const struct perf_origin *origin,
			     const struct prof_sample *sample)
{
	size_t words = record_sample_words(sample);
	const struct prof_client *client;

	for (unsigned n = 0; (client = record_client(&sample->record, words)) != NULL; n++) {
		words += record_client_words(client);
		*at++ = perf_client_address(origin->clients[n], client->pc);
		for (unsigned i = 0; i < client->user_frames; i++)
			*at++ = perf_client_address(origin->clients[n], client->frames[i]);
	}
	if (origin->label != 0)
		*at++ = perf_client_address(origin->label, 0);
	return at;
}

/* How many of the words below are addresses and marks. */
static unsigned count_addresses(const struct perf_origin *origin, const struct prof_sample *sample)
{
	unsigned kernel = sample->kernel_pc != 0 ? 2u + sample->kernel_frames : 0;
	unsigned user = !(sample->flags & PROF_NO_USER_PC) ? 2u + sample->user_frames : 0;

	return kernel + user + count_client_frames(sample) + (origin->label != 0);
}

/* Each address is that of the call's return, but for the first, and a mark tells whose they are. */
static uint64_t *put_chain(uint64_t *at, const struct perf_origin *origin,
			   const struct prof_sample *sample)
{
	const uint32_t *frames = record_frames(sample);

	if (sample->kernel_pc != 0) {
		*at++ = CONTEXT_KERNEL;
		*at++ = sample->kernel_pc;
		at = put_frames(at, frames, sample->kernel_frames);
	}
	if (!(sample->flags & PROF_NO_USER_PC)) {
		*at++ = CONTEXT_USER;
		*at++ = sample->pc;
		at = put_frames(at, frames + sample->kernel_frames, sample->user_frames);
	}
	return put_clients(at, origin, sample);
}

void perf_sample(struct perf_file *file, const struct perf_origin *origin,
		 const struct prof_sample *sample)
{
	const struct prof_wait *wait = record_as_wait(sample);
	uint32_t number = wait != NULL ? WAIT_EVENT(wait->reason) : sample->flavor;
	uint64_t length = record_length(sample);
	bool in_kernel = sample->kernel_pc != 0;
	unsigned addresses = count_addresses(origin, sample);
	size_t size = sizeof(struct sample_head) + (addresses + 1u) * sizeof(uint64_t);
	struct sample_head *head = put_room(file, size);
	uint64_t *at = (uint64_t *)(head + 1);

	assert(size <= UINT16_MAX);
	*head = (struct sample_head){
		.record = {RECORD_SAMPLE, in_kernel ? MISC_KERNEL : MISC_USER, (uint16_t)size},
		.pc = in_kernel ? sample->kernel_pc : sample->pc,
		.pid = origin->pid,
		.thread = origin->thread,
		.time = record_time(sample),
		.event = number,
		.cpu = sample->cpu,
		.period = length != 0 ? length : period_of(file, number),
		.addresses = addresses,
	};
	at = put_chain(at, origin, sample);
	*at++ = sample->label;
	assert((char *)at == (char *)head + size);
}

void perf_lost(struct perf_file *file, uint64_t lost)
{
	record_begin(file, RECORD_LOST_SAMPLES, 0);
	put_64(file, lost);
	put_id(file, 0, 0, AT_ONCE);
	record_end(file);
}

void perf_counts(struct perf_file *file, char *const words[], unsigned count)
{
	record_begin(file, RECORD_FEATURE, 0);
	put_64(file, FEATURE_COMMAND);
	put_32(file, count);
	for (unsigned i = 0; i < count; i++) {
		put_32(file, (uint32_t)strlen(words[i]) + 1);
		put_text(file, words[i]);
	}
	record_end(file);
}
