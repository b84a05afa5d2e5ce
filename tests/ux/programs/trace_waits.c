/* SPDX-License-Identifier: MIT */
/*
 * Waits in traces (KTR_CSW), compared with waits that are known: by the clock that whoever waits
 * reads before and after, by how many pages there were to come, and by who waited.
 *
 * guest: user=student limit=60
 * guest: user=root cpus=2 seed=1 limit=60
 */
#include <mach.h>
#include <mach/map_fd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/time.h>

#include "traces.h"

#define SELF_PATH "/tmp/trace_waits"
#define F         "/tmp/trace.f"
#define NAP_US    40000u
#define PARTS     64 /* Of a length, what may be missing or too much. */
#define REASONS   6
#define WAITS     512
#define SECOND    1000000
#define ANY       (-1)
#define CHILD_US  (2 * NAP_US)

static int64_t now_us(void)
{
	struct timeval now;

	gettimeofday(&now, NULL);
	return (int64_t)now.tv_sec * SECOND + now.tv_usec;
}

static void nap(unsigned us)
{
	struct timespec time = {.tv_nsec = (long)us * 1000};

	nanosleep(&time, NULL);
}

/* Executed by a test: waits once. */
__attribute__((constructor)) static void play_role(void)
{
	if (getenv(ROLE) == NULL)
		return;
	nap(NAP_US);
	_exit(0);
}

/* ---------------- What the trace says ---------------- */

struct waited {
	pid_t pid;
	unsigned thread, reason;
	int64_t begin, end;
	char command[KTR_COMM_MAX];
};

static struct waited waits[WAITS];
static unsigned n_waits;

static void begin_with(int facilities)
{
	EXPECT(trace_make_file());
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, facilities, getpid()), 0);
}

static void end(void)
{
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, ALL | KTRFAC_CSW, getpid()), 0);
}

static int64_t time_of(const struct ktr_header *header)
{
	return (int64_t)header->ktr_time.tv_sec * SECOND + header->ktr_time.tv_usec;
}

/* The wait that has begun and not ended of that thread; null: there is none. */
static struct waited *open_wait_of(const struct ktr_header *header)
{
	for (unsigned n = 0; n < n_waits; n++)
		if (waits[n].end == 0 && waits[n].pid == header->ktr_pid &&
		    waits[n].thread == header->ktr_thread)
			return &waits[n];
	return NULL;
}

static void note_begin(const struct ktr_header *header, const struct ktr_csw *csw)
{
	struct waited *wait = &waits[n_waits];

	EXPECT(open_wait_of(header) == NULL);
	EXPECT_EQ(csw->length, 0);
	if (n_waits == WAITS)
		return;
	n_waits++;
	*wait = (struct waited){.pid = header->ktr_pid,
				.thread = header->ktr_thread,
				.reason = csw->reason,
				.begin = time_of(header)};
	strcpy(wait->command, header->ktr_comm);
}

static void note_end(const struct ktr_header *header, const struct ktr_csw *csw)
{
	struct waited *wait = open_wait_of(header);

	EXPECT(wait != NULL);
	if (wait == NULL)
		return;
	wait->end = time_of(header);
	EXPECT_EQ(csw->reason, wait->reason);
	EXPECT_LE(wait->end - wait->begin, (int64_t)csw->length + 1);
	EXPECT_LE((int64_t)csw->length, wait->end - wait->begin + 1);
}

/* Reads all of them; records have the next number each, and a time not before the last one's. */
static void read_waits(void)
{
	struct trace trace = trace_read();
	const struct ktr_header *header;
	unsigned count = 0;
	int64_t last = 0;

	n_waits = 0;
	while ((header = trace_next(&trace)) != NULL) {
		const struct ktr_csw *csw = (const void *)(header + 1);

		EXPECT_EQ(header->ktr_sequence, ++count);
		EXPECT_LE(last, time_of(header) + 1);
		last = time_of(header);
		if (header->ktr_type != KTR_CSW)
			continue;
		EXPECT_EQ(header->ktr_len, (int)sizeof *csw);
		if (csw->out == 1)
			note_begin(header, csw);
		else
			note_end(header, csw);
	}
	free(trace.bytes);
	EXPECT_LT(n_waits, WAITS);
}

/*
 * How long all waits of a reason took together between these moments.  A record's microseconds are
 * rounded apart from those that a program reads: callers have one to spare on either side.
 */
static int64_t waited_for(unsigned reason, int64_t from, int64_t to)
{
	int64_t sum = 0;

	for (unsigned n = 0; n < n_waits; n++)
		if (waits[n].reason == reason && waits[n].begin >= from && waits[n].end <= to)
			sum += waits[n].end - waits[n].begin;
	return sum;
}

static unsigned count_of(int reason, pid_t pid, int64_t at_least)
{
	unsigned count = 0;

	for (unsigned n = 0; n < n_waits; n++)
		count += (reason == ANY || waits[n].reason == (unsigned)reason) &&
			 waits[n].pid == pid && waits[n].end - waits[n].begin >= at_least;
	return count;
}

static void expect_about(int64_t us, int64_t right)
{
	EXPECT_LE(right - right / PARTS, us);
	EXPECT_LE(us, right + right / PARTS);
}

/* ---------------- One wait at a time ---------------- */

TEST(sleep)
{
	int64_t before, after;

	begin_with(KTRFAC_CSW);
	before = now_us();
	nap(NAP_US);
	after = now_us();
	end();
	read_waits();
	EXPECT_EQ(count_of(ANY, getpid(), NAP_US), 1);
	EXPECT_EQ(count_of(KTR_WAIT_PORT, getpid(), NAP_US), 1);
	expect_about(waited_for(KTR_WAIT_PORT, before - 1, after + 1) +
			     waited_for(KTR_WAIT_CPU, before - 1, after + 1),
		     after - before);
}

TEST(a_pipe)
{
	int64_t before, after;
	int ends[2];
	char byte;
	pid_t pid;

	EXPECT_EQ(pipe(ends), 0);
	pid = fork();
	if (pid == 0) {
		nap(NAP_US);
		write(ends[1], "x", 1);
		_exit(0);
	}
	begin_with(KTRFAC_CSW | KTRFAC_SYSCALL | KTRFAC_SYSRET);
	before = now_us();
	EXPECT_EQ(read(ends[0], &byte, 1), 1);
	after = now_us();
	end();
	EXPECT_EQ(status_of(pid), 0);
	close(ends[0]);
	close(ends[1]);
	read_waits();
	EXPECT_EQ(count_of(KTR_WAIT_PORT, getpid(), NAP_US / 2), 1);
	expect_about(waited_for(KTR_WAIT_PORT, before - 1, after + 1) +
			     waited_for(KTR_WAIT_CPU, before - 1, after + 1),
		     after - before);
}

/* Pages that come from a file are waited for, each fault that the kernel counts as such. */
TEST(pages)
{
	static char data[4 * PAGE];
	struct rusage before, after;
	volatile const char *pages;
	vm_offset_t address = 0;
	unsigned sum = 0;
	int fd;

	memset(data, 1, sizeof data);
	EXPECT(make_file(F, data, sizeof data, 0600));
	fd = open(F, O_RDONLY);
	EXPECT_EQ(map_fd(fd, 0, &address, TRUE, sizeof data), KERN_SUCCESS);
	pages = (volatile char *)address;
	getrusage(RUSAGE_SELF, &before);
	begin_with(KTRFAC_CSW);
	for (unsigned at = 0; at < sizeof data; at += PAGE)
		sum += (unsigned)pages[at];
	end();
	getrusage(RUSAGE_SELF, &after);
	EXPECT_EQ(sum, 4);
	read_waits();
	EXPECT_LT(before.ru_majflt, after.ru_majflt);
	EXPECT_EQ(count_of(KTR_WAIT_PAGE, getpid(), 0), after.ru_majflt - before.ru_majflt);
	vm_deallocate(mach_task_self(), address, sizeof data);
	close(fd);
	unlink(F);
}

/* ---------------- Threads ---------------- */

static uint32_t word;
static int64_t word_before, word_after;

static void *wait_for_word(void *unused)
{
	word_before = now_us();
	gsync_wait(mach_task_self(), (vm_address_t)&word, 0, 0, 0, 0);
	word_after = now_us();
	return unused;
}

TEST(a_lock_of_another_thread)
{
	pthread_t thread;

	begin_with(KTRFAC_CSW);
	pthread_create(&thread, NULL, wait_for_word, NULL);
	nap(NAP_US);
	word = 1;
	gsync_wake(mach_task_self(), (vm_address_t)&word, 0, 0);
	pthread_join(thread, NULL);
	end();
	read_waits();
	expect_about(waited_for(KTR_WAIT_LOCK, word_before - 1, word_after + 1) +
			     waited_for(KTR_WAIT_CPU, word_before - 1, word_after + 1),
		     word_after - word_before);
	for (unsigned n = 0; n < n_waits; n++)
		if (waits[n].reason == KTR_WAIT_LOCK && waits[n].begin >= word_before - 1 &&
		    waits[n].end <= word_after + 1)
			EXPECT_LT(1, waits[n].thread);
}

/* ---------------- Processes ---------------- */

/* A child that sleeps, and then as another program. */
static pid_t run_child(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		nap(CHILD_US);
		setenv(ROLE, "nap", 1);
		execl(SELF_PATH, SELF_PATH, (char *)NULL);
		_exit(99);
	}
	EXPECT_EQ(status_of(pid), 0);
	return pid;
}

TEST(children_and_programs)
{
	pid_t pid;

	begin_with(KTRFAC_CSW | (int)KTRFAC_INHERIT);
	pid = run_child();
	end();
	read_waits();
	EXPECT_EQ(count_of(KTR_WAIT_PORT, pid, CHILD_US), 1);
	EXPECT_EQ(count_of(KTR_WAIT_PORT, pid, NAP_US), 2);
	EXPECT_EQ(count_of(KTR_WAIT_PORT, getpid(), CHILD_US + NAP_US), 1);
}

TEST(children_that_are_not_traced)
{
	pid_t pid;

	begin_with(KTRFAC_CSW);
	pid = run_child();
	end();
	read_waits();
	EXPECT_EQ(count_of(ANY, pid, 0), 0);
	EXPECT_EQ(count_of(KTR_WAIT_PORT, getpid(), CHILD_US + NAP_US), 1);
}

/* Who reads finds what had happened by then, though nothing has ended; he is another one. */
TEST(while_it_goes_on)
{
	pid_t pid = fork();

	while (pid == 0)
		nap(NAP_US);
	EXPECT(trace_make_file());
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_CSW, pid), 0);
	nap(4 * NAP_US); /* The first of the child's may be told in part. */
	read_waits();
	EXPECT_LT(1, count_of(KTR_WAIT_PORT, pid, NAP_US));
	EXPECT_LT(count_of(KTR_WAIT_PORT, pid, NAP_US), 4);
	kill(pid, SIGKILL);
	EXPECT_EQ(status_of(pid), SIGKILL);
}

/* How many bytes come until the end, in a thousand reads at most; -1: no end. */
static int read_to_the_end(int fd)
{
	static char some[512];
	int sum = 0;

	for (unsigned n = 0; n < 1000; n++) {
		ssize_t size = read(fd, some, sizeof some);

		if (size <= 0)
			return sum;
		sum += size;
	}
	return -1;
}

/* Each read makes more records than it reads. */
TEST(who_reads_his_own_comes_to_the_end)
{
	int fd, first;

	begin_with(ALL | KTRFAC_CSW);
	nap(NAP_US);
	fd = open(TRACE, O_RDONLY);
	first = read_to_the_end(fd);
	EXPECT_LT(0, first);
	EXPECT_EQ(read_to_the_end(fd), 0);
	EXPECT_EQ(lseek(fd, first, SEEK_SET), first); /* He is there already. */
	EXPECT_EQ(read_to_the_end(fd), 0);
	EXPECT_EQ(lseek(fd, 0, SEEK_SET), 0);
	EXPECT_LT(first, read_to_the_end(fd));
	end();
	EXPECT_LT(0, read_to_the_end(fd)); /* He is not traced any more. */
	close(fd);
}

/* With its end nothing is recorded, and another trace begins anew. */
TEST(an_end)
{
	begin_with(KTRFAC_CSW | KTRFAC_SYSCALL);
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, KTRFAC_CSW, getpid()), 0);
	nap(NAP_US);
	end();
	read_waits();
	EXPECT_EQ(count_of(ANY, getpid(), NAP_US / 2), 0);
	begin_with(KTRFAC_CSW);
	nap(NAP_US);
	end();
	read_waits();
	EXPECT_EQ(count_of(KTR_WAIT_PORT, getpid(), NAP_US), 1);
	EXPECT_EQ(ktrace(TRACE, KTROP_CLEARFILE, 0, 0), 0);
}

/* ---------------- Files ---------------- */

/* So many tasks and no more: who is refused is told, and what is there goes on. */
TEST(too_many)
{
	pid_t pids[40];
	unsigned n = 0, refused = 0;

	EXPECT(trace_make_file());
	for (; n < 40; n++)
		pids[n] = fork_sleeper();
	for (unsigned i = 0; i < n; i++)
		if (ktrace(TRACE, KTROP_SET, KTRFAC_CSW, pids[i]) != 0) {
			EXPECT_EQ(errno, EAGAIN);
			refused++;
		}
	EXPECT_LT(0, refused);
	EXPECT_LT(refused, 40);
	EXPECT_EQ(ktrace(TRACE, KTROP_CLEARFILE, 0, 0), 0);
	for (unsigned i = 0; i < n; i++) {
		kill(pids[i], SIGKILL);
		status_of(pids[i]);
	}
	read_waits();
	begin_with(KTRFAC_CSW);
	end();
}
