/* SPDX-License-Identifier: MIT */
/*
 * profil() and add_profil(): ticks of the process's CPU time, counted in its own memory, in all
 * threads, whatever signals it blocks, and in children.
 *
 * guest: cpus=1 limit=60 when=nightly
 * guest: cpus=2 limit=60
 */
#include <fcntl.h>
#include <mach/map_fd.h>
#include <mach/profil.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "help.h"

#define SELF      "/tmp/profil"
#define ONE       0x10000u /* A bin for two bytes. */
#define TICK_US   10000
#define SECOND_US 1000000

extern const char __executable_start[], etext[];

#define LOW ((unsigned long)(uintptr_t)__executable_start)

static uint16_t all[1 << 17]; /* For all code of the program. */

static size_t code_size(void)
{
	return (size_t)(etext - __executable_start);
}

static int profil_all(uint16_t *bins)
{
	return profil((char *)bins, code_size(), LOW, ONE);
}

static unsigned sum_of(const uint16_t *bins)
{
	unsigned sum = 0;

	for (size_t n = 0; n < code_size() / 2; n++)
		sum += bins[n];
	return sum;
}

/* Ticks of this process's threads in user mode. */
static unsigned user_ticks(void)
{
	struct rusage usage;

	EXPECT_EQ(getrusage(RUSAGE_SELF, &usage), 0);
	return (unsigned)(usage.ru_utime.tv_sec * SECOND_US + usage.ru_utime.tv_usec) / TICK_US;
}

static __attribute__((noinline, noclone, aligned(128))) void compute(unsigned ticks)
{
	unsigned end = user_ticks() + ticks;

	while (user_ticks() < end)
		for (volatile unsigned n = 0; n < 100000; n++)
			continue;
}

static __attribute__((noinline, noclone, aligned(128))) void compute_otherwise(unsigned ticks)
{
	unsigned end = user_ticks() + ticks;

	while (user_ticks() < end)
		for (volatile unsigned n = 0; n < 100000; n++)
			continue;
}

static bool is_on(void)
{
	return add_profil(NULL, 0, 0, 0) == 0;
}

/* All ticks between are in bins, and of those around at most two. */
static void expect_all_counted(const uint16_t *bins, void (*work)(void))
{
	unsigned outer = user_ticks(), inner, sum;

	EXPECT_EQ(profil_all((uint16_t *)(uintptr_t)bins), 0);
	inner = user_ticks();
	work();
	inner = user_ticks() - inner;
	EXPECT_EQ(profil(NULL, 0, 0, 0), 0);
	outer = user_ticks() - outer;
	sum = sum_of(bins);
	EXPECT_LE(inner, sum);
	EXPECT_LE(sum, outer);
	EXPECT_LE(outer, inner + 2);
	EXPECT_LE(10, sum);
}

/* ---------------- Counting ---------------- */

static void work_alone(void)
{
	compute(20);
}

TEST(each_tick_is_counted)
{
	expect_all_counted(all, work_alone);
}

static void work_with_signals(void)
{
	const struct itimerval often = {{0, TICK_US}, {0, TICK_US}};
	const sigset_t every = ~(sigset_t)0;
	sigset_t pending = 0;

	EXPECT_EQ(sigprocmask(SIG_BLOCK, &every, NULL), 0);
	compute(10);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT(!sigismember(&pending, SIGPROF));
	EXPECT_EQ(setitimer(ITIMER_PROF, &often, NULL), 0);
	compute(10);
	EXPECT_EQ(sigpending(&pending), 0);
	EXPECT(sigismember(&pending, SIGPROF));
}

/* No signal has a part in it, and a timer of the program's own goes on beside it. */
TEST(signals_do_not_matter)
{
	expect_all_counted(all, work_with_signals);
}

static volatile unsigned handled;

static void count_signal(int signal)
{
	(void)signal;
	handled++;
}

/* A tick, a signal and a fault may all be a thread's at once. */
static void work_with_handler(void)
{
	const struct itimerval often = {{0, 1000}, {0, 1000}};
	const struct sigaction action = {.sa_handler = count_signal, .sa_flags = SA_RESTART};

	EXPECT_EQ(sigaction(SIGALRM, &action, NULL), 0);
	EXPECT_EQ(setitimer(ITIMER_REAL, &often, NULL), 0);
	compute(20);
	EXPECT_LE(5, handled);
}

TEST(handlers_run_meanwhile)
{
	expect_all_counted(all, work_with_handler);
}

static void *compute_in_thread(void *unused)
{
	for (volatile unsigned n = 0; n < 50000000; n++)
		continue;
	return unused;
}

static void work_in_threads(void)
{
	pthread_t threads[3];

	for (int n = 0; n < 3; n++)
		EXPECT_EQ(pthread_create(&threads[n], NULL, compute_in_thread, NULL), 0);
	for (int n = 0; n < 3; n++)
		EXPECT_EQ(pthread_join(threads[n], NULL), 0);
}

TEST(ticks_of_all_threads)
{
	expect_all_counted(all, work_in_threads);
}

/* The bins are a file's, and none of its pages is in memory at first. */
TEST(bins_in_a_file)
{
	int fd = open("/tmp/profil.bins", O_RDWR | O_CREAT | O_TRUNC, 0600);
	vm_offset_t at = 0;

	REQUIRE(fd >= 0 && write(fd, all, sizeof all) == sizeof all);
	REQUIRE(map_fd(fd, 0, &at, TRUE, sizeof all) == KERN_SUCCESS);
	expect_all_counted((const uint16_t *)at, work_alone);
	EXPECT_EQ(unlink("/tmp/profil.bins"), 0);
}

/* ---------------- Regions ---------------- */

#define PART 128u /* Bytes, more than such a function has. */

TEST(regions_of_their_own)
{
	static uint16_t one[PART / 2], other[PART / 2], fresh[PART / 2];
	unsigned long at = (unsigned long)(uintptr_t)compute;
	unsigned long at_other = (unsigned long)(uintptr_t)compute_otherwise;
	unsigned sums[3] = {0};

	EXPECT_EQ(profil((char *)one, PART, at, ONE), 0);
	EXPECT_EQ(add_profil((char *)other, PART, at_other, ONE), 0);
	compute(5);
	compute_otherwise(10);
	EXPECT_EQ(profil((char *)fresh, PART, at, ONE), 0);
	compute(5);
	compute_otherwise(5);
	EXPECT_EQ(profil(NULL, 0, 0, 0), 0);
	for (unsigned n = 0; n < PART / 2; n++) {
		sums[0] += one[n];
		sums[1] += other[n];
		sums[2] += fresh[n];
	}
	EXPECT(sums[0] >= 2 && sums[0] <= 6);
	EXPECT(sums[1] >= 6 && sums[1] <= 11);
	EXPECT(sums[2] >= 2 && sums[2] <= 6);
}

/* ---------------- Beginnings and ends ---------------- */

TEST(wrong_arguments)
{
	EXPECT_FAILS(add_profil((char *)all, sizeof all, LOW, ONE), EINVAL);
	EXPECT_FAILS(profil((char *)all, sizeof all, LOW, ONE + 1), EINVAL);
	EXPECT_FAILS(profil((char *)0xbffff000, 0x1002, LOW, ONE), EFAULT);
	EXPECT(!is_on());
	EXPECT_EQ(profil_all(all), 0);
	EXPECT_FAILS(add_profil((char *)all, sizeof all, LOW, ONE + 1), EINVAL);
	for (int n = 1; n < PROFIL_REGIONS_MAX; n++)
		EXPECT_EQ(add_profil((char *)all, sizeof all, LOW, ONE), 0);
	EXPECT_FAILS(add_profil((char *)all, sizeof all, LOW, ONE), ENOSPC);
	EXPECT(is_on());
	for (unsigned off = 0; off < 2; off++) {
		EXPECT_EQ(profil((char *)all, sizeof all, LOW, ONE), 0);
		EXPECT_EQ(profil((char *)all, sizeof all, LOW, off), 0);
		EXPECT(!is_on());
	}
}

/* The program is not told of it, and not hurt. */
TEST(bins_that_are_not_there_end_it)
{
	EXPECT_EQ(profil(NULL, code_size(), LOW, ONE), 0);
	EXPECT(is_on());
	compute(3);
	EXPECT(!is_on());
	EXPECT_EQ(profil((char *)(uintptr_t)LOW, code_size(), LOW, ONE), 0);
	compute(3);
	EXPECT(!is_on());
}

static void work_as_child(void)
{
	memset(all, 0, sizeof all);
	EXPECT(is_on());
	compute(10);
	EXPECT_LE(9, sum_of(all));
	EXPECT_EQ(profil(NULL, 0, 0, 0), 0);
}

static void work_as_parent(void)
{
	EXPECT(all_is_well_in_a_child(work_as_child));
	EXPECT(is_on());
	compute(10);
}

/* A child is profiled, in bins of its own. */
TEST(a_child_has_it_too)
{
	expect_all_counted(all, work_as_parent);
}

static __attribute__((constructor)) void be_the_next_program(void)
{
	if (getenv(ROLE) != NULL)
		_exit(is_on() ? 1 : 42);
}

TEST(another_program_has_not)
{
	EXPECT_EQ(profil_all(all), 0);
	EXPECT_EQ(WEXITSTATUS(status_of_role(SELF, "next")), 42);
}
