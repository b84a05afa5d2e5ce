/* SPDX-License-Identifier: MIT */
/*
 * Waits that find no room are counted, and leave out two numbers each: all are in the trace or
 * missing from it.  Nobody takes waits from the kernel while the Unix server is suspended, which
 * root may.
 *
 * guest: user=root limit=60
 */
#include <mach.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/ux.h>

#include "traces.h"

#define ROUNDS 4000u /* More waits than all buffers of the kernel's have room for. */
#define FEW    100u  /* Of the library, of who begins and of who ends. */

/* ---------------- Two threads that wait for each other ---------------- */

static uint32_t turn;

static void await_turn(uint32_t mine)
{
	uint32_t seen;

	while ((seen = __atomic_load_n(&turn, __ATOMIC_ACQUIRE)) % 2 != mine)
		gsync_wait(mach_task_self(), (vm_address_t)&turn, seen, 0, 0, 0);
}

static void play(uint32_t mine, unsigned rounds)
{
	for (unsigned n = 0; n < rounds; n++) {
		await_turn(mine);
		__atomic_fetch_add(&turn, 1, __ATOMIC_RELEASE);
		gsync_wake(mach_task_self(), (vm_address_t)&turn, 0, 0);
	}
}

static void *play_second(void *rounds)
{
	play(1, *(const unsigned *)rounds);
	return NULL;
}

/* All that this touches is there when it has been done once: the pager cannot be asked later. */
static void play_both(mach_port_t server, bool stops)
{
	unsigned rounds = ROUNDS;
	pthread_t second;

	pthread_create(&second, NULL, play_second, &rounds);
	play(0, 2); /* The second has begun, for which the server is needed. */
	if (stops)
		task_suspend(server);
	play(0, ROUNDS - 2);
	if (stops)
		task_resume(server);
	pthread_join(second, NULL);
}

/* ---------------- What the trace has ---------------- */

struct count {
	unsigned recorded, missing, gaps;
};

static struct count count_trace(void)
{
	struct trace trace = trace_read();
	struct count count = {0, 0, 0};
	const struct ktr_header *header;
	uint32_t last = 0;

	while ((header = trace_next(&trace)) != NULL) {
		EXPECT_LT(last, header->ktr_sequence);
		count.gaps += header->ktr_sequence != last + 1;
		count.missing += header->ktr_sequence - last - 1;
		last = header->ktr_sequence;
		count.recorded++;
	}
	free(trace.bytes);
	return count;
}

static struct count count_of_game(mach_port_t server, bool stops)
{
	EXPECT(trace_make_file());
	EXPECT_EQ(ktrace(TRACE, KTROP_SET, KTRFAC_CSW, getpid()), 0);
	play_both(server, stops);
	EXPECT_EQ(ktrace(NULL, KTROP_CLEAR, ALL | KTRFAC_CSW, getpid()), 0);
	return count_trace();
}

TEST(what_is_lost_is_told)
{
	mach_port_t server = task_by_pid(0);
	struct count all, some;

	EXPECT(server != MACH_PORT_NULL);
	task_resume(server); /* Not suspended: this has the page of it here. */
	all = count_of_game(server, false);
	EXPECT_EQ(all.missing, 0);
	EXPECT_LE(2 * 2 * ROUNDS - FEW, all.recorded);
	some = count_of_game(server, true);
	EXPECT_LT(0, some.missing);
	EXPECT_EQ(some.missing % 2, 0);
	EXPECT_LT(0, some.recorded);
	EXPECT_LE(all.recorded - FEW, some.recorded + some.missing);
	EXPECT_LE(some.recorded + some.missing, all.recorded + FEW);
	mach_port_deallocate(mach_task_self(), server);
}
