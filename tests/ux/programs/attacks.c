/* SPDX-License-Identifier: MIT */
/*
 * All at once: one user takes all that there is of everything, for as long as it is let, and is in
 * everybody's way.  Root's shell answers soon meanwhile, another user works, and afterwards
 * everything is back.
 *
 * It is tried without a seed: with one, a CPU gives the turn away at each unlock to one that
 * computes, and how long root takes is how long that one keeps it.
 *
 * With a number of rounds there is one attack of so many, in which memory and swap are out.
 *
 * guest: user=root limit=600 when=nightly
 * guest: user=root limit=600 cpus=2
 * guest: user=root argument=18 mem=64 limit=600 when=stock
 * guest: user=root argument=18 mem=64 limit=600 cpus=2 when=nightly
 * guest: user=root argument=18 mem=64 limit=600 cpus=4 when=nightly
 * guest: user=root limit=600 cpus=4 when=nightly
 */
#include <signal.h>
#include <time.h>

#include "attackers.h"

enum {
	HOGS = 20,
	ROUNDS = 6,
	LONG = 40,
	TAKEN = 2,
#ifdef KERNEL_SAN
	SOON_MS = 400, /* It executes twice as much for most of what it does. */
#else
	SOON_MS = 200, /* What a person does not call waiting. */
#endif
	MS = 1000000, /* In nanoseconds. */
	SLACK = 4,    /* A few of the server's threads come and go, with all that they have. */
	KEPT = 384,   /* Pages that the kernel and the server keep for what comes next, at most. */
};

#define FULL  "/tmp/attacks.full"
#define SMALL "/root/attacks.small"

/* ---------------- Attackers ---------------- */

/* In long blocks, which an emulator executes in a tenth of the time. */
static void compute(void)
{
	for (;;)
		__asm__ volatile(".rept 250\nnop\n.endr");
}

static void sleep_in_many(void)
{
	while (fork_sleeper() > 0)
		continue;
}

static void fork_without_end(void)
{
	for (;;)
		fork();
}

static void fill_the_disk(void)
{
	static char piece[PAGE];
	int fd = open(FULL, O_CREAT | O_WRONLY | O_TRUNC, 0600);

	while (write(fd, piece, sizeof piece) > 0)
		continue;
	close(fd);
}

static void touch_memory(void)
{
	vm_address_t area;

	while (vm_allocate(mach_task_self(), &area, LARGE, true) == KERN_SUCCESS)
		memset((char *)area, 1, LARGE);
}

/* Those that need ports come before those that take them all. */
static const struct attacker {
	void (*take)(void);
	int processes;
} attackers[] = {
	{take_messages, 1},    {take_threads, 1},  {take_tasks, 1},    {take_names, 1},
	{take_ports, 1},       {touch_memory, 1},  {fill_the_disk, 1}, {take_ports_of_threads, 1},
	{fork_without_end, 1}, {sleep_in_many, 1}, {compute, HOGS},
};

/* A process of the student's in the group, which begins when `begin` is closed elsewhere. */
static pid_t start_attacker(const struct attacker *attacker, pid_t group, const int *begin)
{
	pid_t child = fork();
	char byte;

	if (child != 0)
		return child;
	close(begin[1]);
	if (setpgid(0, group) != 0 || setuid(STUDENT) != 0 || read(begin[0], &byte, 1) != 0)
		_exit(1);
	for (;;)
		attacker->take();
}

/* The last of those that are started; they are there up to the end. */
static pid_t hogs[HOGS];

static void expect_hogs(void)
{
	for (unsigned n = 0; n < HOGS; n++)
		EXPECT_EQ(waitpid(hogs[n], NULL, WNOHANG), 0);
}

/* The group's number; its first process does nothing. */
static pid_t start_attackers(void)
{
	pid_t group;
	int begin[2];

	group = fork_sleeper();
	EXPECT_EQ(setpgid(group, group), 0);
	EXPECT_EQ(pipe(begin), 0);
	for (unsigned n = 0; n < sizeof attackers / sizeof attackers[0]; n++)
		for (int process = 0; process < attackers[n].processes; process++)
			hogs[process] = start_attacker(&attackers[n], group, begin);
	close(begin[0]);
	close(begin[1]);
	return group;
}

/* Those too that are being made. */
static void end_attackers(pid_t group)
{
	while (kill(-group, SIGKILL) == 0)
		while (waitpid(-group, NULL, WNOHANG) > 0)
			continue;
	EXPECT_EQ(errno, ESRCH);
	while (wait(NULL) > 0)
		continue;
	unlink(FULL);
}

/* ---------------- Those who want to work ---------------- */

static int64_t now(void)
{
	struct timespec time;

	EXPECT_EQ(clock_gettime(CLOCK_MONOTONIC, &time), 0);
	return (int64_t)time.tv_sec * 1000 * MS + time.tv_nsec;
}

/* What root's shell is asked, and how long it has taken at most. */
static struct question {
	const char *line;
	int longest_ms;
} questions[] = {
	{"true", 0},
	{"ls / | wc -l >/dev/null", 0},
	{"ps -a >/dev/null", 0},
	{"echo small >" SMALL "; cmp -s " SMALL " " SMALL, 0},
};

static void ask(struct question *question)
{
	int64_t begun = now();
	int ms;

	EXPECT_EQ(system(question->line), 0);
	ms = (int)((now() - begun) / MS);
	if (ms > question->longest_ms)
		question->longest_ms = ms;
}

static void work_as_ta(void)
{
	EXPECT_EQ(setuid(TA), 0);
	need_some_of_everything();
}

static void work_beside_them(void)
{
	for (unsigned n = 0; n < sizeof questions / sizeof questions[0]; n++)
		ask(&questions[n]);
	EXPECT(all_is_well_in_a_child(work_as_ta));
}

/*
 * Of how many kinds the user has had nearly all at a time that a user may have.  Attackers are in
 * each other's way, too: which come first has as many as there may be.
 */
static int kinds_taken(void)
{
	static const enum owner_kind kinds[] = {OWNER_PORTS,   OWNER_NAMES,  OWNER_TASKS,
						OWNER_THREADS, OWNER_QUEUED, OWNER_PAGES};
	owner_uses_t uses;
	int taken = 0;

	if (!owner_uses(STUDENT, &uses))
		return 0;
	for (unsigned n = 0; n < sizeof kinds / sizeof kinds[0]; n++) {
		const struct owner_use *use = &uses.uses[kinds[n]];

		taken += use->most >= use->limit / 8 * 7;
	}
	return taken;
}

/* ---------------- The test ---------------- */

/* What the kernel has for the system alone.  The server keeps some ports and messages for later. */
static const char *const counted[] = {"tasks", "threads", "kernel stacks", "spaces", "maps"};

#define COUNTED (sizeof counted / sizeof counted[0])

/* When the server has seen to everything that it was told by then. */
static void count_all(uint32_t *counts)
{
	static const struct timespec a_second = {1, 0};

	nanosleep(&a_second, NULL);
	for (unsigned n = 0; n < COUNTED; n++)
		counts[n] = count_of(counted[n]);
}

static void attack(int rounds)
{
	static const struct timespec a_while = {0, 100 * MS};
	pid_t group = start_attackers();

	/* A slow machine's attackers need longer for the same. */
	for (int round = 0; round < rounds || (kinds_taken() < TAKEN && round < LONG); round++) {
		work_beside_them();
		nanosleep(&a_while, NULL);
	}
	EXPECT_LE(TAKEN, kinds_taken());
	expect_hogs();
	end_attackers(group);
	EXPECT(has_nothing(STUDENT));
	EXPECT(has_nothing(TA));
}

static void check_answers(void)
{
	for (unsigned n = 0; n < sizeof questions / sizeof questions[0]; n++) {
		printf("%d ms at most: %s\n", questions[n].longest_ms, questions[n].line);
		EXPECT_LE(questions[n].longest_ms, SOON_MS);
	}
	EXPECT_EQ(unlink(SMALL), 0);
}

static void attack_twice(void)
{
	uint32_t before[COUNTED], after[COUNTED], pages;

	attack(ROUNDS); /* What the server keeps for later is there after that. */
	count_all(before);
	pages = free_pages();
	attack(ROUNDS);
	count_all(after);
	for (unsigned n = 0; n < COUNTED; n++) {
		if (after[n] > before[n] + SLACK)
			check_fail("%u %s more than before", after[n] - before[n], counted[n]);
	}
	EXPECT_LE(pages, free_pages() + KEPT);
}

/* Whom the kernel has ended as memory was out; 0: nobody. */
static uint32_t last_culprit(void)
{
	owner_uses_t uses;

	return owner_uses(OWNER_OTHERS, &uses) ? uses.culprit : 0;
}

TEST(all_at_once)
{
	int rounds = atoi(check_argument);

	if (rounds == 0) {
		attack_twice();
	} else {
		attack(rounds);
		EXPECT(last_culprit() != 0);
	}
	check_answers();
}
