/* SPDX-License-Identifier: MIT */
/*
 * The first program: a short tour of the machine, in what a program can see of it.
 *
 * `make qemu` runs it until there is a shell.  Each stop of the tour is one function and one of the
 * things that Assay is about: its CPUs, its clocks, its threads, and the clock that takes samples.
 */
#include <assay.h>
#include <mach.h>
#include <mach/prof.h>
#include <mach/prof_catch.h>

#define ROUNDS         3
#define SAMPLE_HZ      1000
#define SPIN_MS        250
#define NANOS_PER_MS   1000000
#define SECONDS_A_DAY  86400
#define MHZ            1000000
#define DAYS_400_YEARS 146097 /* After which the calendar repeats. */

static uint64_t clock_read(enum assay_clock which)
{
	uint64_t value = 0;

	assay_clock_read(which, &value);
	return value;
}

static void show_machine(void)
{
	struct assay_cpu_info info = {0};
	uint64_t hz = clock_read(ASSAY_CLOCK_TSC_HZ);

	assay_cpu_info(&info);
	hz += MHZ / 2; /* Rounds to the nearest. */
	divide(&hz, MHZ);
	print("  machine   an x86 of 32 bits with %u CPU%s; this runs on CPU %u\n", info.cpus,
	      info.cpus == 1 ? "" : "s", info.cpu);
	print("  clock     the time stamp counter, measured at %llu MHz\n", hz);
}

struct date {
	uint32_t year, month, day; /* Month and day count from 1. */
};

/*
 * Days since 1970 to a date.  The year here starts in March, so that the odd day is its last, and
 * months are 153 days in five, which makes the start of month m day (153 m + 2) / 5.
 */
static struct date date_of(uint32_t days)
{
	uint32_t since_0 = days + 719468; /* From the first of March of the year 0. */
	uint32_t era = since_0 / DAYS_400_YEARS;
	uint32_t day = since_0 % DAYS_400_YEARS;
	uint32_t year = (day - day / 1460 + day / 36524 - day / 146096) / 365;
	uint32_t day_of_year = day - (365 * year + year / 4 - year / 100);
	uint32_t month = (5 * day_of_year + 2) / 153;

	return (struct date){
		.year = 400 * era + year + (month >= 10),
		.month = month < 10 ? month + 3 : month - 9,
		.day = day_of_year - (153 * month + 2) / 5 + 1,
	};
}

static void show_date(void)
{
	uint64_t time = clock_read(ASSAY_CLOCK_WALL);
	uint32_t second;
	struct date date;

	divide(&time, NANOS_PER_SECOND);
	second = divide(&time, SECONDS_A_DAY);
	date = date_of((uint32_t)time);
	print("  date      %u-%02u-%02u %02u:%02u:%02u UTC\n", date.year, date.month, date.day,
	      second / 3600, second / 60 % 60, second % 60);
}

/* Whose turn it is: the two threads hand it to each other. */
static volatile uint32_t turn;
static char stacks[2][PAGE_SIZE] __attribute__((aligned(16)));

static void take_turns(void *argument)
{
	uint32_t self = (uint32_t)(uintptr_t)argument;

	for (int round = 0; round < ROUNDS; round++) {
		while (turn != self)
			swtch();
		print(" %s", self == 0 ? "tick" : "tock");
		turn = 1 - self;
	}
}

static void show_threads(void)
{
	uint32_t ids[2];

	print("  threads   two take turns:");
	for (uint32_t i = 0; i < 2; i++) {
		if (thread_start(take_turns, (void *)(uintptr_t)i, stacks[i], sizeof(stacks[i]),
				 PRIORITY_USUAL, &ids[i]) != KERN_SUCCESS) {
			print(" (the second will not start)\n");
			assay_exit(1);
		}
	}
	for (uint32_t i = 0; i < 2; i++)
		assay_thread_join(ids[i], TIMEOUT_NONE);
	print("\n");
}

/* Mostly here, and a little in the kernel: that is what the samples should say. */
static void spin_and_trap(void)
{
	uint64_t start = clock_read(ASSAY_CLOCK_MONOTONIC);
	uint64_t now;

	do {
		for (volatile int i = 0; i < 1000; i++)
			;
		null_trap();
		now = clock_read(ASSAY_CLOCK_MONOTONIC);
	} while (now - start < (uint64_t)SPIN_MS * NANOS_PER_MS);
}

/* What has come of the samples. */
static struct {
	uint32_t user, kernel; /* Samples by where they found us. */
	uint64_t due, missed, idle;
	bool ended;
} seen;

static void see_record(const struct prof_record *record)
{
	const struct prof_clock *clock = (const struct prof_clock *)record;

	if (record->type == PROF_END)
		seen.ended = true;
	if (record->type == PROF_SAMPLE && ((const struct prof_sample *)record)->kernel_pc != 0)
		seen.kernel++;
	else if (record->type == PROF_SAMPLE)
		seen.user++;
	if (record->type == PROF_CLOCK && clock->cpu == 0) {
		seen.due = prof_u64(clock->due);
		seen.missed = prof_u64(clock->missed);
		seen.idle = prof_u64(clock->idle);
	}
}

/* prof_server() calls this with what a message has brought. */
kern_return_t receive_samples(mach_port_t port, sample_array_t words, mach_msg_type_number_t n)
{
	(void)port;
	for (uint32_t at = 0; at < n;) {
		const struct prof_record *record = (const struct prof_record *)(words + at);

		see_record(record);
		at += record->words;
	}
	return vm_deallocate(mach_task_self(), (vm_address_t)words, n * sizeof words[0]);
}

static void receive_all(mach_port_t port)
{
	union {
		mach_msg_header_t header;
		uint8_t room[128];
	} request, reply;

	while (!seen.ended && mach_msg(&request.header, MACH_RCV_MSG, 0, sizeof request, port,
				       MACH_MSG_TIMEOUT_NONE, MACH_PORT_NULL) == MACH_MSG_SUCCESS)
		prof_server(&request.header, &reply.header);
}

static void show_samples(void)
{
	sample_options_t options = {0};
	mach_port_t port;

	assay_thread_bind(0);
	if (mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port) != KERN_SUCCESS ||
	    task_sample_start(mach_task_self(), SAMPLED_PC_PERIODIC, SAMPLE_HZ, options, port) !=
		    KERN_SUCCESS) {
		print("  samples   there are none: no memory for them\n");
		return;
	}
	spin_and_trap();
	task_sample_stop(mach_task_self(), port);
	receive_all(port);
	assay_thread_bind(CPU_ANY);
	print("  samples   %u ms of work at %u Hz: %llu due, %u taken, %llu missed\n", SPIN_MS,
	      SAMPLE_HZ, seen.due, seen.user + seen.kernel, seen.missed);
	print("            %u in user mode, %u in the kernel, %llu idle\n", seen.user, seen.kernel,
	      seen.idle);
}

int main(void)
{
	print("\nThis is Assay.\n\n");
	show_machine();
	show_date();
	show_threads();
	show_samples();
	print("\nTry next:\n"
	      "  make qemu CPUS=2       the same with two CPUs\n"
	      "  make test              everything that proves it\n"
	      "  make hot T=hello       where the instructions of this tour went\n"
	      "  make gdb               stop at the first instruction and look around\n"
	      "  docs/                  how it works\n\n");
	return 0;
}
