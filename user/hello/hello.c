/* SPDX-License-Identifier: MIT */
/*
 * The first program: a short tour of the machine, in what a program can see of it.
 *
 * `make qemu` runs it until there is a shell.  Each stop of the tour is one function and one of the
 * things that Assay is about: its CPUs, its clocks, its threads, and the clock that takes samples.
 */
#include <assay.h>

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

static void show_samples(void)
{
	struct assay_sample_counts counts = {0};
	struct assay_cpu_info info = {0};

	assay_cpu_info(&info);
	assay_thread_bind((int)info.cpu);
	if (assay_sample_clock(SAMPLE_HZ, ASSAY_SAMPLE_RANDOM) != KERN_SUCCESS) {
		print("  samples   this machine has no sampling clock\n");
		return;
	}
	spin_and_trap();
	assay_sample_counts((int)info.cpu, &counts);
	assay_sample_clock(0, 0);
	assay_thread_bind(CPU_ANY);
	print("  samples   %u ms of work at %u Hz: %llu due, %llu taken, %llu missed\n", SPIN_MS,
	      SAMPLE_HZ, counts.due, counts.fired, counts.missed);
	print("            %llu in user mode, %llu in the kernel, %llu idle\n", counts.user,
	      counts.kernel + counts.kernel_off, counts.idle);
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
