/* SPDX-License-Identifier: MIT */
/*
 * kgmon: begins and ends the kernel's own profile, and writes it.
 *
 * The profile is the same whoever asks (<sys/gmon.h>): it is begun and ended by sysctl(), which has
 * the ticks.  The kernel itself tells the calls, of each CPU and to the last one.  The file has our
 * own records too (<gmon.h>): exact places, and what became of each due time of the clock.
 */
#include <errno.h>
#include <gmon.h>
#include <gmon_program.h>
#include <limits.h>
#include <mach.h>
#include <mach/assay.h>
#include <mach/calls.h>
#include <mach/prof.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <unistd.h>

#include "common/common.h"

#define USAGE "kgmon [-b | -h] [-p [-i] [-c CPU|all] [-N SYSTEM]] [-r]"

#define KERNEL_FILE "/mach_kernel"
#define ALL_CPUS    HOST_CALLS_ALL_CPUS
#define NAME_ROOM   32
#define TRIES       10 /* To read ticks and account of one moment. */

enum exit_status {
	EXIT_USAGE = 2,
	EXIT_STATE = 5,   /* The state could not be read, */
	EXIT_CHANGE = 6,  /* or set; */
	EXIT_READ = 7,    /* what was collected could not be read, */
	EXIT_WRITE = 8,   /* or not be written, */
	EXIT_RESET = 9,   /* or not be reset. */
	EXIT_SYSTEM = 10, /* -N is not the kernel that runs. */
	EXIT_NONE = 20,   /* Nobody profiles this kernel. */
};

static struct {
	bool begins;      /* -b */
	bool halts;       /* -h */
	bool dumps;       /* -p */
	bool resets;      /* -r */
	bool leaves_idle; /* -i */
	bool splits;      /* -c */
	int cpu;
	const char *system; /* -N */
} wanted = {.cpu = ALL_CPUS, .system = KERNEL_FILE};

static int status; /* The first failure's. */

static struct gmon_program kernel; /* The file -N, if it is written. */

static void fail(int how, const char *what, const char *why)
{
	report("%s: %s", what, why);
	if (status == 0)
		status = how;
}

/* ---------------- sysctl() ---------------- */

static void *get_table(int what, size_t *size)
{
	const int mib[] = {CTL_KERN, KERN_PROF, what};
	void *data = NULL;

	for (;;) {
		*size = 0;
		if (sysctl(mib, 3, NULL, size, NULL, 0) != 0)
			break;
		data = reallocate(data, *size + 1);
		if (sysctl(mib, 3, data, size, NULL, 0) == 0)
			return data;
		if (errno != ENOMEM)
			break;
	}
	free(data);
	return NULL;
}

static struct gmonparam get_parameters(void)
{
	static const int mib[] = {CTL_KERN, KERN_PROF, GPROF_GMONPARAM};
	struct gmonparam parameters;
	size_t size = sizeof(parameters);

	if (sysctl(mib, 3, &parameters, &size, NULL, 0) != 0)
		report_exit(errno == ENOENT ? EXIT_NONE : EXIT_STATE,
			    "the kernel's profile cannot be had: %s", strerror(errno));
	return parameters;
}

static void set_state(int state)
{
	static const int mib[] = {CTL_KERN, KERN_PROF, GPROF_STATE};
	const char *what = state == GMON_PROF_ON ? "-b" : "-h";

	if (sysctl(mib, 3, NULL, NULL, &state, sizeof(state)) == 0)
		return;
	if (errno == ENOMEM)
		fail(EXIT_CHANGE, what, "there is no memory left for the counts");
	else if (errno == EAGAIN)
		fail(EXIT_CHANGE, what, "too many are being sampled: end one");
	else
		fail(EXIT_CHANGE, what, strerror(errno));
}

static void reset_table(int what, size_t size)
{
	const int mib[] = {CTL_KERN, KERN_PROF, what};
	void *zeros = allocate(size);

	memset(zeros, 0, size);
	if (sysctl(mib, 3, NULL, NULL, zeros, size) != 0)
		fail(EXIT_RESET, "-r", strerror(errno));
	free(zeros);
}

/* ---------------- The file ---------------- */

struct profile {
	struct gmonparam of;
	struct gmon_account account;
	int cpu;
	const struct gmon_tick *ticks;
	size_t n_ticks;
	uint32_t *bins; /* Of kcount's pieces of text, but they count further. */
	size_t n_bins;
	FILE *file;
};

static void put(const struct profile *profile, const void *bytes, size_t size)
{
	fwrite(bytes, size, 1, profile->file);
}

/* A bin that passes 65,535 goes on in another record of the same range. */
static bool put_histogram(const struct profile *profile, unsigned rate)
{
	struct gmon_histogram histogram = {
		.low = profile->of.lowpc,
		.high = profile->of.highpc,
		.bins = (uint32_t)profile->n_bins,
		.rate = rate,
		.dimension = "seconds",
		.abbreviation = 's',
	};
	bool is_more = false;

	putc(GMON_TAG_HISTOGRAM, profile->file);
	put(profile, &histogram, sizeof(histogram));
	for (size_t n = 0; n < profile->n_bins; n++) {
		uint16_t part =
			profile->bins[n] < UINT16_MAX ? (uint16_t)profile->bins[n] : UINT16_MAX;

		put(profile, &part, sizeof(part));
		profile->bins[n] -= part;
		is_more |= profile->bins[n] != 0;
	}
	return is_more;
}

/* What was called by its address in a table has no known caller: see docs/kernel-profile.md. */
static void put_call(const struct profile *profile, const struct host_call *call)
{
	uint64_t left = prof_u64(call->count);
	struct gmon_arc arc = {.from = call->from != 0 ? call->from : profile->of.lowpc,
			       .self = call->to};

	for (; left > 0; left -= arc.count) {
		arc.count = left < INT32_MAX ? (uint32_t)left : INT32_MAX;
		putc(GMON_TAG_ARC, profile->file);
		put(profile, &arc, sizeof(arc));
	}
}

static bool put_calls(const struct profile *profile)
{
	mach_msg_type_number_t n = 0;
	host_call_array_t words = NULL;
	boolean_t on;

	if (host_calls_get(mach_host_self(), profile->cpu, &on, &words, &n) != KERN_SUCCESS)
		return false;
	for (size_t i = 0; i < n / HOST_CALL_WORDS; i++)
		put_call(profile, (const struct host_call *)words + i);
	if (n != 0)
		vm_deallocate(mach_task_self(), (vm_address_t)words, n * sizeof(*words));
	return true;
}

static void put_arc(const struct profile *profile, uint32_t from, uint32_t self, uint32_t count)
{
	struct gmon_arc arc = {from, self, count};

	putc(GMON_TAG_ARC, profile->file);
	put(profile, &arc, sizeof(arc));
}

static void put_value(const struct profile *profile, enum gmon_value which, uint64_t value)
{
	put_arc(profile, GMON_EXTRA_VALUE, which, (uint32_t)value);
	if (value >> 32 != 0)
		put_arc(profile, GMON_EXTRA_VALUE_HIGH, which, (uint32_t)(value >> 32));
}

/* Of the CPUs that are wanted. */
static struct gmon_clock sum_clocks(const struct profile *profile)
{
	struct gmon_clock sum = {0};

	for (int cpu = 0; cpu < GMON_CPUS; cpu++) {
		const struct gmon_clock *clock = &profile->account.clocks[cpu];

		if (profile->cpu != ALL_CPUS && profile->cpu != cpu)
			continue;
		sum.due += clock->due;
		sum.fired += clock->fired;
		sum.missed += clock->missed;
		sum.parked += clock->parked;
		sum.idle += clock->idle;
		sum.elsewhere += clock->elsewhere;
		sum.taken += clock->taken;
		sum.delivered += clock->delivered;
		sum.user += clock->user;
		sum.uncounted += clock->uncounted;
	}
	return sum;
}

static void put_clocks(const struct profile *profile)
{
	const struct gmon_clock sum = sum_clocks(profile);

	put_value(profile, GMON_DUE, sum.due);
	put_value(profile, GMON_FIRED, sum.fired);
	put_value(profile, GMON_MISSED, sum.missed);
	put_value(profile, GMON_PARKED, sum.parked);
	put_value(profile, GMON_IDLE, sum.idle);
	put_value(profile, GMON_ELSEWHERE, sum.elsewhere);
	put_value(profile, GMON_TAKEN, sum.taken);
}

/*
 * Of a CPU alone if one is wanted.  How much of what did not come is still with the kernel is known
 * of all CPUs together only, and is nothing once the profile is halted.
 */
static struct gmon_account account_of(const struct profile *profile)
{
	const struct gmon_clock clock = sum_clocks(profile);
	struct gmon_account account = profile->account;
	uint64_t away = clock.taken > clock.delivered ? clock.taken - clock.delivered : 0;

	if (profile->cpu == ALL_CPUS)
		return account;
	account.taken = clock.taken;
	account.delivered = clock.delivered;
	account.user = clock.user;
	account.uncounted = clock.uncounted;
	account.buffered = away < account.buffered ? away : account.buffered;
	account.lost = away - account.buffered;
	return account;
}

/* What was delivered and could not be counted is lost as much as what was not delivered. */
static void put_account(const struct profile *profile, unsigned rate)
{
	const struct gmon_account account = account_of(profile);

	put_value(profile, GMON_FORMAT, 1);
	put_value(profile, GMON_FLAVOR, SAMPLED_PC_PERIODIC);
	put_value(profile, GMON_FLAVORS, SAMPLED_PC_PERIODIC);
	put_value(profile, GMON_RATE, rate);
	put_value(profile, GMON_OPTIONS, SAMPLE_NMI);
	put_value(profile, GMON_ALL_TAKEN, account.taken);
	put_value(profile, GMON_DELIVERED, account.delivered - account.uncounted);
	put_value(profile, GMON_LOST, account.lost + account.uncounted);
	put_value(profile, GMON_BUFFERED, account.buffered);
	put_value(profile, GMON_OTHERS, account.user);
	put_clocks(profile);
}

static bool is_wanted(const struct profile *profile, const struct gmon_tick *tick)
{
	bool is_idle = (tick->cpu & GMON_TICK_IDLE) != 0;

	return tick->count != 0 && tick->pc >= profile->of.lowpc && tick->pc < profile->of.highpc &&
	       !(is_idle && wanted.leaves_idle) &&
	       (profile->cpu == ALL_CPUS ||
		(tick->cpu & ~GMON_TICK_IDLE) == (uint32_t)profile->cpu);
}

/* The kernel's own program counters have the records of a program's user mode. */
static void put_places(const struct profile *profile)
{
	const uint32_t from = GMON_EXTRA_PC + 2 * __builtin_ctz(SAMPLED_PC_PERIODIC);

	for (size_t n = 0; n < profile->n_ticks; n++)
		if (is_wanted(profile, &profile->ticks[n]))
			put_arc(profile, from, profile->ticks[n].pc, profile->ticks[n].count);
}

/* So that gprof takes no other kernel for it. */
static void put_program(const struct profile *profile)
{
	put_value(profile, GMON_TEXT_LOW, kernel.low);
	put_value(profile, GMON_TEXT_HIGH, kernel.high);
	put_arc(profile, GMON_EXTRA_CODE, kernel.code, kernel.bytes);
	put_arc(profile, GMON_EXTRA_CODE_SUM, kernel.code, kernel.sum);
}

static bool put_all(const struct profile *profile)
{
	struct gmon_header header = {.magic = GMON_MAGIC, .version = GMON_VERSION};
	struct clockinfo clocks = {.profhz = 1};
	size_t size = sizeof(clocks);

	sysctlbyname("kern.clockrate", &clocks, &size, NULL, 0);
	put(profile, &header, sizeof(header));
	while (put_histogram(profile, (unsigned)clocks.profhz))
		continue;
	put_account(profile, (unsigned)clocks.profhz);
	put_program(profile);
	put_places(profile);
	return put_calls(profile);
}

static void add_ticks(struct profile *profile)
{
	const uint32_t piece = HISTFRACTION * sizeof(HISTCOUNTER);

	for (size_t n = 0; n < profile->n_ticks; n++) {
		const struct gmon_tick *tick = &profile->ticks[n];

		if (is_wanted(profile, tick))
			profile->bins[(tick->pc - profile->of.lowpc) / piece] += tick->count;
	}
}

/* What the file was before, it stays until all of this is written. */
static void write_file(struct profile *profile, const char *name)
{
	char temporary[PATH_MAX];
	int descriptor = open_beside(name, temporary);
	bool is_whole, done;

	profile->file = descriptor >= 0 ? fdopen(descriptor, "w") : NULL;
	if (profile->file == NULL) {
		fail(EXIT_WRITE, name, strerror(errno));
		return;
	}
	is_whole = put_all(profile);
	if (!is_whole)
		fail(EXIT_READ, "-p", "the kernel has no memory to tell its calls: try again");
	done = ferror(profile->file) == 0;
	done = fclose(profile->file) == 0 && done;
	if (is_whole && (!done || rename(temporary, name) != 0))
		fail(EXIT_WRITE, name, strerror(errno));
	unlink(temporary); /* It is there only if something went wrong. */
}

/* Of each file by itself. */
static void tell_lost(const struct profile *profile, const char *name)
{
	const struct gmon_account account = account_of(profile);
	uint64_t lost = account.lost + account.uncounted;

	if (lost != 0)
		report("%s: %llu of %llu samples were lost, for want of memory", name,
		       (unsigned long long)lost, (unsigned long long)account.taken);
}

/* Of a CPU, or of all together: `whole` has everything but the file's own. */
static void dump(const struct profile *whole, int cpu)
{
	struct profile profile = *whole;
	char name[NAME_ROOM] = "gmon.out";

	profile.cpu = cpu;
	if (cpu != ALL_CPUS)
		snprintf(name, sizeof(name), "gmon-%d.out", cpu);
	profile.n_bins = profile.of.kcountsize / sizeof(HISTCOUNTER);
	profile.bins = allocate(profile.n_bins * sizeof(*profile.bins));
	memset(profile.bins, 0, profile.n_bins * sizeof(*profile.bins));
	add_ticks(&profile);
	write_file(&profile, name);
	tell_lost(&profile, name);
	free(profile.bins);
}

/* ---------------- Which kernel ---------------- */

/* To the byte, but for the end, which the profile has rounded up. */
static bool is_text_of(const void *image, size_t size, const struct gmonparam *parameters)
{
	return gmon_program_read(&kernel, image, size) && kernel.low == parameters->lowpc &&
	       kernel.high <= parameters->highpc &&
	       parameters->highpc - kernel.high < HISTFRACTION * sizeof(HISTCOUNTER);
}

/* Whoever reads the profile with a file of another kernel reads nonsense. */
static bool check_system(const struct gmonparam *parameters)
{
	int file = open_input(wanted.system);
	struct stat about = {0};
	void *image;
	bool fits = false;

	if (file < 0) {
		status = status != 0 ? status : EXIT_SYSTEM;
		return false;
	}
	fstat(file, &about);
	image = allocate((size_t)about.st_size + 1);
	if (read_bytes(file, image, (size_t)about.st_size))
		fits = is_text_of(image, (size_t)about.st_size, parameters);
	if (!fits)
		fail(EXIT_SYSTEM, wanted.system,
		     "not the kernel that runs: say by -N which file that is");
	free(image);
	close_input(file);
	return fits;
}

/* ---------------- What is asked for ---------------- */

static bool get_account(struct gmon_account *account)
{
	static const int mib[] = {CTL_KERN, KERN_PROF, GPROF_ACCOUNT};
	size_t size = sizeof(*account);

	return sysctl(mib, 3, account, &size, NULL, 0) == 0;
}

/* <sys/gmon.h>: not if samples came, or all was reset, between the two. */
static bool is_of_one_moment(const struct profile *profile)
{
	const struct gmon_account *account = &profile->account;
	uint64_t idle = 0, ticks[2] = {0};

	for (int cpu = 0; cpu < GMON_CPUS; cpu++)
		idle += account->clocks[cpu].idle;
	for (size_t n = 0; n < profile->n_ticks; n++)
		ticks[(profile->ticks[n].cpu & GMON_TICK_IDLE) != 0] += profile->ticks[n].count;
	return ticks[1] == idle &&
	       ticks[0] + account->user + account->uncounted == account->delivered;
}

/* False if they cannot be read.  The ticks are to be freed, in any case. */
static bool get_counts(struct profile *profile, struct gmon_tick **ticks)
{
	size_t size = 0;

	*ticks = NULL;
	for (int n = 0; n < TRIES && (n == 0 || !is_of_one_moment(profile)); n++) {
		free(*ticks);
		*ticks = get_table(GPROF_TICKS, &size);
		if (*ticks == NULL || !get_account(&profile->account))
			return false;
		profile->ticks = *ticks;
		profile->n_ticks = size / sizeof(**ticks);
	}
	return true;
}

static void write_profile(const struct gmonparam *parameters, int n_cpus)
{
	struct profile profile = {.of = *parameters};
	struct gmon_tick *ticks;

	if (!get_counts(&profile, &ticks)) {
		fail(EXIT_READ, "-p", strerror(errno));
		free(ticks);
		return;
	}
	if (!wanted.splits || wanted.cpu != ALL_CPUS)
		dump(&profile, wanted.cpu);
	else
		for (int cpu = 0; cpu < n_cpus; cpu++)
			dump(&profile, cpu);
	free(ticks);
}

static int count_cpus(void)
{
	int n = 1;
	size_t size = sizeof(n);

	sysctlbyname("hw.ncpu", &n, &size, NULL, 0);
	return n;
}

/* What changes something is root's; the rest is done all the same. */
static void check_rights(void)
{
	if (!(wanted.begins || wanted.halts || wanted.resets) || geteuid() == 0)
		return;
	fail(EXIT_CHANGE, "kernel read-only", "only root may do -b, -h and -r");
	wanted.begins = wanted.halts = wanted.resets = false;
}

static void tell_state(void)
{
	static const char *const words[] = {
		[GMON_PROF_ON] = "running",
		[GMON_PROF_BUSY] = "busy",
		[GMON_PROF_ERROR] = "off (error)",
		[GMON_PROF_OFF] = "off",
	};
	int state = get_parameters().state;

	printf("kgmon: kernel profiling is %s.\n", words[state & 3]);
	if (state == GMON_PROF_ERROR)
		report("there was no room for more: -p writes what there is, -r makes room, "
		       "-b goes on");
}

/* In the order in which it makes sense: what could not be written is not reset. */
static void act(void)
{
	struct gmonparam parameters = get_parameters();

	check_rights();
	if (wanted.halts)
		set_state(GMON_PROF_OFF);
	if (wanted.begins)
		set_state(GMON_PROF_ON);
	if (wanted.dumps && check_system(&parameters))
		write_profile(&parameters, count_cpus());
	if (wanted.resets && status == 0)
		reset_table(GPROF_COUNT, parameters.kcountsize);
	tell_state();
}

static void read_cpu(const char *text)
{
	long long cpu = ALL_CPUS;

	wanted.splits = true;
	if (strcmp(text, "all") == 0)
		return;
	if (!parse_number(text, &cpu) || cpu < 0 || cpu >= count_cpus())
		report_exit(EXIT_USAGE, "-c %s: there is no such CPU: say 0 to %d, or all", text,
			    count_cpus() - 1);
	wanted.cpu = (int)cpu;
}

int main(int count, char **arguments)
{
	int option;

	program_start(arguments);
	while ((option = getopt(count, arguments, "bhpric:N:")) != -1) {
		wanted.begins |= option == 'b';
		wanted.halts |= option == 'h';
		wanted.dumps |= option == 'p';
		wanted.resets |= option == 'r';
		wanted.leaves_idle |= option == 'i';
		if (option == 'c')
			read_cpu(optarg);
		if (option == 'N')
			wanted.system = optarg;
		if (option == '?')
			usage(USAGE);
	}
	if (optind < count || (wanted.begins && wanted.halts) ||
	    (!wanted.dumps && (wanted.splits || wanted.leaves_idle)))
		usage(USAGE);
	act();
	return program_end(status);
}
