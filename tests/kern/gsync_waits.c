/* SPDX-License-Identifier: MIT */
/*
 * gsync: who is woken, by whom and by nobody else; what ends a wait otherwise; a lock made of it.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=1
 * machine: cpus=2 seed=2
 */
#include "check.h"
#include "ipc.h"

#define UNMAPPED 0x60000000u

static volatile uint32_t word[4] __attribute__((aligned(16)));
static volatile uint32_t other_word;
static volatile uint32_t done;
static volatile kern_return_t result;

static kern_return_t wait_on(volatile uint32_t *address, uint32_t value, uint32_t limit, int flags)
{
	return gsync_wait(mach_task_self(), (vm_address_t)address, value, 0, limit, flags);
}

static void wake(volatile uint32_t *address, uint32_t value, int flags)
{
	gsync_wake(mach_task_self(), (vm_address_t)address, value, flags);
}

static void wait_for_wake(void *address)
{
	result = wait_on(address, 7, LONG_WAIT, GSYNC_TIMED);
	__atomic_fetch_add(&done, 1, __ATOMIC_SEQ_CST);
}

static void start_waiting(uint32_t threads, volatile uint32_t *address)
{
	done = 0;
	result = -1;
	*address = 7;
	for (uint32_t i = 0; i < threads; i++)
		worker_start(i, wait_for_wake, (void *)address);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
}

static void join(uint32_t threads)
{
	for (uint32_t i = 0; i < threads; i++)
		worker_join(i);
}

TEST(a_wait_has_its_time)
{
	uint64_t before, after;

	word[0] = 1;
	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &before);
	EXPECT_EQ(wait_on(word, 1, 25, GSYNC_TIMED), KERN_TIMEDOUT);
	assay_clock_read(ASSAY_CLOCK_MONOTONIC, &after);
	EXPECT_LE(25 * 1000000ull, after - before);
	EXPECT_LT(after - before, 125 * 1000000ull);
}

TEST(one_is_woken)
{
	start_waiting(3, word);
	for (uint32_t i = 1; i <= 3; i++) {
		wake(word, 0, 0);
		EXPECT(wait_for(&done, i));
		sleep_ms(5);
		EXPECT_EQ(done, i);
	}
	EXPECT_EQ(result, KERN_SUCCESS);
	join(3);
}

TEST(all_are_woken)
{
	start_waiting(4, word);
	wake(word, 0, GSYNC_BROADCAST);
	EXPECT(wait_for(&done, 4));
	join(4);
	EXPECT_EQ(word[0], 7);
}

TEST(the_word_is_set_by_who_wakes)
{
	start_waiting(1, word);
	wake(word, 99, GSYNC_MUTATE);
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(word[0], 99);
	join(1);
	wake(word, 100, GSYNC_MUTATE);
	EXPECT_EQ(word[0], 100);
}

/* Other words wake nobody. */
TEST(addresses_differ)
{
	start_waiting(1, word);
	wake(&word[1], 0, GSYNC_BROADCAST);
	wake(&other_word, 0, GSYNC_BROADCAST);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 0);
	wake(word, 0, 0);
	EXPECT(wait_for(&done, 1));
	join(1);
}

TEST(waiters_are_moved)
{
	start_waiting(3, word);
	gsync_requeue(mach_task_self(), (vm_address_t)word, (vm_address_t)&other_word, TRUE,
		      GSYNC_BROADCAST);
	EXPECT(wait_for(&done, 1));
	wake(word, 0, GSYNC_BROADCAST);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(done, 1);
	wake(&other_word, 0, GSYNC_BROADCAST);
	EXPECT(wait_for(&done, 3));
	join(3);
}

TEST(a_wait_is_aborted)
{
	start_waiting(1, word);
	EXPECT_EQ(thread_abort(worker_port(0)), KERN_SUCCESS);
	EXPECT(wait_for(&done, 1));
	EXPECT_EQ(result, KERN_INTERRUPTED);
	join(1);
}

/* Nobody's words, and the kernel's: neither waited for nor written. */
TEST(wrong_addresses)
{
	mach_port_t thread = mach_thread_self();

	EXPECT_EQ(wait_on((void *)UNMAPPED, 0, 5, GSYNC_TIMED), KERN_INVALID_ADDRESS);
	EXPECT_EQ(wait_on((void *)0xc0100000, 0, 5, GSYNC_TIMED), KERN_INVALID_ADDRESS);
	EXPECT_NE(gsync_wait(thread, (vm_address_t)word, 0, 0, 0, 0), KERN_SUCCESS);
	wake((void *)UNMAPPED, 0, 0);
	wake((void *)UNMAPPED, 1, GSYNC_MUTATE);
	wake((void *)0xc0100000, 1, GSYNC_MUTATE);
	gsync_requeue(mach_task_self(), UNMAPPED, 0xc0100000, TRUE, 0);
	port_drop_send(thread);
}

/* ---------------- Between tasks ---------------- */

#define REPORT 0x101

static void wait_shared(uint32_t address)
{
	kern_return_t got =
		gsync_wait(mach_task_self(), address, 7, 0, 200, GSYNC_SHARED | GSYNC_TIMED);
	struct message message;

	message_head(&message, REPORT, MACH_MSG_TYPE_COPY_SEND, 0, 0, got);
	mach_msg(&message.head, MACH_SEND_MSG, sizeof message.head, 0, 0, 0, 0);
}

TEST(a_waiter_is_terminated)
{
	mach_port_t child, thread;

	word[0] = 7;
	child = child_new();
	thread = child_start(child, 0, wait_shared, (uint32_t)word);
	sleep_ms(SHORT_WAIT);
	EXPECT_EQ(thread_terminate(thread), KERN_SUCCESS);
	gsync_wake(child, (vm_address_t)word, 0, GSYNC_BROADCAST);
	child_end(child);
	port_destroy(thread);
}

/* A copy of the memory is another word, though its address is the same. */
TEST(a_copied_word_is_another)
{
	mach_port_t port = port_new(), child, thread;
	struct message message;

	word[0] = 7;
	child = child_new();
	child_give(child, REPORT, port, MACH_MSG_TYPE_MAKE_SEND);
	thread = child_start(child, 0, wait_shared, (uint32_t)word);
	sleep_ms(SHORT_WAIT);
	wake(word, 0, GSYNC_SHARED | GSYNC_BROADCAST);
	EXPECT_EQ(message_get(&message, port, LONG_WAIT), MACH_MSG_SUCCESS);
	EXPECT_EQ(message.head.msgh_id, KERN_TIMEDOUT);
	child_end(child);
	port_destroy(thread);
	port_destroy(port);
}

/* ---------------- A lock ---------------- */

#define LOCKERS 4
#define TURNS   300

static volatile uint32_t lock, inside, sum;

static void take(void)
{
	uint32_t expected = 0;

	if (__atomic_compare_exchange_n(&lock, &expected, 1, false, __ATOMIC_ACQUIRE,
					__ATOMIC_RELAXED))
		return;
	while (__atomic_exchange_n(&lock, 2, __ATOMIC_ACQUIRE) != 0)
		wait_on(&lock, 2, 0, 0);
}

static void leave(void)
{
	if (__atomic_exchange_n(&lock, 0, __ATOMIC_RELEASE) == 2)
		wake(&lock, 0, 0);
}

static void count_locked(void *unused)
{
	(void)unused;
	for (int i = 0; i < TURNS; i++) {
		take();
		if (inside++ != 0)
			check_fail("two are inside");
		sum++;
		if (i % 16 == 0)
			swtch_pri(0);
		inside--;
		leave();
	}
}

TEST(a_lock_of_words)
{
	lock = inside = sum = 0;
	for (uint32_t i = 0; i < LOCKERS; i++)
		worker_start(i, count_locked, NULL);
	join(LOCKERS);
	EXPECT_EQ(sum, LOCKERS * TURNS);
	EXPECT_EQ(lock, 0);
}
