/* SPDX-License-Identifier: MIT */
/*
 * How the benchmarks measure: what one operation takes, by the fixed instruction clock.
 *
 * Under that clock the time stamp counter advances by one with every instruction, of whichever CPU.
 * A sample is: read the counter, the operation, read the counter, less what the same costs around
 * nothing.  The operation stands in the loop itself: called through a pointer it would bring the
 * call along, or, where nothing is called through a pointer too, hide as much of its own.
 *
 * What is printed is lines of a name and a number; tools/assay/bench.py reads them.
 */
#ifndef BENCH_MEASURE_H
#define BENCH_MEASURE_H

#include <mach/port.h>

#include <assay.h>

#define SAMPLES_MAX 4000
#define WARM_UP     8 /* Operations before the first sample: caches of the kernel's fill. */

extern uint32_t samples[SAMPLES_MAX];
extern uint32_t overhead; /* What a sample of nothing takes; measure_calibrate() finds it. */

/* The low half of the counter: enough for differences. */
static inline uint32_t counter(void)
{
	uint32_t low;

	__asm__ volatile("rdtsc" : "=a"(low) : : "edx", "memory");
	return low;
}

/* Does `operation` n times, each a sample of its own. */
#define SAMPLE(n, operation)                             \
	for (uint32_t turn_ = 0; turn_ < (n); turn_++) { \
		uint32_t before_ = counter();            \
                                                         \
		operation;                               \
		samples[turn_] = counter() - before_;    \
	}

/* The same, once the machine has warmed up, and with everything counted. */
#define MEASURE(n, operation)                                        \
	do {                                                         \
		for (uint32_t turn_ = 0; turn_ < WARM_UP; turn_++) { \
			operation;                                   \
		}                                                    \
		measure_begin();                                     \
		SAMPLE(n, operation);                                \
		measure_end();                                       \
	} while (0)

/*
 * Finds the overhead and tries it on ten instructions that do nothing.  Ends the program if they
 * are not ten: the machine has no instruction clock, and no figure of it would mean anything.
 */
void measure_calibrate(void);

/* What is done in between is counted by the kernel and, in a run with the plugin, by tools/hot. */
void measure_begin(void);
void measure_end(void);

/* The median of values, which it sorts, less the overhead; and that of n samples, printed. */
uint32_t median_of(uint32_t *values, uint32_t n);
void report_median(uint32_t n);

/* Prints the median of n samples that are `parts` operations each, and what the kernel counted. */
void report_samples(uint32_t n, uint32_t parts);

/* Prints what the kernel counted while `operations` were done. */
void report_costs(uint32_t operations);

/* Scheduler ticks that came in between. */
uint32_t measured_ticks(void);

/* A program of known length, and what it takes. */
typedef void workload(uint32_t turns);
uint64_t length_of(workload *run, uint32_t turns);

/* One that computes: two instructions a turn, in the caller's own frame. */
static inline void compute(uint32_t turns)
{
	__asm__ volatile("1: decl %0; jnz 1b" : "+r"(turns));
}

/* Ends the program when a trap of its preparations failed: there is nothing to measure. */
void must(kern_return_t result, const char *what);

/*
 * A thread of `task`, this program's or a copy's, that runs `server`, which receives from the port
 * that `server_port` names there; and a port with a send right of the same name.  (ipc.c)
 */
void start_server(mach_port_t task, void (*server)(void));
mach_port_t make_port(void);
extern mach_port_t server_port;

/* The benchmarks; n is the number of samples. */
void bench_trap(uint32_t n);     /* trap.c */
void bench_two_cpus(uint32_t n); /* two_cpus.c */
void bench_switch(uint32_t n);   /* switch.c */
void bench_switch_tasks(uint32_t n);
void bench_partner(uint32_t n);
void bench_tick(uint32_t n);   /* tick.c */
void bench_sample(uint32_t n); /* sample.c */
void bench_sample_stack(uint32_t n);
void bench_profile(uint32_t n); /* profile.c */
void bench_keep_samples(uint32_t n);
void bench_profile_wide(uint32_t n);
void bench_profile_traps(uint32_t n);
void bench_thread(uint32_t n); /* thread.c */
void bench_crowd(uint32_t n);
void bench_map(uint32_t n); /* memory.c */
void bench_zero_fill(uint32_t n);
void bench_allocate(uint32_t n);
void bench_allocate_touch(uint32_t n);
void bench_protect(uint32_t n);
void bench_bulk(uint32_t n);
void bench_task_self(uint32_t n); /* ipc.c */
void bench_port_type(uint32_t n);
void bench_call(uint32_t n);
void bench_call_task(uint32_t n);
void bench_call_memory(uint32_t n);
void bench_thread_life(uint32_t n);
void bench_task_life(uint32_t n);
void bench_cow_first(uint32_t n); /* faults.c */
void bench_cow_last(uint32_t n);
void bench_forks(uint32_t n);
void bench_exception(uint32_t n);
void bench_pager(uint32_t n);

#endif
