/* SPDX-License-Identifier: MIT */
/*
 * Threads of POSIX's kind, each once and many at once.
 *
 * guest: cpus=1 limit=60 when=nightly
 * guest: cpus=2 limit=60
 */
#include <mach.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ux.h>

#include "check_unix.h"

#define MANY 16

static void *give_back(void *argument)
{
	return argument;
}

TEST(a_thread_gives_its_result_to_who_joins_it)
{
	static int place;
	pthread_t thread;
	void *result = NULL;

	REQUIRE(pthread_create(&thread, NULL, give_back, &place) == 0);
	EXPECT_EQ(pthread_join(thread, &result), 0);
	EXPECT(result == &place);
}

TEST(threads_come_and_go_without_end)
{
	unsigned done = 0;

	for (uintptr_t n = 0; n < 1000; n++) {
		pthread_t thread;
		void *result = NULL;

		REQUIRE(pthread_create(&thread, NULL, give_back, (void *)n) == 0);
		EXPECT_EQ(pthread_join(thread, &result), 0);
		done += (uintptr_t)result == n;
	}
	EXPECT_EQ(done, 1000);
}

static void *call(void *unused)
{
	(void)unused;
	return (void *)(uintptr_t)getpid();
}

/* The server gives it a right under a name of its choice; the program may have chosen that, too. */
TEST(a_thread_begins_though_its_name_is_taken)
{
	const mach_port_t first = 0x1000, last = first + 50;
	void *result = NULL;
	pthread_t thread;

	for (mach_port_t name = first; name < last; name++)
		mach_port_allocate_name(mach_task_self(), MACH_PORT_RIGHT_DEAD_NAME, name);
	REQUIRE(pthread_create(&thread, NULL, call, NULL) == 0);
	EXPECT_EQ(pthread_join(thread, &result), 0);
	EXPECT_EQ((uintptr_t)result, getpid());
}

/* Names of ports that the task has, and bytes of its address space. */
struct holding {
	unsigned names;
	unsigned bytes;
};

static struct holding holding(void)
{
	mach_port_name_array_t names;
	mach_port_type_array_t types;
	mach_msg_type_number_t n_names = 0, n_types = 0, count = TASK_BASIC_INFO_COUNT;
	struct task_basic_info info = {0};
	mach_port_t self = mach_task_self_cached();

	mach_port_names(self, &names, &n_names, &types, &n_types);
	vm_deallocate(self, (vm_address_t)names, n_names * sizeof *names);
	vm_deallocate(self, (vm_address_t)types, n_types * sizeof *types);
	task_info(self, TASK_BASIC_INFO, (task_info_t)&info, &count);
	return (struct holding){.names = n_names, .bytes = info.virtual_size};
}

static void start_and_join(unsigned number)
{
	for (unsigned n = 0; n < number; n++) {
		pthread_t thread;

		REQUIRE(pthread_create(&thread, NULL, give_back, NULL) == 0);
		EXPECT_EQ(pthread_join(thread, NULL), 0);
	}
}

/* Who is joined may have a few instructions to go. */
TEST(threads_leave_neither_names_nor_memory)
{
	struct holding before, after;
	unsigned looks = 0;

	start_and_join(10);
	for (unsigned n = 0; n < 1000; n++)
		sched_yield();
	before = holding();
	start_and_join(100);
	do {
		sched_yield();
		after = holding();
	} while ((after.names > before.names || after.bytes > before.bytes) && ++looks < 1000);
	EXPECT_EQ(after.names, before.names);
	EXPECT_EQ(after.bytes, before.bytes);
}

static void *end_by_itself(void *argument)
{
	pthread_exit(argument);
}

TEST(pthread_exit_ends_one_thread)
{
	pthread_t thread;
	void *result = NULL;

	REQUIRE(pthread_create(&thread, NULL, end_by_itself, &thread) == 0);
	EXPECT_EQ(pthread_join(thread, &result), 0);
	EXPECT(result == &thread);
}

TEST(who_joins_wrongly_is_told)
{
	pthread_attr_t detached;
	pthread_t thread;

	EXPECT_EQ(pthread_join(pthread_self(), NULL), EDEADLK);
	pthread_attr_init(&detached);
	EXPECT_EQ(pthread_attr_setdetachstate(&detached, 7), EINVAL);
	EXPECT_EQ(pthread_attr_setstacksize(&detached, 100), EINVAL);
	REQUIRE(pthread_create(&thread, NULL, give_back, NULL) == 0);
	EXPECT_EQ(pthread_detach(thread), 0);
}

/* ---------------- Each has its own ---------------- */

static __thread int own = 5;
static __thread char aligned[3] __attribute__((aligned(64)));

static void *look_at_own(void *argument)
{
	int wrong = own != 5 || aligned[0] != 0 || (uintptr_t)aligned % 64 != 0;

	own = (int)(intptr_t)argument;
	errno = own;
	for (int turn = 0; turn < 50; turn++) {
		sched_yield();
		wrong |= own != (int)(intptr_t)argument || errno != own;
	}
	return (void *)(intptr_t)wrong;
}

TEST(errno_and_thread_variables_are_each_threads_own)
{
	pthread_t threads[MANY];
	void *wrong;

	for (intptr_t n = 0; n < MANY; n++)
		REQUIRE(pthread_create(&threads[n], NULL, look_at_own, (void *)(n + 100)) == 0);
	for (int n = 0; n < MANY; n++) {
		EXPECT_EQ(pthread_join(threads[n], &wrong), 0);
		EXPECT(wrong == NULL);
	}
	EXPECT_EQ(own, 5);
}

static int destroyed;

static void destroy(void *value)
{
	__atomic_add_fetch(&destroyed, (int)(intptr_t)value, __ATOMIC_RELAXED);
}

static void *set_key(void *argument)
{
	pthread_key_t key = *(pthread_key_t *)argument;
	void *before = pthread_getspecific(key);

	pthread_setspecific(key, (void *)7);
	return before;
}

TEST(what_is_kept_by_key_is_destroyed_with_its_thread)
{
	pthread_key_t key;
	pthread_t thread;
	void *before = &key;

	REQUIRE(pthread_key_create(&key, destroy) == 0);
	EXPECT_EQ(pthread_setspecific(key, (void *)1), 0);
	REQUIRE(pthread_create(&thread, NULL, set_key, &key) == 0);
	EXPECT_EQ(pthread_join(thread, &before), 0);
	EXPECT(before == NULL);
	EXPECT_EQ(destroyed, 7);
	EXPECT(pthread_getspecific(key) == (void *)1);
	EXPECT_EQ(pthread_key_delete(key), 0);
	EXPECT_EQ(pthread_setspecific(key, NULL), EINVAL);
	REQUIRE(pthread_key_create(&key, NULL) == 0);
	EXPECT(pthread_getspecific(key) == NULL);
}

/* ---------------- Locks ---------------- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;

static void *count_up(void *argument)
{
	for (int turn = 0; turn < 500; turn++) {
		int seen;

		pthread_mutex_lock(&lock);
		seen = counter;
		if (turn % 50 == 0)
			sched_yield();
		counter = seen + 1;
		pthread_mutex_unlock(&lock);
	}
	return argument;
}

TEST(a_lock_keeps_others_out)
{
	pthread_t threads[MANY];

	for (int n = 0; n < MANY; n++)
		REQUIRE(pthread_create(&threads[n], NULL, count_up, NULL) == 0);
	for (int n = 0; n < MANY; n++)
		EXPECT_EQ(pthread_join(threads[n], NULL), 0);
	EXPECT_EQ(counter, MANY * 500);
	EXPECT_EQ(pthread_mutex_destroy(&lock), 0);
}

TEST(kinds_of_locks)
{
	pthread_mutexattr_t kind;
	pthread_mutex_t mutex;

	EXPECT_EQ(pthread_mutexattr_init(&kind), 0);
	EXPECT_EQ(pthread_mutexattr_settype(&kind, 9), EINVAL);
	EXPECT_EQ(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE), 0);
	EXPECT_EQ(pthread_mutex_init(&mutex, &kind), 0);
	EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_trylock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_destroy(&mutex), EBUSY);
	EXPECT_EQ(pthread_mutex_unlock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_unlock(&mutex), EPERM);
	EXPECT_EQ(pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK), 0);
	EXPECT_EQ(pthread_mutex_init(&mutex, &kind), 0);
	EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_lock(&mutex), EDEADLK);
	EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
	EXPECT_EQ(pthread_mutex_init(&mutex, NULL), 0);
	EXPECT_EQ(pthread_mutex_lock(&mutex), 0);
	EXPECT_EQ(pthread_mutex_trylock(&mutex), EBUSY);
}

/* ---------------- Conditions ---------------- */

static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static int turn_of;

struct turn {
	int own;
	int next;
};

static void *take_turns(void *argument)
{
	const struct turn *turn = argument;

	for (int n = 0; n < 200; n++) {
		pthread_mutex_lock(&lock);
		while (turn_of != turn->own)
			pthread_cond_wait(&changed, &lock);
		turn_of = turn->next;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
	}
	return NULL;
}

TEST(threads_take_turns_by_a_condition)
{
	static const struct turn turns[] = {{0, 1}, {1, 2}, {2, 0}};
	pthread_t threads[3];

	for (int n = 0; n < 3; n++)
		REQUIRE(pthread_create(&threads[n], NULL, take_turns,
				       (void *)(uintptr_t)&turns[n]) == 0);
	for (int n = 0; n < 3; n++)
		EXPECT_EQ(pthread_join(threads[n], NULL), 0);
	EXPECT_EQ(turn_of, 0);
	EXPECT_EQ(pthread_cond_destroy(&changed), 0);
}

static int waiting, released;

static void *wait_for_release(void *argument)
{
	pthread_mutex_lock(&lock);
	waiting++;
	while (!released)
		pthread_cond_wait(&changed, &lock);
	waiting--;
	pthread_mutex_unlock(&lock);
	return argument;
}

static void await_waiters(int number)
{
	bool all = false;

	while (!all) {
		pthread_mutex_lock(&lock);
		all = waiting == number;
		pthread_mutex_unlock(&lock);
		sched_yield();
	}
}

TEST(a_broadcast_wakes_all_a_signal_one)
{
	pthread_t threads[MANY];

	for (int n = 0; n < MANY; n++)
		REQUIRE(pthread_create(&threads[n], NULL, wait_for_release, NULL) == 0);
	await_waiters(MANY);
	pthread_mutex_lock(&lock);
	released = 1;
	pthread_cond_signal(&changed);
	pthread_mutex_unlock(&lock);
	await_waiters(MANY - 1);
	pthread_mutex_lock(&lock);
	pthread_cond_broadcast(&changed);
	pthread_mutex_unlock(&lock);
	for (int n = 0; n < MANY; n++)
		EXPECT_EQ(pthread_join(threads[n], NULL), 0);
	EXPECT_EQ(waiting, 0);
}

static int64_t nanoseconds(const struct timespec *time)
{
	return time->tv_sec * 1000000000LL + time->tv_nsec;
}

TEST(a_wait_ends_at_its_deadline)
{
	struct timespec deadline, now;

	clock_gettime(CLOCK_REALTIME, &deadline);
	deadline.tv_nsec += 30000000;
	if (deadline.tv_nsec >= 1000000000) {
		deadline.tv_nsec -= 1000000000;
		deadline.tv_sec++;
	}
	pthread_mutex_lock(&lock);
	EXPECT_EQ(pthread_cond_timedwait(&changed, &lock, &deadline), ETIMEDOUT);
	clock_gettime(CLOCK_REALTIME, &now);
	EXPECT(nanoseconds(&now) >= nanoseconds(&deadline));
	EXPECT_EQ(pthread_mutex_trylock(&lock), EBUSY);
	EXPECT_EQ(pthread_cond_timedwait(&changed, &lock, &deadline), ETIMEDOUT);
	deadline.tv_nsec = -1;
	EXPECT_EQ(pthread_cond_timedwait(&changed, &lock, &deadline), EINVAL);
	pthread_mutex_unlock(&lock);
}

static pthread_once_t once = PTHREAD_ONCE_INIT;
static int times_done;

static void do_once(void)
{
	sched_yield();
	times_done++;
}

static void *call_once(void *argument)
{
	pthread_once(&once, do_once);
	return (void *)(intptr_t)(times_done == 1 ? 0 : argument != NULL);
}

TEST(once_is_once)
{
	pthread_t threads[MANY];

	for (int n = 0; n < MANY; n++)
		REQUIRE(pthread_create(&threads[n], NULL, call_once, &once) == 0);
	for (int n = 0; n < MANY; n++) {
		void *wrong = &once;

		EXPECT_EQ(pthread_join(threads[n], &wrong), 0);
		EXPECT(wrong == NULL);
	}
	EXPECT_EQ(times_done, 1);
}

/* ---------------- Signals ---------------- */

static volatile sig_atomic_t taken_by;

static void note_thread(int signal)
{
	(void)signal;
	taken_by = gettid();
}

static void *wait_for_signal(void *argument)
{
	sigset_t mask;

	pthread_sigmask(SIG_BLOCK, NULL, &mask);
	sigdelset(&mask, SIGUSR1);
	while (taken_by == 0)
		sigsuspend(&mask);
	*(int *)argument = gettid();
	return NULL;
}

TEST(a_signal_goes_to_the_thread_that_it_is_for)
{
	sigset_t blocked, old;
	pthread_t thread;
	int id = 0;

	signal(SIGUSR1, note_thread);
	sigemptyset(&blocked);
	sigaddset(&blocked, SIGUSR1);
	EXPECT_EQ(pthread_sigmask(SIG_BLOCK, &blocked, &old), 0);
	EXPECT_EQ(pthread_sigmask(99, &blocked, NULL), EINVAL);
	REQUIRE(pthread_create(&thread, NULL, wait_for_signal, &id) == 0);
	EXPECT_EQ(pthread_kill(thread, 99), EINVAL);
	EXPECT_EQ(pthread_kill(thread, SIGUSR1), 0);
	EXPECT_EQ(pthread_join(thread, NULL), 0);
	EXPECT(id != gettid());
	EXPECT_EQ(taken_by, id);
}

static void *look_at_mask(void *argument)
{
	return (void *)(intptr_t)pthread_sigmask(SIG_BLOCK, NULL, argument);
}

TEST(a_thread_begins_with_the_mask_of_who_started_it)
{
	sigset_t own_mask, seen = 0;
	pthread_t thread;

	sigemptyset(&own_mask);
	sigaddset(&own_mask, SIGUSR2);
	EXPECT_EQ(pthread_sigmask(SIG_SETMASK, &own_mask, NULL), 0);
	REQUIRE(pthread_create(&thread, NULL, look_at_mask, &seen) == 0);
	EXPECT_EQ(pthread_join(thread, NULL), 0);
	EXPECT_EQ(seen, own_mask);
	EXPECT_EQ(pthread_sigmask(SIG_BLOCK, NULL, &seen), 0);
	EXPECT_EQ(seen, own_mask);
}

/* ---------------- Processes ---------------- */

static void *idle_for_ever(void *argument)
{
	for (;;)
		pause();
	return argument;
}

static void await_child(pid_t child, int status)
{
	int seen = -1;

	EXPECT_EQ(waitpid(child, &seen, 0), child);
	EXPECT_EQ(seen, status);
}

TEST(a_process_ends_with_main_whatever_its_threads_do)
{
	pid_t child = fork();
	pthread_t thread;

	REQUIRE(child >= 0);
	if (child == 0) {
		for (int n = 0; n < 3; n++)
			pthread_create(&thread, NULL, idle_for_ever, NULL);
		exit(3);
	}
	await_child(child, W_EXITCODE(3, 0));
}

static void *end_the_process(void *argument)
{
	sched_yield();
	(void)argument;
	exit(4);
}

TEST(a_thread_can_end_the_process)
{
	pid_t child = fork();
	pthread_t thread;

	REQUIRE(child >= 0);
	if (child == 0) {
		pthread_create(&thread, NULL, end_the_process, NULL);
		for (;;)
			pause();
	}
	await_child(child, W_EXITCODE(4, 0));
}

static void *end_late(void *argument)
{
	for (int n = 0; n < 20; n++)
		sched_yield();
	return argument;
}

TEST(a_process_lives_as_long_as_its_last_thread)
{
	pid_t child = fork();
	pthread_t thread;

	REQUIRE(child >= 0);
	if (child == 0) {
		pthread_create(&thread, NULL, end_late, NULL);
		pthread_exit(NULL);
	}
	await_child(child, W_EXITCODE(0, 0));
}

static void *fork_here(void *argument)
{
	pthread_t thread;
	pid_t child;
	int status = -1;

	own = 77;
	errno = EXDEV;
	child = fork();
	if (child == 0) {
		int good = own == 77 && errno == EXDEV && gettid() == 1;

		good &= pthread_create(&thread, NULL, give_back, argument) == 0;
		good &= pthread_join(thread, NULL) == 0;
		free(malloc(10000));
		_exit(good ? 6 : 7);
	}
	waitpid(child, &status, 0);
	return (void *)(intptr_t)status;
}

TEST(a_thread_can_fork)
{
	pthread_t thread, other;
	void *status = NULL;

	REQUIRE(pthread_create(&other, NULL, idle_for_ever, NULL) == 0);
	REQUIRE(pthread_create(&thread, NULL, fork_here, NULL) == 0);
	EXPECT_EQ(pthread_join(thread, &status), 0);
	EXPECT_EQ((intptr_t)status, W_EXITCODE(6, 0));
}

static volatile bool stop;

static void *use_memory(void *argument)
{
	while (!stop)
		free(malloc(100));
	return argument;
}

TEST(forking_while_others_allocate)
{
	pthread_t thread;

	REQUIRE(pthread_create(&thread, NULL, use_memory, NULL) == 0);
	for (int n = 0; n < 20; n++) {
		pid_t child = fork();

		REQUIRE(child >= 0);
		if (child == 0) {
			free(malloc(100));
			printf("%s", "");
			_exit(0);
		}
		await_child(child, 0);
	}
	stop = true;
	EXPECT_EQ(pthread_join(thread, NULL), 0);
}

TEST(a_program_can_be_executed_by_any_thread)
{
	pid_t child = fork();
	pthread_t thread;

	REQUIRE(child >= 0);
	if (child == 0) {
		pthread_create(&thread, NULL, idle_for_ever, NULL);
		execl("/bin/true", "true", NULL);
		_exit(9);
	}
	await_child(child, 0);
}

/* ---------------- Too many ---------------- */

TEST(there_are_so_many_threads_and_no_more)
{
	pid_t child = fork();
	pthread_t thread;
	int number = 0, result;

	REQUIRE(child >= 0);
	if (child == 0) {
		while ((result = pthread_create(&thread, NULL, idle_for_ever, NULL)) == 0 &&
		       number < UX_THREADS_MAX)
			number++;
		_exit(result == EAGAIN && number >= 20 ? 0 : 1);
	}
	await_child(child, 0);
}

static int recurse(int depth)
{
	volatile char room[1024];

	room[0] = (char)depth;
	return depth == 0 ? 0 : recurse(depth - 1) + room[0];
}

/* A little more than a usual stack has. */
static void *overflow(void *argument)
{
	recurse(270);
	return argument;
}

TEST(a_stack_that_grows_too_far_is_an_error_of_the_program)
{
	pid_t child = fork();
	pthread_t thread;

	REQUIRE(child >= 0);
	if (child == 0) {
		for (int n = 0; n < 4; n++) /* Memory on both sides. */
			pthread_create(&thread, NULL, idle_for_ever, NULL);
		pthread_create(&thread, NULL, overflow, NULL);
		pthread_join(thread, NULL);
		_exit(0);
	}
	await_child(child, W_EXITCODE(0, SIGSEGV));
}

TEST(a_larger_stack_can_be_asked_for)
{
	pthread_attr_t large;
	pthread_t thread;

	pthread_attr_init(&large);
	EXPECT_EQ(pthread_attr_setstacksize(&large, 8 << 20), 0);
	REQUIRE(pthread_create(&thread, &large, overflow, NULL) == 0);
	EXPECT_EQ(pthread_join(thread, NULL), 0);
}
