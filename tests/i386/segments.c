/* SPDX-License-Identifier: MIT */
/*
 * What mach_i386 offers beside states: segments of a thread's own, and I/O ports.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=3
 */
#include "check.h"
#include "ipc.h"
#include <assay.h>
#include <mach.h>
#include <mach/i386/mach_i386_types.h>
#include <mach/i386/thread_status.h>

#define FIRST_SLOT  0x4b
#define SECOND_SLOT 0x53
#define LOCAL       0x27 /* The first entry of the local table that is free. */

#define PORT_TESTED 0xe9 /* QEMU's debug port: nothing happens there. */

static uint32_t words[4] = {0x11111111, 0x22222222, 0x33333333, 0x44444444};

/* 32-bit data for user mode, all of memory from `base` on. */
static struct descriptor data_segment(const void *base)
{
	uint32_t address = (uint32_t)base;

	return (struct descriptor){
		.low_word = 0xffff | address << 16,
		.high_word = (address & 0xff000000) | 0x00cff200 | (address >> 16 & 0xff),
	};
}

static const struct descriptor empty;

static uint32_t read_gs(uint32_t selector)
{
	uint32_t word;

	__asm__ volatile("movw %w1, %%gs; movl %%gs:0, %0" : "=r"(word) : "r"(selector));
	return word;
}

static uint32_t read_gs_again(void)
{
	uint32_t word;

	__asm__ volatile("movl %%gs:0, %0" : "=r"(word));
	return word;
}

static void leave_gs(void)
{
	__asm__ volatile("movw %w0, %%gs" ::"r"(0x23));
}

/* ---------------- Slots of the global table ---------------- */

/*
 * What a thread has of its own it keeps to its end: in a thread that ends, so that the balance of
 * the test is even.
 */
static void run_in_thread(void (*run)(void *))
{
	worker_start(0, run, NULL);
	EXPECT(worker_join(0));
}

static void use_slots(void *unused)
{
	mach_port_t self = mach_thread_self();
	struct descriptor segment = data_segment(&words[1]), now;
	int first = -1, second = -1, third = -1;

	(void)unused;
	EXPECT_EQ(i386_set_gdt(self, &first, segment), KERN_SUCCESS);
	EXPECT_EQ(first, FIRST_SLOT);
	EXPECT_EQ(i386_set_gdt(self, &second, data_segment(&words[2])), KERN_SUCCESS);
	EXPECT_EQ(second, SECOND_SLOT);
	EXPECT_EQ(i386_set_gdt(self, &third, segment), KERN_NO_SPACE);
	EXPECT_EQ(read_gs(FIRST_SLOT), words[1]);
	for (unsigned n = 0; n < 5; n++) {
		sleep_ms(1);
		EXPECT_EQ(read_gs_again(), words[1]);
	}
	EXPECT_EQ(read_gs(SECOND_SLOT), words[2]);
	EXPECT_EQ(i386_get_gdt(self, FIRST_SLOT, &now), KERN_SUCCESS);
	EXPECT_EQ(now.low_word, segment.low_word);
	EXPECT_EQ(now.high_word & ~0x100u, segment.high_word); /* The CPU marks it as used. */
	leave_gs();
	EXPECT_EQ(i386_set_gdt(self, &first, empty), KERN_SUCCESS);
	EXPECT_EQ(i386_set_gdt(self, &second, empty), KERN_SUCCESS);
	EXPECT_EQ(i386_set_gdt(self, &third, segment), KERN_SUCCESS);
	EXPECT_EQ(third, FIRST_SLOT);
	mach_port_deallocate(mach_task_self(), self);
}

TEST(slots_belong_to_the_thread)
{
	run_in_thread(use_slots);
}

static volatile uint32_t theirs[2];

/* Two threads with the same selector and another segment each, switching all the time. */
static void use_slot(void *argument)
{
	uint32_t n = (uint32_t)argument;
	mach_port_t self = mach_thread_self();
	int selector = -1;
	bool same = i386_set_gdt(self, &selector, data_segment(&words[n])) == KERN_SUCCESS &&
		    selector == FIRST_SLOT && read_gs(FIRST_SLOT) == words[n];

	for (unsigned times = 0; times < 100; times++) {
		swtch();
		same = same && read_gs_again() == words[n];
	}
	leave_gs();
	mach_port_deallocate(mach_task_self(), self);
	theirs[n] = same;
}

TEST(threads_do_not_see_each_other_s_slots)
{
	theirs[0] = theirs[1] = 0;
	worker_start(0, use_slot, (void *)0);
	worker_start(1, use_slot, (void *)1);
	EXPECT(worker_join(0));
	EXPECT(worker_join(1));
	EXPECT_EQ(theirs[0], 1);
	EXPECT_EQ(theirs[1], 1);
}

static const struct descriptor unacceptable[] = {
	{0x0000ffff, 0x00cf9200}, /* The kernel's data, */
	{0x0000ffff, 0x00cf9a00}, /* code, */
	{0x0000ffff, 0x00cfb200}, /* privilege 1, */
	{0x0000ffff, 0x008ff200}, /* a 16-bit stack, */
	{0x00080000, 0xc010ec00}, /* a call gate of the user's, */
	{0x00080000, 0xc010ee00}, /* an interrupt gate, */
	{0x00300000, 0x0000e500}, /* a task gate, */
	{0x00000067, 0xc000e900}, /* a task state, */
	{0x00000067, 0xc000e200}, /* a local table. */
};

TEST(descriptors_are_checked)
{
	mach_port_t self = mach_thread_self();

	for (unsigned n = 0; n < sizeof unacceptable / sizeof unacceptable[0]; n++) {
		struct descriptor segment = unacceptable[n];
		int selector = -1;

		EXPECT_EQ(i386_set_gdt(self, &selector, segment), KERN_INVALID_ARGUMENT);
		EXPECT_EQ(i386_set_ldt(self, LOCAL, &segment, 1), KERN_INVALID_ARGUMENT);
	}
}

TEST(selectors_are_checked)
{
	static const int wrongs[] = {0,    3,    0x1b, 0x23, 0x2b,       0x33,           0x43,
				     0x48, 0x4f, 0x5b, -2,   0x7fffffff, (int)0x80000000};
	mach_port_t self = mach_thread_self();
	struct descriptor segment = data_segment(words);

	for (unsigned n = 0; n < sizeof wrongs / sizeof wrongs[0]; n++) {
		int selector = wrongs[n];

		EXPECT_EQ(i386_set_gdt(self, &selector, segment), KERN_INVALID_ARGUMENT);
		EXPECT_EQ(i386_get_gdt(self, wrongs[n], &segment), KERN_INVALID_ARGUMENT);
	}
	EXPECT_EQ(i386_set_gdt(mach_task_self(), &(int){-1}, segment), KERN_INVALID_ARGUMENT);
}

/* ---------------- The local table ---------------- */

static kern_return_t read_ldt(int selector, int wanted, struct descriptor *list, uint32_t *count)
{
	*count = 16;
	return i386_get_ldt(mach_thread_self(), selector, wanted, list, count);
}

static void use_local_table(void *unused)
{
	mach_port_t self = mach_thread_self();
	struct descriptor list[16],
		segments[2] = {data_segment(&words[0]), data_segment(&words[3])};
	uint32_t count;

	(void)unused;
	EXPECT_EQ(i386_set_ldt(self, LOCAL, segments, 2), KERN_SUCCESS);
	EXPECT_EQ(read_gs(LOCAL), words[0]);
	EXPECT_EQ(read_gs(LOCAL + 8), words[3]);
	sleep_ms(1);
	EXPECT_EQ(read_gs_again(), words[3]);
	EXPECT_EQ(null_trap(), KERN_INVALID_ARGUMENT); /* The gate is still there. */
	EXPECT_EQ(read_ldt(LOCAL, 2, list, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 2);
	EXPECT_EQ(list[1].low_word, segments[1].low_word);
	leave_gs();
	segments[0] = segments[1] = empty;
	EXPECT_EQ(i386_set_ldt(self, LOCAL, segments, 2), KERN_SUCCESS);
}

TEST(local_table_is_the_thread_s)
{
	run_in_thread(use_local_table);
}

static void look_at_gate(void *unused)
{
	struct descriptor list[16], segment = data_segment(words);
	uint32_t count;

	(void)unused;
	EXPECT_EQ(read_ldt(7, 4, list, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 4);
	EXPECT_EQ(list[0].low_word, 0);
	EXPECT_EQ(list[0].high_word >> 16, 0);
	EXPECT_EQ(i386_set_ldt(mach_thread_self(), 7, list, 4), KERN_SUCCESS);
	EXPECT_EQ(null_trap(), KERN_INVALID_ARGUMENT);
	for (int selector = 7; selector < LOCAL; selector += 8)
		EXPECT_EQ(i386_set_ldt(mach_thread_self(), selector, &segment, 1),
			  KERN_INVALID_ARGUMENT);
}

TEST(local_table_hides_the_gate_and_keeps_it)
{
	run_in_thread(look_at_gate);
}

static void look_for_end(void *unused)
{
	mach_port_t self = mach_thread_self();
	struct descriptor list[16], segments[2] = {{0, 0}, {0, 0}};
	uint32_t count;

	(void)unused;
	EXPECT_EQ(i386_set_ldt(self, 511 * 8 + 7, segments, 1), KERN_SUCCESS);
	EXPECT_EQ(i386_set_ldt(self, 511 * 8 + 7, segments, 2), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(i386_set_ldt(self, -1, segments, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(i386_set_ldt(self, 0x7fffffff, segments, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(read_ldt(LOCAL, -1, list, &count), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(read_ldt(511 * 8 + 7, 1, list, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 1);
	EXPECT_EQ(read_ldt(0x7fffffff, 1, list, &count), KERN_INVALID_ARGUMENT);
}

TEST(local_table_has_an_end)
{
	run_in_thread(look_for_end);
}

/* ---------------- I/O ports ---------------- */

TEST(ports_need_the_master_port)
{
	mach_port_t io_perm;

	EXPECT_EQ(i386_io_perm_create(mach_host_self(), 0, 0xffff, &io_perm),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(i386_io_perm_create(mach_task_self(), 0x60, 0x60, &io_perm),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(i386_io_perm_modify(mach_task_self(), mach_task_self(), 1),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(i386_io_perm_modify(mach_task_self(), MACH_PORT_NULL, 1), KERN_INVALID_ARGUMENT);
}

#define DONE 0x600d0000u

/* Uses the port twice, with others in between, and then shows in a register that it came so far. */
static void use_port(uint32_t port)
{
	__asm__ volatile("outb %b0, %w1" ::"a"(0), "d"(port));
	swtch();
	__asm__ volatile("outb %b0, %w1; movl %2, %%esi; 1: jmp 1b" ::"a"(0), "d"(port), "i"(DONE));
}

/* Whether the thread comes to its end, in the time that it should need. */
static bool has_used_port(mach_port_t thread)
{
	struct i386_thread_state state = {.esi = 0};
	uint32_t count;

	for (unsigned n = 0; n < 20 && state.esi != DONE; n++) {
		sleep_ms(5);
		count = i386_THREAD_STATE_COUNT;
		if (thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count) !=
		    KERN_SUCCESS)
			return false;
	}
	return state.esi == DONE;
}

static bool child_uses_port(mach_port_t io_perm, bool enable)
{
	mach_port_t child = child_new(), thread;
	bool used;

	EXPECT_EQ(i386_io_perm_modify(child, io_perm, 1), KERN_SUCCESS);
	EXPECT_EQ(i386_io_perm_modify(child, io_perm, enable), KERN_SUCCESS);
	thread = child_start(child, 0, use_port, PORT_TESTED);
	used = has_used_port(thread);
	mach_port_deallocate(mach_task_self(), thread);
	child_end(child);
	return used;
}

/* With ${host-port} ${device-port} on the command line. */
TEST(ports_can_be_used_with_permission)
{
	mach_port_t device = check_number(1), io_perm;

	if (device == MACH_PORT_NULL)
		SKIP("no device port");
	EXPECT_EQ(i386_io_perm_create(device, 2, 1, &io_perm), KERN_INVALID_ARGUMENT);
	REQUIRE(i386_io_perm_create(device, PORT_TESTED, PORT_TESTED, &io_perm) == KERN_SUCCESS);
	EXPECT(child_uses_port(io_perm, true));
	EXPECT(!child_uses_port(io_perm, false));
	port_drop_send(io_perm);
}
