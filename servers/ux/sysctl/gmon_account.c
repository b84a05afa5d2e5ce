/* SPDX-License-Identifier: MIT */
/*
 * What became of the due times of the sampling clock, and of the samples that it took: see
 * <sys/gmon.h>.
 *
 * The kernel counts from a stream's beginning, and a profile goes on over several of them, from one
 * reset to the next: what is new in each record is added up here.  Guarded by the server's lock.
 */
#include "sysctl/gmon.h"

struct gmon_account gmon_account;

/* As the stream said last. */
static struct {
	struct prof_clock clocks[GMON_CPUS];
	struct prof_stream stream;
} account_seen;

void gmon_account_begin(void)
{
	memset(&account_seen, 0, sizeof account_seen);
}

/* Samples that the kernel still has were taken before, but come to what is counted from now on. */
void gmon_account_reset(void)
{
	uint64_t buffered = gmon_account.buffered;

	gmon_account = (struct gmon_account){.taken = buffered, .buffered = buffered};
}

static void account_add(uint64_t *sum, const uint32_t now[2], const uint32_t seen[2])
{
	*sum += prof_u64(now) - prof_u64(seen);
}

uint32_t gmon_account_add_clock(const struct prof_clock *clock)
{
	struct prof_clock *seen = &account_seen.clocks[clock->cpu];
	struct gmon_clock *sums = &gmon_account.clocks[clock->cpu];
	uint64_t idle = sums->idle;

	account_add(&sums->due, clock->due, seen->due);
	account_add(&sums->fired, clock->fired, seen->fired);
	account_add(&sums->missed, clock->missed, seen->missed);
	account_add(&sums->parked, clock->parked, seen->parked);
	account_add(&sums->idle, clock->idle, seen->idle);
	account_add(&sums->elsewhere, clock->elsewhere, seen->elsewhere);
	account_add(&sums->taken, clock->taken, seen->taken);
	*seen = *clock;
	return (uint32_t)(sums->idle - idle);
}

void gmon_account_add_stream(const struct prof_stream *stream)
{
	struct prof_stream *seen = &account_seen.stream;

	account_add(&gmon_account.taken, stream->taken, seen->taken);
	account_add(&gmon_account.delivered, stream->delivered, seen->delivered);
	account_add(&gmon_account.lost, stream->lost, seen->lost);
	gmon_account.buffered = prof_u64(stream->buffered);
	*seen = *stream;
}

/* Records of the stream's say how many were delivered of all CPUs together. */
void gmon_account_add_sample(uint32_t cpu, bool is_user)
{
	gmon_account.user += is_user;
	if (cpu >= GMON_CPUS)
		return;
	gmon_account.clocks[cpu].delivered++;
	gmon_account.clocks[cpu].user += is_user;
}

void gmon_account_add_uncounted(uint32_t cpu, uint32_t more)
{
	gmon_account.uncounted += more;
	if (cpu < GMON_CPUS)
		gmon_account.clocks[cpu].uncounted += more;
}
