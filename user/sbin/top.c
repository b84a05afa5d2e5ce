/* SPDX-License-Identifier: MIT */
/*
 * top: who makes the machine busy, again and again.
 *
 * The host is sampled, and each table is of what was sampled since the one before: for whom it was
 * done, and by whom.  A signal ends it as any program, and the kernel its stream.
 */
#include <errno.h>
#include <mach.h>
#include <mach/prof_catch.h>
#include <stdio.h>
#include <string.h>
#include <sys/ux.h>
#include <time.h>

#include "common/common.h"
#include "common/rolled.h"
#include "common/screen.h"

#define USAGE        "top [-by process|command|job|user] [-d SECONDS] [-n TABLES] [-r HZ]"
#define PID_HOST     (-1) /* What task_by_pid() answers with the host's control port. */
#define MESSAGE_ROOM 512u
#define AGE_MS       100u
#define FLUSH_MS     5000u
#define ROWS_SHOWN   20u
#define EXIT_USAGE   2
#define MS           1000u
#define CPUS_MAX     32u
#define SECONDS_MAX  3600
#define TABLES_MAX   1000000

static struct {
	enum rollup_by by;
	unsigned seconds;
	unsigned tables; /* 0: no end. */
	unsigned rate;
} wanted = {.by = BY_PROCESS, .seconds = 1, .rate = SAMPLE_RATE_DEFAULT};

static struct {
	struct rollup rollup; /* Since the last table. */
	uint64_t samples;
	uint64_t idle[CPUS_MAX]; /* The stream's counts, from its beginning on, */
	uint64_t delivered;
	uint64_t lost;
	uint64_t idle_before; /* and what they were at the last table. */
	uint64_t lost_before;
} seen;

static mach_port_t host, port;

/* ---------------- Records ---------------- */

static void take_sample(const struct prof_sample *sample)
{
	rolled_task(&seen.rollup, sample->task)->ran++;
	rolled_task(&seen.rollup, sample->label)->served++;
	seen.samples++;
}

static void take_record(const struct prof_record *record)
{
	const struct prof_clock *clock = (const struct prof_clock *)record;
	const struct prof_stream *stream = (const struct prof_stream *)record;

	if (record->version != PROF_VERSION)
		return;
	if (record->type == PROF_SAMPLE) {
		take_sample((const struct prof_sample *)record);
	} else if (record->type == PROF_CLOCK && clock->cpu < CPUS_MAX) {
		seen.idle[clock->cpu] = prof_u64(clock->idle);
	} else if (record->type == PROF_STREAM) {
		seen.delivered = prof_u64(stream->delivered);
		seen.lost = prof_u64(stream->lost);
	}
}

kern_return_t receive_samples(mach_port_t reply_port, sample_array_t samples,
			      mach_msg_type_number_t count)
{
	(void)reply_port;
	for (unsigned at = 0; at < count;) {
		const struct prof_record *record = (const struct prof_record *)&samples[at];

		if (record->words == 0 || record->words > count - at)
			break;
		take_record(record);
		at += record->words;
	}
	return vm_deallocate(mach_task_self_cached(), (vm_address_t)samples,
			     count * sizeof(*samples));
}

/* ---------------- The stream ---------------- */

static uint64_t now_ms(void)
{
	struct timespec now = {0};

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * MS + (uint64_t)now.tv_nsec / (MS * MS);
}

/* One message; false if none has come by then. */
static bool receive_until(uint64_t deadline)
{
	static union {
		mach_msg_header_t head;
		char room[MESSAGE_ROOM];
	} message, reply;
	uint64_t now = now_ms();

	if (now >= deadline ||
	    mach_msg(&message.head, MACH_RCV_MSG | MACH_RCV_TIMEOUT, 0, sizeof(message), port,
		     (mach_msg_timeout_t)(deadline - now), MACH_PORT_NULL) != MACH_MSG_SUCCESS)
		return false;
	prof_server(&message.head, &reply.head);
	return true;
}

/* All that was taken up to now has come when this returns. */
static void bring_all(void)
{
	uint64_t delivered = 0, deadline = now_ms() + FLUSH_MS;

	if (host_sample_flush(host, port, &delivered) != KERN_SUCCESS)
		return;
	do {
		if (!receive_until(deadline))
			return;
	} while (seen.delivered < delivered);
}

static bool begin(void)
{
	const sample_options_t options = {.age_ms = AGE_MS};

	host = task_by_pid(PID_HOST);
	if (host == MACH_PORT_NULL) {
		report("%s", errno == EPERM ? "only root may do that: it is about the whole machine"
					    : strerror(errno));
		return false;
	}
	if (mach_port_allocate(mach_task_self_cached(), MACH_PORT_RIGHT_RECEIVE, &port) ==
		    KERN_SUCCESS &&
	    host_sample_start(host, 0, SAMPLED_PC_PERIODIC, wanted.rate, options, port) ==
		    KERN_SUCCESS)
		return true;
	report("the kernel samples no more: too many are being sampled; end one");
	return false;
}

/* ---------------- Tables ---------------- */

static uint64_t sum_idle(void)
{
	uint64_t sum = 0;

	for (unsigned cpu = 0; cpu < CPUS_MAX; cpu++)
		sum += seen.idle[cpu];
	return sum;
}

static void print_title(uint64_t idle, uint64_t lost)
{
	uint64_t all = seen.samples + idle;
	uint64_t tenths = all == 0 ? 0 : (seen.samples * 1000 + all / 2) / all;

	printf("busy %u.%u %%: %llu samples, %llu idle, %llu lost\n", (unsigned)(tenths / 10),
	       (unsigned)(tenths % 10), (unsigned long long)seen.samples, (unsigned long long)idle,
	       (unsigned long long)lost);
}

static void print_table(bool is_first)
{
	uint64_t idle = sum_idle();

	screen_next_table(is_first);
	print_title(idle - seen.idle_before, seen.lost - seen.lost_before);
	rollup_print(&seen.rollup, wanted.by, ROWS_SHOWN, stdout);
	fflush(stdout);
	rollup_free(&seen.rollup);
	seen.samples = 0;
	seen.idle_before = idle;
	seen.lost_before = seen.lost;
}

static void run(void)
{
	uint64_t deadline = now_ms();

	for (unsigned tables = 0; wanted.tables == 0 || tables < wanted.tables; tables++) {
		deadline += wanted.seconds * MS;
		while (now_ms() < deadline)
			receive_until(deadline);
		bring_all();
		print_table(tables == 0);
	}
}

/* ---------------- The command line ---------------- */

static unsigned read_number(const char *option, const char *text, long long most)
{
	long long number;

	if (!parse_number(text, &number) || number < 1 || number > most)
		report_exit(EXIT_USAGE, "%s %s: a number from 1 to %lld is wanted", option, text,
			    most);
	return (unsigned)number;
}

static void set(const char *option, const char *value)
{
	if (strcmp(option, "-d") == 0)
		wanted.seconds = read_number(option, value, SECONDS_MAX);
	else if (strcmp(option, "-n") == 0)
		wanted.tables = read_number(option, value, TABLES_MAX);
	else if (strcmp(option, "-r") == 0)
		wanted.rate = read_number(option, value, SAMPLE_RATE_MAX);
	else if (strcmp(option, "-by") == 0)
		wanted.by = rollup_way(value);
	else
		usage(USAGE);
	if (wanted.by == BY_NOTHING)
		report_exit(EXIT_USAGE, "-by %s: it is by process, command, job or user", value);
}

/* Each has a value, and the names are monctl's. */
static void read_options(char **words)
{
	for (; *words != NULL; words += 2) {
		if (words[1] == NULL)
			usage(USAGE);
		set(words[0], words[1]);
	}
}

int main(int count, char **words)
{
	program_start(words);
	(void)count;
	read_options(words + 1);
	if (!begin())
		return 1;
	run();
	return program_end(0);
}
