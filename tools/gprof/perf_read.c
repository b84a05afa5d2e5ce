/* SPDX-License-Identifier: MIT */
/*
 * Reads perf.data in pipe form, as `monctl -record` writes it.
 *
 * An event's id is a flavor, a cgroup a label, and the words of the command line that look like
 * `lost=3` are the counts of the whole recording: the last such line holds.  Records of other kinds
 * are passed over.
 */
#include <stdlib.h>
#include <string.h>

#include <gmon.h>

#include "model.h"
#include "perf_cursor.h"
#include "perf_format.h"
#include "perf_tasks.h"
#include "read.h"

#define EVENTS      16u
#define DEPTH_MAX   4096u
#define NANOSECONDS 1e9

struct event {
	uint64_t id;
	uint64_t sample_type;
	bool is_length; /* Of each sample the period is what it is, in nanoseconds. */
	double rate;
	char name[PROFILE_NAME];
	const struct profile_flavor *flavor; /* NULL: it has had no sample yet. */
};

struct reader {
	struct profile *profile;
	struct event events[EVENTS];
	size_t n_events;
	struct perf_tasks tasks;
	bool has_times; /* Records that are no samples have them, too. */
	uint64_t lost;  /* By the records about losses. */
	uint64_t values[PROFILE_VALUES];
	uint32_t known;
	uint64_t cpus[PROFILE_CPUS][PROFILE_VALUES];
};

/* Words of the command line; those of one CPU are in a word of it, `cpu1=due:9,fired:4`. */
static const struct {
	const char *word;
	unsigned value;
} counts[] = {
	{"due", GMON_DUE},           {"fired", GMON_FIRED},         {"missed", GMON_MISSED},
	{"parked", GMON_PARKED},     {"idle", GMON_IDLE},           {"elsewhere", GMON_ELSEWHERE},
	{"taken", GMON_TAKEN},       {"all-taken", GMON_ALL_TAKEN}, {"delivered", GMON_DELIVERED},
	{"lost", GMON_LOST},         {"buffered", GMON_BUFFERED},   {"rate", GMON_RATE},
	{"interval", GMON_INTERVAL}, {"options", GMON_OPTIONS},     {"outside", GMON_OUTSIDE},
	{"profiler", GMON_PROFILER}, {"arcs-lost", GMON_ARCS_LOST}, {"kernel", GMON_KERNEL},
	{"others", GMON_OTHERS},     {"wall", GMON_WALL},
};

/* ---------------- Events and tasks ---------------- */

static struct event *perf_read_find_event(struct reader *reader, uint64_t id)
{
	for (size_t i = 0; i < reader->n_events; i++)
		if (reader->events[i].id == id)
			return &reader->events[i];
	return NULL;
}

/* Events differ in what they count, not in what their samples consist of. */
static const char *perf_read_check_event(struct reader *reader, const struct event *event)
{
	if ((event->sample_type & ~(uint64_t)PERF_HAS_KNOWN) != 0 ||
	    (event->sample_type & PERF_HAS_IP) == 0)
		return "has samples of a kind that only perf itself reads";
	if (reader->n_events > 0 && reader->events[0].sample_type != event->sample_type)
		return "has events whose samples differ";
	if (reader->n_events == EVENTS)
		return "has more events than there are flavors";
	return perf_read_find_event(reader, event->id) != NULL ? "describes an event twice" : NULL;
}

static const char *read_attr(struct reader *reader, struct cursor *cursor)
{
	struct event event = {0};
	uint64_t config, period, flags;
	const char *error;
	uint32_t type, size;

	type = take32(cursor);
	size = take32(cursor);
	config = take64(cursor);
	period = take64(cursor);
	event.sample_type = take64(cursor);
	take64(cursor);
	flags = take64(cursor);
	if (cursor->is_short || size < PERF_ATTR_USED ||
	    take(cursor, size - PERF_ATTR_USED) == NULL)
		return "has a damaged description of an event";
	event.id = cursor->left >= sizeof event.id ? take64(cursor) : 0;
	event.is_length = type == PERF_TYPE_SOFTWARE && config == PERF_CONFIG_LENGTH;
	if (event.is_length)
		event.rate = NANOSECONDS;
	else if ((flags & PERF_FLAG_FREQUENCY) != 0)
		event.rate = (double)period;
	else if (period > 1)
		event.rate = NANOSECONDS / (double)period;
	error = perf_read_check_event(reader, &event);
	reader->has_times = (flags & PERF_FLAG_SAMPLE_ID_ALL) != 0;
	if (error == NULL)
		reader->events[reader->n_events++] = event;
	return error;
}

static const char *read_update(struct reader *reader, struct cursor *cursor)
{
	uint64_t type = take64(cursor);
	struct event *event = perf_read_find_event(reader, take64(cursor));
	const char *name;

	if (cursor->is_short || type != PERF_UPDATE_NAME || event == NULL)
		return NULL;
	name = take_text(cursor);
	for (size_t i = 0; i < sizeof event->name - 1 && name[i] != '\0'; i++)
		event->name[i] = is_control(name[i]) ? '?' : name[i];
	return NULL;
}

/* The flavor of an event: by its id if that is a flavor's bit, else by its name. */
static const char *perf_read_name_flavor(struct reader *reader, struct event *event)
{
	unsigned bit = event->id <= UINT32_MAX ? (unsigned)event->id : 0;
	const char *name = profile_flavor_name(bit);
	bool is_event = event->rate == 0;
	size_t known = reader->profile->n_flavors;
	struct profile_flavor *flavor;

	if (name == NULL) {
		bit = 0;
		name = event->name[0] != '\0' ? event->name : "event";
	}
	flavor = profile_flavor(reader->profile, bit, name);
	if (flavor == NULL)
		return "has more events than there are flavors";
	if (reader->profile->n_flavors > known) {
		flavor->is_event = is_event;
		flavor->is_length = event->is_length;
	}
	if (flavor->is_event != is_event || flavor->is_length != event->is_length ||
	    !read_rate(flavor, event->rate))
		return read_other_rate;
	event->flavor = flavor;
	return NULL;
}

static uint64_t perf_read_time_of(const struct reader *reader, const struct cursor *cursor)
{
	if (!reader->has_times || reader->n_events == 0)
		return PROFILE_NO_TIME;
	return perf_record_time(cursor->at, cursor->left, reader->events[0].sample_type);
}

/* A label: the id is the task's, the path is /PID:NAME or /NAME. */
static const char *read_cgroup(struct reader *reader, struct cursor *cursor)
{
	uint64_t id = take64(cursor);
	const char *path, *name;
	long pid = -1;
	char *end;

	if (cursor->is_short || id >= MAP_NONE)
		return NULL;
	path = take_text(cursor);
	name = path[0] == '/' ? path + 1 : path;
	if (name[0] >= '0' && name[0] <= '9') {
		pid = strtol(name, &end, 10);
		if (*end != ':' || pid > INT32_MAX)
			return NULL;
		name = end + 1;
		perf_tasks_label(&reader->tasks, (uint32_t)pid, (uint32_t)id);
	}
	profile_name_task(reader->profile, (uint32_t)id, (int32_t)pid, name);
	return NULL;
}

/* The process's, not that of another of its threads; of a new program, if it executed one. */
static const char *read_comm(struct reader *reader, struct cursor *cursor)
{
	uint32_t pid = take32(cursor), tid = take32(cursor), task;
	uint64_t time = perf_read_time_of(reader, cursor);

	if (cursor->is_short)
		return NULL;
	if (pid == tid && !perf_tasks_turn(&reader->tasks, pid, time == PROFILE_NO_TIME ? 0 : time))
		return "has a process that executed more programs than processes do";
	task = perf_tasks_find(&reader->tasks, pid, time);
	if ((task & PERF_TASK_OF_PID) != 0)
		profile_name_task(reader->profile, task, pid < PERF_TASK_OF_PID ? (int32_t)pid : -1,
				  take_text(cursor));
	return NULL;
}

/* That of a thread says nothing of its process. */
static const char *read_fork(struct reader *reader, struct cursor *cursor)
{
	uint32_t pid = take32(cursor), parent = take32(cursor);

	if (!cursor->is_short && pid != parent && pid <= INT32_MAX && parent <= INT32_MAX)
		profile_kin(reader->profile, (int32_t)pid)->parent = (int32_t)parent;
	return NULL;
}

/* Of a PERF_MMAP2 there are some words more. */
static const char *read_map(struct reader *reader, struct cursor *cursor, unsigned misc,
			    size_t more)
{
	uint32_t pid = take32(cursor);
	struct profile_image image = {.is_kernel = (misc & PERF_MISC_MODE) == PERF_MISC_KERNEL};
	const unsigned char *rest;
	uint64_t length;

	take32(cursor);
	image.low = take64(cursor);
	length = take64(cursor);
	image.offset = take64(cursor);
	rest = take(cursor, more);
	if (cursor->is_short)
		return NULL;
	if (more > 0)
		image.sum = load_u32(rest + PERF_MMAP2_GENERATION);
	image.time = perf_read_time_of(reader, cursor);
	image.task = image.is_kernel ? 0 : perf_tasks_find(&reader->tasks, pid, image.time);
	image.high = length <= UINT64_MAX - image.low ? image.low + length : UINT64_MAX;
	image.path = take_text(cursor);
	if (!image.is_kernel && image.path[0] == '[')
		return NULL; /* Not of a file: its heap, or that nothing is there any more. */
	if (!image.is_kernel && profile_client(reader->profile, image.low) != 0)
		return NULL; /* A client's, for perf; ours is where the client itself has it. */
	return profile_add_image(reader->profile, &image)
		       ? NULL
		       : "has more mappings of a process than programs have";
}

/* ---------------- Counts ---------------- */

/* Of `user.12=100`: of process 12 it is user 100. */
static void read_user(struct reader *reader, const char *pid, const char *user)
{
	unsigned long process = strtoul(pid, NULL, 10), number = strtoul(user, NULL, 10);

	if (process <= INT32_MAX && number <= INT32_MAX)
		profile_kin(reader->profile, (int32_t)process)->user = (int32_t)number;
}

static void read_user_name(struct reader *reader, const char *user, const char *name)
{
	unsigned long number = strtoul(user, NULL, 10);

	if (number <= INT32_MAX)
		profile_name_user(reader->profile, (int32_t)number, name);
}

/* The value of that name, as GMON_* has it; PROFILE_VALUES if there is none. */
static unsigned perf_read_find_count(const char *name, size_t length)
{
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		if (strlen(counts[i].word) == length && memcmp(counts[i].word, name, length) == 0)
			return counts[i].value;
	return PROFILE_VALUES;
}

static void read_cpu(struct reader *reader, const char *number, const char *text)
{
	unsigned long cpu = strtoul(number, NULL, 10);

	while (cpu < PROFILE_CPUS) {
		size_t length = strcspn(text, ":,");
		unsigned value = perf_read_find_count(text, length);

		if (text[length] == ':' && value < PROFILE_VALUES)
			reader->cpus[cpu][value] = strtoull(text + length + 1, NULL, 10);
		text += strcspn(text, ",");
		if (*text++ == '\0')
			break;
	}
}

static bool perf_read_is_cpu(const char *word)
{
	return strncmp(word, "cpu", 3) == 0 && word[3] >= '0' && word[3] <= '9';
}

static void read_word(struct reader *reader, const char *word, size_t length)
{
	const char *sign = memchr(word, '=', length);
	unsigned value;

	if (sign == NULL)
		return;
	if (strncmp(word, "user.", 5) == 0)
		read_user(reader, word + 5, sign + 1);
	if (strncmp(word, "name.", 5) == 0)
		read_user_name(reader, word + 5, sign + 1);
	if (perf_read_is_cpu(word))
		read_cpu(reader, word + 3, sign + 1);
	value = perf_read_find_count(word, (size_t)(sign - word));
	if (value < PROFILE_VALUES) {
		reader->values[value] = strtoull(sign + 1, NULL, 10);
		reader->known |= 1u << value;
	}
	if (value == GMON_OPTIONS && (reader->values[value] & GMON_CLIENTS) != 0)
		reader->profile->has_clients = true;
}

/* Strings with their lengths, each of which ends with a 0. */
static const char *read_feature(struct reader *reader, struct cursor *cursor)
{
	uint64_t feature = take64(cursor);
	uint32_t n;

	if (cursor->is_short || feature != PERF_FEATURE_CMDLINE)
		return NULL;
	n = take32(cursor);
	while (n-- > 0) {
		uint32_t length = take32(cursor);
		const char *word = (const char *)take(cursor, length);

		if (cursor->is_short || length == 0 || memchr(word, 0, length) == NULL)
			return "has a damaged command line";
		read_word(reader, word, strlen(word));
	}
	return NULL;
}

static const char *read_lost(struct reader *reader, struct cursor *cursor, bool has_id)
{
	if (has_id)
		take64(cursor);
	reader->lost += take64(cursor);
	return NULL;
}

static void perf_read_hand_over_values(struct reader *reader)
{
	if ((reader->known & 1u << GMON_LOST) == 0 && reader->lost != 0) {
		reader->values[GMON_LOST] = reader->lost;
		reader->known |= 1u << GMON_LOST;
	}
	for (unsigned i = 0; i < PROFILE_VALUES; i++)
		if ((reader->known & 1u << i) != 0)
			profile_add_value(reader->profile, i, reader->values[i]);
	for (unsigned cpu = 0; cpu < PROFILE_CPUS; cpu++)
		for (unsigned i = 0; i < PROFILE_VALUES; i++)
			reader->profile->cpus[cpu][i] += reader->cpus[cpu][i];
}

/* ---------------- Samples ---------------- */

/* One sample's frames, those of the kernel and those of the user. */
struct chain {
	uint64_t frames[PROFILE_MODES][DEPTH_MAX];
	unsigned n[PROFILE_MODES];
};

static const char *read_chain(struct cursor *cursor, struct chain *chain, enum profile_mode mode)
{
	uint64_t n = take64(cursor);

	if (n > cursor->left / sizeof(uint64_t) || n > DEPTH_MAX)
		return "has a damaged call chain";
	while (n-- > 0) {
		uint64_t address = take64(cursor);

		if (address == PERF_CONTEXT_KERNEL)
			mode = PROFILE_KERNEL;
		else if (address == PERF_CONTEXT_USER)
			mode = PROFILE_USER;
		else if (address < PERF_CONTEXT_MAX)
			chain->frames[mode][chain->n[mode]++] = address;
	}
	return NULL;
}

/*
 * A chain begins with the address itself, of each mode; without a chain there is just that one.
 * What remains are return addresses.
 */
static void perf_add_sample(struct reader *reader, struct profile_sample *sample, uint64_t ip,
			    struct chain *chain)
{
	static uint64_t all[2 * DEPTH_MAX];
	const uint64_t *kernel = chain->frames[PROFILE_KERNEL];
	const uint64_t *user = chain->frames[PROFILE_USER];
	unsigned kernel_n = chain->n[PROFILE_KERNEL], user_n = chain->n[PROFILE_USER];

	if (sample->is_kernel)
		sample->kernel_pc = ip;
	sample->pc = user_n > 0 ? user[0] : sample->is_kernel ? 0 : ip;
	sample->kernel_frames = (uint16_t)(sample->is_kernel && kernel_n > 0 ? kernel_n - 1 : 0);
	sample->user_frames = (uint16_t)(user_n > 0 ? user_n - 1 : 0);
	memcpy(all, kernel + 1, sample->kernel_frames * sizeof *all);
	memcpy(all + sample->kernel_frames, user + 1, sample->user_frames * sizeof *all);
	profile_add_sample(reader->profile, *sample, all);
}

/* What a sample begins with, if it has it: eight bytes each.  Process and thread are halves. */
enum field {
	IDENTIFIER,
	IP,
	PID_TID,
	TIME,
	ADDRESS,
	ID,
	STREAM_ID,
	CPU,
	PERIOD,
	FIELDS,
};

static const uint32_t bit_of[FIELDS] = {
	PERF_HAS_IDENTIFIER, PERF_HAS_IP,        PERF_HAS_TID, PERF_HAS_TIME,   PERF_HAS_ADDR,
	PERF_HAS_ID,         PERF_HAS_STREAM_ID, PERF_HAS_CPU, PERF_HAS_PERIOD,
};

/* NULL: of none that the file describes. */
static struct event *perf_read_event_of(struct reader *reader, const uint64_t fields[])
{
	uint64_t type = reader->events[0].sample_type;

	if ((type & PERF_HAS_IDENTIFIER) != 0)
		return perf_read_find_event(reader, fields[IDENTIFIER]);
	if ((type & PERF_HAS_ID) != 0)
		return perf_read_find_event(reader, fields[ID]);
	return &reader->events[0];
}

static uint32_t perf_read_thread_of(uint32_t tid)
{
	return tid > PERF_THREADS ? tid - PERF_THREADS : tid;
}

static const char *read_sample(struct reader *reader, struct cursor *cursor, unsigned misc)
{
	static struct chain chain;
	bool is_kernel = (misc & PERF_MISC_MODE) == PERF_MISC_KERNEL;
	uint64_t type = reader->events[0].sample_type, fields[FIELDS];
	struct profile_sample sample;
	const char *error = NULL;
	struct event *event;

	if (reader->n_events == 0)
		return "has a sample before it describes its events";
	for (unsigned i = 0; i < FIELDS; i++)
		fields[i] = (type & bit_of[i]) != 0 ? take64(cursor) : 0;
	chain.n[PROFILE_USER] = chain.n[PROFILE_KERNEL] = 0;
	if ((type & PERF_HAS_CALLCHAIN) != 0)
		error = read_chain(cursor, &chain, is_kernel ? PROFILE_KERNEL : PROFILE_USER);
	event = perf_read_event_of(reader, fields);
	if (event == NULL)
		return "has a sample of no event";
	if (error == NULL && event->flavor == NULL)
		error = perf_read_name_flavor(reader, event);
	if (error != NULL)
		return error;
	sample = (struct profile_sample){
		.time = fields[TIME],
		.weight = event->is_length ? fields[PERIOD] : 1,
		.thread = perf_read_thread_of((uint32_t)(fields[PID_TID] >> 32)),
		.task = perf_tasks_find(&reader->tasks, (uint32_t)fields[PID_TID], fields[TIME]),
		.flavor = (uint8_t)(event->flavor - reader->profile->flavors),
		.cpu = (uint8_t)fields[CPU],
		.is_kernel = is_kernel,
	};
	sample.label = (type & PERF_HAS_CGROUP) != 0 ? (uint32_t)take64(cursor) : sample.task;
	if (!cursor->is_short)
		perf_add_sample(reader, &sample, fields[IP], &chain);
	return NULL;
}

/* ---------------- Records ---------------- */

static const char *read_record(struct reader *reader, const struct perf_header *header,
			       struct cursor *cursor)
{
	switch (header->type) {
	case PERF_ATTR:
		return read_attr(reader, cursor);
	case PERF_EVENT_UPDATE:
		return read_update(reader, cursor);
	case PERF_CGROUP:
		return read_cgroup(reader, cursor);
	case PERF_COMM:
		return read_comm(reader, cursor);
	case PERF_FORK:
		return read_fork(reader, cursor);
	case PERF_MMAP:
		return read_map(reader, cursor, header->misc, 0);
	case PERF_MMAP2:
		return read_map(reader, cursor, header->misc, PERF_MMAP2_MORE);
	case PERF_SAMPLE:
		return read_sample(reader, cursor, header->misc);
	case PERF_LOST:
		return read_lost(reader, cursor, true);
	case PERF_LOST_SAMPLES:
		return read_lost(reader, cursor, false);
	case PERF_FEATURE:
		return read_feature(reader, cursor);
	default:
		return NULL;
	}
}

static const char *read_records(struct reader *reader, struct cursor file)
{
	while (file.left > 0) {
		struct perf_header header = {.type = take32(&file)};
		struct cursor record;
		const char *error;

		header.misc = (uint16_t)take_number(&file, sizeof header.misc);
		header.size = (uint16_t)take_number(&file, sizeof header.size);
		if (file.is_short || header.size < sizeof header || header.size % 8 != 0)
			return "has a damaged record";
		record.left = header.size - sizeof header;
		record.at = take(&file, record.left);
		record.is_short = false;
		if (record.at == NULL)
			return "ends in the middle of a record";
		error = read_record(reader, &header, &record);
		if (error != NULL)
			return error;
		if (record.is_short)
			return "has a record that is too short";
	}
	return NULL;
}

const char *perf_read(struct profile *profile, const unsigned char *bytes, size_t size)
{
	struct reader reader = {.profile = profile};
	struct cursor file = {bytes, size, false};
	const char *error;
	uint64_t magic = take64(&file), length = take64(&file);

	if (file.is_short || magic != PERF_MAGIC)
		return "is not a perf.data file";
	if (length != PERF_PIPE_HEADER)
		return "is a perf.data file, but not in pipe form (perf record -o -)";
	error = read_records(&reader, file);
	if (error == NULL && reader.n_events == 0)
		error = "describes no event";
	if (error == NULL)
		perf_read_hand_over_values(&reader);
	perf_tasks_free(&reader.tasks);
	return error;
}
