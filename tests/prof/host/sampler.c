/* SPDX-License-Identifier: MIT */
/* links: prof/sampler.c prof/sampler_turns.c prof/sampler_slots.c prof/sampler_drain.c
 * links: prof/ring.c */
/* The sampling clock (prof/sampler.h) on a fake machine: tests/lib/host/prof/sampler_machine.h. */
#include "host/prof/sampler_machine.h"

/* ---------------- Beginning and ending ---------------- */

TEST(does_nothing_without_a_slot)
{
	reset(CPUS);
	interrupt(0);
	EXPECT_EQ(timer.due, NEVER);
	EXPECT(!sampler_uses_nmi());
}

TEST(control_refuses_what_it_cannot_do)
{
	reset(CPUS);
	EXPECT_EQ(sampler_control(SAMPLE_RATE_MAX + 1, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(sampler_control(500, 0), KERN_SUCCESS);
	EXPECT_EQ(sampler_rate(0), 500);
	EXPECT_EQ(sampler_rate(499), 499);
	EXPECT_EQ(sampler_interval_ns(501), 2000000);
	EXPECT_EQ(sampler_control(0, 0), KERN_SUCCESS);
	EXPECT_EQ(sampler_rate(0), 500);
}

TEST(fires_at_its_rate)
{
	uint32_t slot;
	uint64_t start;

	reset(CPUS);
	start = now;
	slot = begin(0, 1000, SAMPLE_FIXED);
	for (uint64_t i = 1; i <= 100; i++) {
		EXPECT_EQ(timer.due, start + i * MS);
		shoot(0);
	}
	sampler_end(slot);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		EXPECT_EQ(counts_of(slot, cpu).due, 100);
		EXPECT_EQ(counts_of(slot, cpu).missed, 0);
		EXPECT_EQ(counts_of(slot, cpu).taken, 100);
	}
	EXPECT_EQ(taken[0].samples, 400);
	EXPECT_EQ(timer.due, NEVER);
	interrupt(0); /* One that was on its way. */
	EXPECT_EQ(counts_of(slot, 0).due, 100);
	EXPECT_EQ(timer.due, NEVER);
	sampler_free(slot);
}

TEST(all_slots_and_no_more)
{
	uint32_t slots[SAMPLE_CLOCKS_MAX];

	reset(1);
	for (uint32_t i = 0; i < SAMPLE_CLOCKS_MAX; i++)
		slots[i] = begin(i, 100 * (i + 1), 0);
	EXPECT_EQ(sampler_begin(stream(0), everyone, 100, 0, 0), SAMPLER_NO_SLOT);
	for (uint32_t i = 0; i < 2000; i++)
		shoot(i % 7 == 0 ? MS : 0);
	for (uint32_t i = 0; i < SAMPLE_CLOCKS_MAX; i++) {
		uint32_t slot = slots[(i * 5) % SAMPLE_CLOCKS_MAX];

		expect_conserved(slot, 0);
		end(slot);
	}
	for (uint32_t i = 0; i < SAMPLE_CLOCKS_MAX; i++)
		EXPECT_LT(0, taken[i].samples);
}

/* Ends hand over what is in the rings, and a slot's samples reach its own stream. */
TEST(an_end_hands_over_all_samples)
{
	uint32_t first, second;
	uint64_t n = 0;

	reset(2);
	first = begin(0, 1000, 0);
	second = begin(1, 3000, 0);
	for (int i = 0; i < 300; i++)
		shoot(0);
	EXPECT_EQ(taken[0].samples, 0);
	sampler_end(first);
	for (uint32_t cpu = 0; cpu < 2; cpu++)
		n += counts_of(first, cpu).taken;
	EXPECT_EQ(taken[0].samples, n);
	sampler_free(first);
	shoot(0);
	EXPECT_EQ(taken[0].samples, n);
	end(second);
}

/* ---------------- Whose samples ---------------- */

TEST(targets_are_told_apart)
{
	static const struct {
		struct sampler_target target;
		bool matches;
	} cases[] = {
		{{PROF_TARGET_THREAD, 7, 0}, true}, {{PROF_TARGET_THREAD, 3, 0}, false},
		{{PROF_TARGET_LABEL, 3, 0}, true},  {{PROF_TARGET_LABEL, 2, 0}, false},
		{{PROF_TARGET_TASK, 2, 0}, true},   {{PROF_TARGET_TASK, 7, 0}, false},
		{{PROF_TARGET_HOST, 99, 0}, true},  {{PROF_TARGET_JOB, 5, 1}, false},
		{{PROF_TARGET_JOB, 5, 2}, true},    {{PROF_TARGET_JOB, 5, 4}, true},
	};

	for (uint32_t i = 0; i < COUNT_OF(cases); i++) {
		uint32_t slot;

		reset(1);
		slot = sampler_begin(stream(0), cases[i].target, 1000, 0, 0);
		shoot(0);
		who = NULL;
		shoot(0);
		EXPECT_EQ(counts_of(slot, 0).idle, 1);
		EXPECT_EQ(counts_of(slot, 0).taken, cases[i].matches);
		EXPECT_EQ(counts_of(slot, 0).elsewhere, !cases[i].matches);
		end(slot);
		EXPECT_EQ(taken[0].samples, cases[i].matches);
		if (cases[i].matches) {
			EXPECT_EQ(taken[0].last.thread, 7);
			EXPECT_EQ(taken[0].last.label, 3);
			EXPECT_EQ(taken[0].last.task, 2);
		}
	}
}

/* Of what was in the kernel the user's frames are read with the ring. */
TEST(stacks_are_whole)
{
	uint32_t slot;

	for (uint32_t depth = 0; depth < 10; depth++) {
		reset(1);
		wanted_work = 0;
		kernel_pc = depth < 5 ? 0 : 0x4000;
		slot = sampler_begin(stream(0), everyone, 1000, SAMPLE_STACK, depth % 5);
		shoot(0);
		EXPECT_EQ(wanted_work, kernel_pc != 0);
		end(slot);
		EXPECT_EQ(taken[0].last.user_frames,
			  depth % 5 == 0 || depth % 5 > 3 ? 3 : depth % 5);
		EXPECT_EQ((taken[0].last.flags & PROF_STACK_CUT) != 0,
			  depth % 5 == 1 || depth % 5 == 2);
		EXPECT_EQ(taken[0].last_frames[0], 0x2000);
	}
	kernel_pc = 0;
}

/* ---------------- Late, early, coalesced ---------------- */

TEST(counts_what_it_missed)
{
	uint32_t slot;

	reset(CPUS);
	slot = begin(0, 1000, SAMPLE_FIXED);
	shoot(3 * MS + MS / 2);
	EXPECT_EQ(counts_of(slot, 0).due, 4);
	EXPECT_EQ(counts_of(slot, 0).fired, 1);
	EXPECT_EQ(counts_of(slot, 0).missed, 3);
	EXPECT_EQ(timer.due, now + MS / 2);
	end(slot);
}

TEST(an_early_interrupt_serves_nothing_and_arms_again)
{
	uint32_t slot;
	uint64_t due;

	for (uint32_t cpus = 1; cpus <= 3; cpus++) {
		reset(cpus);
		cpus_in_turn = cpus == 3;
		slot = begin(0, 1000, SAMPLE_FIXED);
		due = timer.due;
		now = due - 1;
		timer.due = NEVER;
		for (uint32_t cpu = 0; cpu < cpus; cpu++)
			interrupt(cpu);
		EXPECT_EQ(counts_of(slot, 0).due, 0);
		EXPECT_EQ(timer.due, due);
		end(slot);
	}
	cpus_in_turn = false;
}

/* Whichever CPU gets its interrupt, and however late, the next shot is armed. */
TEST(any_cpu_arms)
{
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		uint32_t slot;

		reset(CPUS);
		slot = begin(0, 1000, SAMPLE_FIXED);
		for (int i = 0; i < 100; i++) {
			REQUIRE(timer.due != NEVER);
			now = timer.due;
			timer.due = NEVER;
			interrupt(cpu);
		}
		EXPECT_EQ(counts_of(slot, cpu).fired, 100);
		EXPECT_EQ(counts_of(slot, cpu).missed, 0);
		interrupt((cpu + 1) % CPUS);
		EXPECT_EQ(counts_of(slot, (cpu + 1) % CPUS).missed, 99);
		end(slot);
	}
}

TEST(one_shot_is_armed_once)
{
	uint32_t slot;

	reset(CPUS);
	slot = begin(0, 1000, SAMPLE_FIXED);
	timer.armed = 0;
	for (int i = 0; i < 100; i++) {
		now = timer.due;
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			interrupt((cpu + (uint32_t)i) % CPUS);
	}
	EXPECT_EQ(timer.armed, 100);
	end(slot);
}

TEST(long_intervals_are_armed_in_steps)
{
	uint64_t start;
	uint32_t slot;
	unsigned steps = 0;

	reset(CPUS);
	start = now;
	slot = begin(0, 1, SAMPLE_FIXED);
	while (counts_of(slot, 0).fired == 0 && steps < 100) {
		EXPECT(timer.due - now <= MACHINE_SAMPLE_TIMER_MAX_NS);
		shoot(0);
		steps++;
	}
	EXPECT_EQ(now, start + 1000 * MS);
	EXPECT_EQ(steps, 20);
	end(slot);
}

/* A debugger held the machine for a minute: no interrupt is long, and nothing is forgotten. */
TEST(a_long_absence_is_made_up_in_pieces)
{
	uint32_t slot;

	reset(1);
	slot = begin(0, SAMPLE_RATE_MAX, SAMPLE_FIXED);
	shoot(60000 * MS);
	EXPECT_LT(counts_of(slot, 0).due, 10000);
	EXPECT_EQ(counts_of(slot, 0).fired, 0);
	for (int i = 0; i < 1000 && counts_of(slot, 0).fired == 0; i++) {
		expect_conserved(slot, 0);
		shoot(0);
	}
	EXPECT_EQ(counts_of(slot, 0).due, 600001);
	EXPECT_EQ(counts_of(slot, 0).fired, 1);
	end(slot);
}

/* ---------------- The schedule ---------------- */

TEST(random_intervals_keep_their_bounds_and_mean)
{
	const uint64_t mean = 1000 * MS / 997;
	const uint64_t n = 20000;
	uint64_t least = NEVER, most = 0, start;
	uint32_t slot;

	reset(1);
	start = now;
	slot = begin(0, 997, 0);
	for (uint64_t i = 0; i < n; i++) {
		uint64_t before = now;

		shoot(0);
		least = now - before < least ? now - before : least;
		most = now - before > most ? now - before : most;
	}
	EXPECT_EQ(counts_of(slot, 0).fired, n);
	EXPECT_LE(mean / 2, least);
	EXPECT_LE(most, mean / 2 * 3 + 1);
	/* Uniform: the ends are reached to a part in 500, and the mean to 6 standard errors. */
	EXPECT_LE(least, mean / 2 + mean / 500);
	EXPECT_LE(mean / 2 * 3 - mean / 500, most);
	EXPECT_LE((now - start) / n, mean + mean / 80);
	EXPECT_LE(mean - mean / 80, (now - start) / n);
	end(slot);
}

/* A mean of more cycles than 32 bits have: half a minute at 1 GHz. */
TEST(long_means_fit)
{
	struct schedule schedule = schedule_make(30000 * MS, SCHEDULE_UNIFORM, 5);
	struct schedule fixed = schedule_make(30000 * MS, SCHEDULE_FIXED, 5);
	struct schedule memoryless = schedule_make(30000 * MS, SCHEDULE_MEMORYLESS, 5);
	uint64_t sum = 0;

	for (int i = 0; i < 1000; i++) {
		uint64_t interval = schedule_interval(&schedule);

		EXPECT(interval >= 15000 * MS && interval <= 45000 * MS);
		EXPECT_EQ(schedule_interval(&fixed), 30000 * MS);
		sum += schedule_interval(&memoryless) / MS;
	}
	EXPECT(sum > 25000000 && sum < 35000000); /* Five standard errors. */
}

static uint64_t hash_of_run(uint32_t seed, uint32_t before)
{
	uint32_t slot;

	reset(1);
	EXPECT_EQ(sampler_control(0, seed), KERN_SUCCESS);
	while (before-- > 0)
		end(begin(1, 1000, 0));
	now = 0;
	slot = begin(0, 1000, 0);
	for (int i = 0; i < 100; i++)
		shoot(0);
	end(slot);
	return taken[0].hash;
}

TEST(seeds_and_numbers_differ_and_repeat)
{
	EXPECT_EQ(hash_of_run(1, 0), hash_of_run(1, 0));
	EXPECT_NE(hash_of_run(1, 0), hash_of_run(2, 0));
	EXPECT_NE(hash_of_run(1, 0), hash_of_run(1, 1));
	EXPECT_EQ(hash_of_run(5, 3), hash_of_run(5, 3));
}

/* Whatever each CPU got: when they have taken as many due times they are at the same place. */
TEST(every_cpu_walks_the_same_schedule)
{
	uint32_t random = 7;
	uint32_t slot;

	reset(CPUS);
	slot = begin(0, 5000, 0);
	for (int step = 0; step < 20000; step++) {
		unsigned first = host_random_below(&random, CPUS);
		uint64_t late = host_random_below(&random, 10) == 0 ? MS : 0;

		now = (timer.due == NEVER ? now : timer.due) + host_random_below(&random, 2000) +
		      late;
		for (unsigned i = 0; i < CPUS; i++) {
			uint32_t cpu = (first + i) % CPUS;

			if (cpu == 0 || host_random_below(&random, 3) != 0)
				interrupt(cpu);
			now += host_random_below(&random, 30);
			expect_conserved(slot, cpu);
		}
		sampler_work_all();
	}
	now += MS;
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		interrupt(cpu);
		expect_conserved(slot, cpu);
		EXPECT_EQ(samplers[cpu].cursors[slot].due, samplers[0].cursors[slot].due);
		EXPECT_EQ(counts_of(slot, cpu).due, counts_of(slot, 0).due);
		EXPECT_EQ(counts_of(slot, cpu).ring_lost, 0);
	}
	EXPECT_LT(0, counts_of(slot, 1).missed);
	EXPECT_LT(counts_of(slot, 0).missed, counts_of(slot, 1).missed);
	end(slot);
}

/* ---------------- Rings ---------------- */

/* Nobody reads: what has no room is counted, to the one, and what had is all there. */
TEST(a_full_ring_counts_what_it_loses)
{
	struct sampler_counts counts;
	uint32_t slot;

	reset(1);
	wanted_work = 0;
	slot = begin(0, 1000, SAMPLE_FIXED);
	for (int i = 0; i < 3000; i++)
		shoot(0);
	EXPECT_LT(0, wanted_work);
	sampler_end(slot);
	counts = counts_of(slot, 0);
	EXPECT_EQ(counts.taken, 3000);
	EXPECT_EQ(counts.ringed, taken[0].samples);
	EXPECT_EQ(counts.ring_lost, 3000 - taken[0].samples);
	EXPECT_LE(RING_WORDS / RING_SAMPLE_WORDS - 2, counts.ringed);
	sampler_free(slot);
}

/* Read at any moment, with records of several lengths: nothing is lost or told twice. */
TEST(rings_go_around)
{
	uint32_t random = 3;
	uint32_t slots[3];
	uint64_t ringed = 0, last = 0;

	reset(1);
	kernel_pc = 0x4000;
	slots[0] = begin(0, 1000, 0);
	slots[1] = sampler_begin(stream(1), everyone, 1500, SAMPLE_STACK, 64);
	slots[2] = sampler_begin(stream(2), everyone, 700, SAMPLE_STACK, 7);
	for (int i = 0; i < 50000; i++) {
		shoot(0);
		if (host_random_below(&random, 500) == 0) {
			sampler_work();
			EXPECT_LE(last, taken[0].last_time);
			last = taken[0].last_time;
		}
	}
	for (int i = 0; i < 3; i++) {
		sampler_end(slots[i]);
		ringed += counts_of(slots[i], 0).ringed;
		EXPECT_EQ(taken[i].samples, counts_of(slots[i], 0).ringed);
	}
	EXPECT_LT(3 * RING_WORDS / RING_SAMPLE_WORDS, ringed);
	for (int i = 0; i < 3; i++)
		sampler_free(slots[i]);
	kernel_pc = 0;
}

/* ---------------- Interrupts at bad moments ---------------- */

/* On a slow emulator each shot comes while the starter still programs the timer. */
TEST(shots_while_the_timer_is_programmed)
{
	uint32_t slot;

	for (uint32_t cpus = 1; cpus <= 2; cpus++) {
		reset(cpus);
		timer.armed = 0;
		timer.nested = 1;
		slot = begin(0, 1000, SAMPLE_FIXED);
		EXPECT_EQ(timer.nested, 0);
		EXPECT_EQ(counts_of(slot, 0).fired, 1);
		EXPECT_EQ(timer.armed, 2);
		EXPECT_EQ(timer.due, now + MS);
		end(slot);
	}
}

/* An NMI over the handler leaves at once, but the handler does what it came for. */
TEST(an_nmi_inside_the_handler_is_not_forgotten)
{
	uint32_t slot;

	reset(1);
	slot = begin(0, 1000, SAMPLE_FIXED);
	now = timer.due;
	timer.nested = 1; /* Inside the handler, when it arms. */
	interrupt(0);
	EXPECT_EQ(counts_of(slot, 0).fired, 2);
	EXPECT_EQ(timer.due, now + MS);
	end(slot);
}

TEST(an_nmi_may_be_the_clocks_even_after_it_stopped)
{
	uint32_t slot;

	reset(1);
	slot = begin(0, 1000, SAMPLE_NMI);
	EXPECT(sampler_uses_nmi());
	end(slot);
	EXPECT(sampler_uses_nmi());
	interrupt(0);
}

/* As long as one asks for it, and whoever of them ends first. */
TEST(nmis_for_all_as_long_as_one_asks)
{
	uint32_t slot[3];

	reset(1);
	slot[0] = begin(0, 1000, SAMPLE_NMI);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_NMI);
	slot[1] = begin(1, 1000, 0);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_NMI);
	slot[2] = begin(2, 1000, SAMPLE_NMI);
	end(slot[0]);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_NMI);
	timer.due = NEVER;
	end(slot[2]);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_IRQ);
	EXPECT_NE(timer.due, NEVER); /* A shot may have come in between. */
	slot[0] = begin(0, 1000, SAMPLE_NMI);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_NMI);
	end(slot[1]);
	end(slot[0]);
	slot[1] = begin(1, 1000, 0);
	EXPECT_EQ(timer.delivery, SAMPLE_BY_IRQ);
	end(slot[1]);
}

/* ---------------- Other CPUs, for real ---------------- */

#define THREADS 3
#define STARTS  200

static bool hammering;

static void *hammer(void *cpu)
{
	this_cpu = (uint32_t)(uintptr_t)cpu;
	while (__atomic_load_n(&hammering, __ATOMIC_SEQ_CST)) {
		__atomic_fetch_add(&now, 7000, __ATOMIC_SEQ_CST);
		sampler_interrupt(NULL);
		for (int i = 0; i < 500; i++)
			machine_relax();
	}
	return NULL;
}

/*
 * Streams begin and end on CPU 3 while all CPUs are interrupted: no sample comes after an end, none
 * is missing, and one stream that stays has its due times.
 */
TEST(slots_come_and_go_while_all_cpus_are_interrupted)
{
	pthread_t threads[THREADS];
	uint32_t lasting;
	uint64_t start;

	reset(CPUS);
	this_cpu = THREADS;
	start = now;
	lasting = begin(SAMPLE_CLOCKS_MAX, 1000, SAMPLE_FIXED);
	hammering = true;
	kernel_pc = 0x4000;
	walk_time = 5000;
	for (uintptr_t i = 0; i < THREADS; i++)
		REQUIRE(pthread_create(&threads[i], NULL, hammer, (void *)i) == 0);
	for (uint32_t i = 0; i < STARTS; i++) {
		uint32_t n = i % 5;
		uint64_t ringed = 0;
		uint32_t slot = begin(n, SAMPLE_RATE_MAX, SAMPLE_STACK | (i & SAMPLE_FIXED));

		taken[n].samples = 0;
		if (i % 8 == 0)
			sched_yield();
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			expect_conserved(slot, cpu);
		sampler_end(slot);
		for (uint32_t cpu = 0; cpu < CPUS; cpu++)
			ringed += counts_of(slot, cpu).ringed;
		EXPECT_EQ(taken[n].samples, ringed);
		sampler_free(slot);
	}
	__atomic_store_n(&hammering, false, __ATOMIC_SEQ_CST);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
	for (uint32_t cpu = 0; cpu < CPUS; cpu++) {
		for (int i = 0; i < 100000 && samplers[cpu].cursors[lasting].due <= now; i++)
			interrupt(cpu);
		EXPECT_EQ(counts_of(lasting, cpu).due, (now - start) / MS);
	}
	end(lasting);
	kernel_pc = 0;
	walk_time = 0;
	EXPECT_EQ(timer.due, NEVER);
}
