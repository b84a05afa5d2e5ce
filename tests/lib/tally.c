/* SPDX-License-Identifier: MIT */
/* A collector of many streams: see tally.h. */
#include "tally.h"

#include "check.h"
#include "ipc.h"

/* Milliseconds of the guest's in which something comes, or all is lost. */
#define PATIENCE 20000

void tally_new(struct tally *tallies, uint32_t count,
	       void (*take)(struct tally *, const struct prof_sample *))
{
	for (uint32_t n = 0; n < count; n++)
		tallies[n] = (struct tally){.port = port_new(), .take = take};
}

static void read_record(struct tally *tally, const struct prof_record *record)
{
	const struct prof_clock *clock = (const struct prof_clock *)record;
	const struct prof_stream *stream = (const struct prof_stream *)record;

	if (record->type == PROF_SAMPLE) {
		tally->samples++;
		tally->take(tally, (const struct prof_sample *)record);
	} else if (record->type == PROF_WAIT && tally->take_wait != NULL) {
		tally->samples++;
		tally->take_wait(tally, (const struct prof_wait *)record);
	} else if (record->type == PROF_CLOCK) {
		if (clock->cpu == 0)
			tally->due = tally->missed = 0;
		tally->due += prof_u64(clock->due);
		tally->missed += prof_u64(clock->missed);
	} else if (record->type == PROF_STREAM) {
		tally->taken = prof_u64(stream->taken);
		tally->lost = prof_u64(stream->lost);
	} else if (record->type == PROF_END) {
		tally->ended = true;
	}
}

static void read_words(struct tally *tally, const unsigned *words, uint32_t n)
{
	const struct prof_record *record;

	for (uint32_t at = 0; at < n; at += record->words) {
		record = (const struct prof_record *)(words + at);
		read_record(tally, record);
	}
}

static struct tally *find(struct tally *tallies, uint32_t count, mach_port_t port)
{
	for (uint32_t n = 0; n < count; n++)
		if (tallies[n].port == port)
			return &tallies[n];
	check_fail("a message to 0x%x, which is no stream's", port);
	return &tallies[0];
}

static bool receive(struct tally *tallies, uint32_t count, mach_port_t set)
{
	struct message message;

	if (!EXPECT_EQ(message_get(&message, set, PATIENCE), MACH_MSG_SUCCESS))
		return false;
	read_words(find(tallies, count, message.head.msgh_local_port),
		   (const unsigned *)message.body[3], message.body[2]);
	EXPECT_EQ(vm_deallocate(mach_task_self(), message.body[3], message.body[2] * 4),
		  KERN_SUCCESS);
	return true;
}

static uint32_t count_ended(const struct tally *tallies, uint32_t count)
{
	uint32_t ended = 0;

	for (uint32_t n = 0; n < count; n++)
		ended += tallies[n].ended;
	return ended;
}

void tally_all(struct tally *tallies, uint32_t count)
{
	mach_port_t self = mach_task_self(), set = MACH_PORT_NULL;

	EXPECT_EQ(mach_port_allocate(self, MACH_PORT_RIGHT_PORT_SET, &set), KERN_SUCCESS);
	for (uint32_t n = 0; n < count; n++)
		EXPECT_EQ(mach_port_move_member(self, tallies[n].port, set), KERN_SUCCESS);
	while (count_ended(tallies, count) < count && receive(tallies, count, set))
		continue;
	for (uint32_t n = 0; n < count; n++) {
		EXPECT_EQ(tallies[n].lost, 0);
		EXPECT_EQ(tallies[n].taken, tallies[n].samples);
		port_destroy(tallies[n].port);
	}
	EXPECT_EQ(mach_port_mod_refs(self, set, MACH_PORT_RIGHT_PORT_SET, -1), KERN_SUCCESS);
}
