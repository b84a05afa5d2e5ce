/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own profile when the server has no memory, or no room: nothing is lost in silence,
 * and nobody waits for ever.
 *
 * Root, who has a right to the server's task, makes its allocations fail (servers/ux/core/heap.h),
 * and its tables small.
 *
 * guest: user=root cpus=2 \
 *	argument="${heap_test},${gmon_ticks},${_gmonparam},${gmon_ticks_bring},${ux_sleep}"
 */
#include <mach.h>
#include <mach/assay.h>
#include <mach/calls.h>
#include <mach/thread_info.h>
#include <mach/thread_status.h>
#include <pthread.h>
#include <sys/gmon.h>
#include <sys/sysctl.h>
#include <sys/ux.h>

#include "help.h"
#include "server_words.h"

#define TRIES  10
#define WORK   2000
#define ROUNDS 20
#define ROOM   20 /* Elements of tos: not enough. */

static struct {
	vm_address_t done, failing;
	vm_address_t used; /* Of the table of ticks. */
	vm_address_t state, tolimit;
	vm_address_t bring, sleep; /* The function in which a reader sleeps, and by which. */
} at;

/* ---------------- The server's memory ---------------- */

static bool find_server(void)
{
	char *end;

	server = task_by_pid(0);
	at.done = strtoul(check_argument, &end, 16);
	at.failing = at.done + sizeof(unsigned);
	at.used = strtoul(end + 1, &end, 16);
	at.state = strtoul(end + 1, &end, 16);
	at.bring = strtoul(end + 1, &end, 16);
	at.sleep = strtoul(end + 1, NULL, 16);
	at.tolimit = at.state + offsetof(struct gmonparam, tolimit);
	return server != MACH_PORT_NULL && at.done != 0 && at.used != 0 && at.state != 0;
}

/* ---------------- The profile ---------------- */

static struct gmon_account account;
static uint64_t ticks, idle_ticks, ticks_of[GMON_CPUS];

static int set_state(int state)
{
	static const int mib[] = {CTL_KERN, KERN_PROF, GPROF_STATE};

	return sysctl(mib, 3, NULL, NULL, &state, sizeof state);
}

static size_t bytes_of(int what)
{
	const int mib[] = {CTL_KERN, KERN_PROF, what};
	size_t size = 0;

	EXPECT_EQ(sysctl(mib, 3, NULL, &size, NULL, 0), 0);
	return size;
}

/* Null, with errno, if it could not be read; else to be freed. */
static void *get(int what, size_t *size)
{
	const int mib[] = {CTL_KERN, KERN_PROF, what};
	void *data;

	*size = bytes_of(what) + 2 * PAGE;
	data = malloc(*size);
	if (data == NULL || sysctl(mib, 3, data, size, NULL, 0) == 0)
		return data;
	free(data);
	return NULL;
}

/* Zeros as many as the table has bytes. */
static void reset(void)
{
	const int mib[] = {CTL_KERN, KERN_PROF, GPROF_TOS};
	size_t size = sizeof(struct gmonparam);
	struct gmonparam *parameters = get(GPROF_GMONPARAM, &size);
	void *zeros = calloc(parameters->tossize, 1);

	EXPECT_EQ(sysctl(mib, 3, NULL, NULL, zeros, parameters->tossize), 0);
	free(zeros);
	free(parameters);
}

static void read_account(void)
{
	size_t size = 0;
	struct gmon_tick *all = get(GPROF_TICKS, &size);
	struct gmon_account *now;

	ticks = idle_ticks = 0;
	memset(ticks_of, 0, sizeof ticks_of);
	for (size_t n = 0; all != NULL && n < size / sizeof *all; n++) {
		if ((all[n].cpu & GMON_TICK_IDLE) != 0) {
			idle_ticks += all[n].count;
		} else {
			ticks += all[n].count;
			ticks_of[all[n].cpu] += all[n].count;
		}
	}
	free(all);
	now = get(GPROF_ACCOUNT, &size);
	EXPECT(now != NULL && size == sizeof account);
	account = *now;
	free(now);
}

/* The kernel has counted what is due and what was taken, and the server what came. */
static void expect_nothing_missing(void)
{
	uint64_t idle = 0, taken = 0, delivered = 0, uncounted = 0;

	for (int cpu = 0; cpu < GMON_CPUS; cpu++) {
		const struct gmon_clock *clock = &account.clocks[cpu];

		EXPECT(clock->due == clock->fired + clock->missed + clock->parked);
		EXPECT(clock->fired == clock->idle + clock->elsewhere + clock->taken);
		EXPECT(clock->delivered == clock->user + clock->uncounted + ticks_of[cpu]);
		idle += clock->idle;
		taken += clock->taken;
		delivered += clock->delivered;
		uncounted += clock->uncounted;
	}
	EXPECT(delivered == account.delivered && uncounted == account.uncounted);
	EXPECT(account.taken == account.delivered + account.lost + account.buffered);
	EXPECT(account.delivered == account.user + account.uncounted + ticks);
	EXPECT(idle == idle_ticks);
	EXPECT(taken <= account.taken);
}

static void work(void)
{
	for (int i = 0; i < WORK; i++) {
		vm_address_t address = 0;

		EXPECT_EQ(vm_allocate(mach_task_self(), &address, PAGE, TRUE), KERN_SUCCESS);
		*(volatile char *)address = 1;
		EXPECT_EQ(vm_deallocate(mach_task_self(), address, PAGE), KERN_SUCCESS);
	}
}

static void start(void)
{
	EXPECT(find_server());
	EXPECT_EQ(set_state(GMON_PROF_ON), 0);
	reset();
	work();
}

static void end(void)
{
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	reset();
}

/* ---------------- Tests ---------------- */

TEST(what_became_of_each_due_time_is_told)
{
	start();
	read_account();
	EXPECT(account.delivered > 0 && ticks > 0);
	EXPECT(account.lost == 0 && account.uncounted == 0 && account.calls == 0);
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	EXPECT_EQ(set_state(GMON_PROF_ON), 0);
	work();
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	read_account();
	expect_nothing_missing();
	EXPECT(account.buffered == 0);
	end();
	read_account();
	EXPECT(account.taken == 0 && account.delivered == 0 && ticks == 0);
}

static void expect_kgmon_says_so(void)
{
	char said[1000] = "";
	int fd;

	EXPECT_EQ(system("cd /tmp && kgmon -p >said 2>&1"), 0);
	fd = open("/tmp/said", O_RDONLY);
	EXPECT(read(fd, said, sizeof said - 1) > 0);
	close(fd);
	EXPECT(strstr(said, "samples were lost, for want of memory") != NULL);
	EXPECT(strstr(said, "kernel profiling is off (error).") != NULL);
	EXPECT(strstr(said, "-r makes room, -b goes on") != NULL);
	EXPECT_EQ(unlink("/tmp/said"), 0);
	EXPECT_EQ(unlink("/tmp/gmon.out"), 0);
}

/* How many samples kgmon says were lost, of each CPU by itself. */
static void expect_kgmon_says_of_which_cpu(void)
{
	char said[1000] = "", *at;
	uint64_t lost = 0;
	int fd;

	EXPECT_EQ(system("cd /tmp && kgmon -p -c all >said 2>&1"), 0);
	fd = open("/tmp/said", O_RDONLY);
	EXPECT(read(fd, said, sizeof said - 1) > 0);
	close(fd);
	for (at = said; (at = strstr(at, ".out: ")) != NULL;) {
		at += strlen(".out: ");
		lost += strtoull(at, NULL, 10);
	}
	EXPECT(lost == account.uncounted);
	EXPECT_EQ(unlink("/tmp/said"), 0);
	EXPECT_EQ(unlink("/tmp/gmon-0.out"), 0);
	EXPECT_EQ(unlink("/tmp/gmon-1.out"), 0);
}

/*
 * Only what is kept for idle time is left.  The first allocation is the message's; if the server
 * does something else meanwhile, another one fails, and it waits.
 */
static void bring_ticks_without_memory(void)
{
	write_word(at.used, bytes_of(GPROF_TICKS) / sizeof(struct gmon_tick) - GMON_CPUS - 1);
	work();
	write_word(at.failing, read_word(at.done) + 2);
	bytes_of(GPROF_TICKS);
}

TEST(a_tick_without_memory_is_counted_and_ends_the_profile)
{
	start();
	for (int n = 0; n < TRIES && read_word(at.state) != GMON_PROF_ERROR; n++)
		bring_ticks_without_memory();
	EXPECT_EQ(read_word(at.state), GMON_PROF_ERROR);
	read_account();
	expect_nothing_missing();
	EXPECT(account.uncounted > 0);
	expect_kgmon_says_so();
	expect_kgmon_says_of_which_cpu();
	reset();
	EXPECT_EQ(set_state(GMON_PROF_ON), 0);
	work();
	read_account();
	EXPECT(account.uncounted == 0 && ticks > 0);
	end();
}

TEST(a_message_without_memory_waits_for_it)
{
	unsigned done;

	start();
	done = read_word(at.done);
	write_word(at.failing, done + 1);
	EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
	EXPECT(read_word(at.done) > done + 1);
	EXPECT_EQ(read_word(at.state), GMON_PROF_OFF);
	read_account();
	expect_nothing_missing();
	EXPECT(ticks > 0);
	end();
}

static uint64_t calls_of_the_kernel(void)
{
	mach_msg_type_number_t words = 0;
	host_call_array_t data = NULL;
	const struct host_call *calls;
	uint64_t sum = 0;
	boolean_t on;

	EXPECT_EQ(host_calls_get(mach_host_self(), HOST_CALLS_ALL_CPUS, &on, &data, &words),
		  KERN_SUCCESS);
	EXPECT(!on);
	calls = (const struct host_call *)data;
	for (size_t n = 0; n < words / HOST_CALL_WORDS; n++)
		sum += calls[n].count[0] + ((uint64_t)calls[n].count[1] << 32);
	vm_deallocate(mach_task_self(), (vm_address_t)data, words * sizeof *data);
	return sum;
}

TEST(calls_without_room_are_counted_and_end_the_profile)
{
	struct tostruct *tos;
	unsigned limit;
	uint64_t sum = 0;
	size_t size;

	start();
	limit = read_word(at.tolimit);
	reset();
	write_word(at.tolimit, ROOM);
	free(get(GPROF_TOS, &size));
	EXPECT_EQ(read_word(at.state), GMON_PROF_ERROR);
	tos = get(GPROF_TOS, &size);
	EXPECT(tos != NULL && tos[0].link == ROOM - 1);
	for (int n = 1; n < ROOM; n++)
		sum += (uint64_t)tos[n].count;
	free(tos);
	read_account();
	EXPECT(account.calls > 0 && sum > 0);
	EXPECT(sum + account.calls == calls_of_the_kernel());
	write_word(at.tolimit, limit);
	end();
}

TEST(who_only_resets_has_nothing_brought)
{
	unsigned limit;

	start();
	limit = read_word(at.tolimit);
	write_word(at.tolimit, ROOM); /* To bring would end the profile. */
	reset();
	EXPECT_EQ(read_word(at.state), GMON_PROF_ON);
	write_word(at.tolimit, limit);
	end();
}

static volatile bool done;

static void *read_on(void *unused)
{
	size_t size;

	for (; !done; free(get(GPROF_TICKS, &size)))
		continue;
	return unused;
}

TEST(who_reads_while_it_ends_and_begins_does_not_wait_for_the_next)
{
	pthread_t readers[3];

	start();
	done = false;
	for (int n = 0; n < 3; n++)
		EXPECT_EQ(pthread_create(&readers[n], NULL, read_on, NULL), 0);
	for (int n = 0; n < ROUNDS; n++) {
		EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
		EXPECT_EQ(set_state(GMON_PROF_ON), 0);
	}
	done = true;
	for (int n = 0; n < 3; n++)
		EXPECT_EQ(pthread_join(readers[n], NULL), 0);
	end();
}

/* ---------------- A reader that sleeps from one stream to the next ---------------- */

#define DEPTH         8   /* Frames of a thread of the server's that are looked at, */
#define FUNCTION_SIZE 400 /* and how long those two functions are at most. */
#define PATIENCE      400 /* Times of a few milliseconds. */

static volatile bool may_read, is_back;

static void *read_once(void *unused)
{
	while (!may_read)
		continue;
	bytes_of(GPROF_TICKS);
	is_back = true;
	return unused;
}

static bool is_waiting(thread_t thread)
{
	struct thread_basic_info info = {0};
	mach_msg_type_number_t count = THREAD_BASIC_INFO_COUNT;

	return thread_info(thread, THREAD_BASIC_INFO, (thread_info_t)&info, &count) ==
		       KERN_SUCCESS &&
	       info.run_state == TH_STATE_WAITING;
}

/* Whether the function has called that by which it sleeps. */
static bool is_asleep_in_bring(thread_t thread)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
	bool sleeps = false;
	unsigned frame;

	if (thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count) !=
	    KERN_SUCCESS)
		return false;
	frame = state.ebp;
	for (int n = 0; n < DEPTH && frame >= state.uesp && frame - state.uesp < PAGE; n++) {
		unsigned caller = read_word(frame + 4);

		if (sleeps && caller - at.bring < FUNCTION_SIZE)
			return true;
		sleeps = caller - at.sleep < FUNCTION_SIZE;
		frame = read_word(frame);
	}
	return false;
}

/* Suspended; MACH_PORT_NULL if no thread of the server's is there. */
static thread_t stop_reader(void)
{
	thread_t found = MACH_PORT_NULL;
	thread_array_t threads;
	mach_msg_type_number_t count;

	EXPECT_EQ(task_threads(server, &threads, &count), KERN_SUCCESS);
	for (mach_msg_type_number_t n = 0; n < count && found == MACH_PORT_NULL; n++) {
		if (!is_waiting(threads[n]))
			continue;
		EXPECT_EQ(thread_suspend(threads[n]), KERN_SUCCESS);
		if (is_asleep_in_bring(threads[n]))
			found = threads[n];
		else
			EXPECT_EQ(thread_resume(threads[n]), KERN_SUCCESS);
	}
	for (mach_msg_type_number_t n = 0; n < count; n++)
		if (threads[n] != found)
			mach_port_deallocate(mach_task_self(), threads[n]);
	vm_deallocate(mach_task_self(), (vm_address_t)threads, count * sizeof *threads);
	return found;
}

static bool await_reader(void)
{
	const struct timespec wait = {.tv_nsec = 5000000};

	for (int n = 0; n < PATIENCE && !is_back; n++)
		nanosleep(&wait, NULL);
	return is_back;
}

/*
 * Starts a reader whose message finds no memory, and stops it there.  None: it was another thread
 * of the server's that found none, and the reader has come back.
 */
static thread_t start_sleeping_reader(pthread_t *reader)
{
	thread_t thread = MACH_PORT_NULL;

	may_read = is_back = false;
	EXPECT_EQ(pthread_create(reader, NULL, read_once, NULL), 0);
	write_word(at.failing, read_word(at.done) + 1);
	may_read = true;
	while (thread == MACH_PORT_NULL && !is_back)
		thread = stop_reader();
	return thread;
}

/*
 * Who receives waits for memory, so a reader is asleep until its message is taken.  It wakes up
 * when the next stream runs already, which has delivered less, and nothing happens that is worth a
 * sample.
 */
TEST(who_reads_when_the_next_stream_has_begun_comes_back)
{
	thread_t thread;
	pthread_t reader;

	start();
	thread = start_sleeping_reader(&reader);
	for (int n = 1; n < TRIES && thread == MACH_PORT_NULL; n++) {
		EXPECT_EQ(pthread_join(reader, NULL), 0);
		thread = start_sleeping_reader(&reader);
	}
	if (EXPECT(thread != MACH_PORT_NULL)) {
		EXPECT_EQ(set_state(GMON_PROF_OFF), 0);
		EXPECT_EQ(set_state(GMON_PROF_ON), 0);
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
		mach_port_deallocate(mach_task_self(), thread);
	}
	EXPECT(await_reader());
	end();
	EXPECT_EQ(pthread_join(reader, NULL), 0);
}
