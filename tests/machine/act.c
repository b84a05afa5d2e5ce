/* SPDX-License-Identifier: MIT */
/*
 * Does what its arguments say, one after the other: material for the Python tests beside it.
 *
 *     exit N    ends with that status
 *     print W   prints that word, and what follows it, on lines of their own
 *     bytes     prints every byte but zero, then two lines
 *     sleep     waits for ever
 *     leave     makes a task that runs for ever
 *     serve     is essential from then on: a server, which the run does not wait for
 *     spin      runs for ever
 *     race      two threads print as fast as they can; who comes when depends on every event.
 *               The time of day, to the nanosecond, comes first
 *     reboot P  host_reboot(P, 0), where P is ${host-port}; halt P the same with RB_HALT
 */
#include <assay.h>
#include <mach.h>

#define LINES       100
#define LONG_MS     100000000u
#define RACERS      2
#define STACK_BYTES 8192
#define RB_HALT     8

static char stacks[RACERS][STACK_BYTES] __attribute__((aligned(16)));

static void print_bytes(void)
{
	char all[256];

	for (unsigned n = 0; n < sizeof all - 1; n++)
		all[n] = (char)(n + 1);
	all[sizeof all - 1] = '\0';
	mach_print(all);
	mach_print("one\ntwo\n");
}

static void sleep_for_ever(void)
{
	for (;;)
		thread_switch(0, SWITCH_OPTION_WAIT, LONG_MS);
}

static void spin_for_ever(void)
{
	for (;;)
		__asm__ volatile("");
}

static void leave_a_task(void)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;
	mach_port_t task, thread;

	if (task_create(mach_task_self(), TRUE, &task) != KERN_SUCCESS ||
	    thread_create(task, &thread) != KERN_SUCCESS ||
	    thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count) !=
		    KERN_SUCCESS)
		assay_exit(1);
	state.eip = (uint32_t)spin_for_ever;
	state.uesp = (uint32_t)stacks[0] + STACK_BYTES;
	if (thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state, count) !=
		    KERN_SUCCESS ||
	    thread_resume(thread) != KERN_SUCCESS)
		assay_exit(1);
}

/* The lower bits of the clock tell events apart that the order of lines does not show. */
static void run(void *name)
{
	for (int line = 0; line < LINES; line++) {
		print("%s %llu\n", (const char *)name, cycles());
		for (volatile int i = 0; i < 20000; i++)
			;
		swtch();
	}
}

static void race(void)
{
	static char *const names[RACERS] = {"a", "b"};
	uint32_t ids[RACERS];
	uint64_t time = 0;

	assay_clock_read(ASSAY_CLOCK_WALL, &time);
	print("%llu\n", time);
	for (unsigned n = 0; n < RACERS; n++)
		if (thread_start(run, names[n], stacks[n], STACK_BYTES, PRIORITY_USUAL, &ids[n]) !=
		    KERN_SUCCESS)
			assay_exit(1);
	for (unsigned n = 0; n < RACERS; n++)
		assay_thread_join(ids[n], TIMEOUT_NONE);
}

static int print_rest(char **words)
{
	for (; *words != NULL; words++)
		print("%s\n", *words);
	return 0;
}

int main(int argc, char **argv)
{
	for (int n = 1; n < argc; n++) {
		if (strcmp(argv[n], "exit") == 0 && n + 1 < argc)
			return (int)strtoul(argv[n + 1], NULL, 10);
		if (strcmp(argv[n], "reboot") == 0 && n + 1 < argc)
			return host_reboot(strtoul(argv[n + 1], NULL, 10), 0);
		if (strcmp(argv[n], "halt") == 0 && n + 1 < argc)
			return host_reboot(strtoul(argv[n + 1], NULL, 10), RB_HALT);
		if (strcmp(argv[n], "print") == 0)
			return print_rest(argv + n + 1);
		if (strcmp(argv[n], "bytes") == 0)
			print_bytes();
		else if (strcmp(argv[n], "sleep") == 0)
			sleep_for_ever();
		else if (strcmp(argv[n], "spin") == 0)
			spin_for_ever();
		else if (strcmp(argv[n], "leave") == 0)
			leave_a_task();
		else if (strcmp(argv[n], "serve") == 0)
			task_set_essential(mach_task_self(), TRUE);
		else if (strcmp(argv[n], "race") == 0)
			race();
		else
			return 1;
	}
	return 0;
}
