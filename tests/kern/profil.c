/* SPDX-License-Identifier: MIT */
/*
 * task_profil(): which bin a tick is counted in, that none is lost or counted twice, whatever
 * happens while a bin's page is out, and what ends a profile.
 *
 * The threads are those of a child, each in a loop of one instruction or two.  What is counted is
 * compared with the task's virtual timer, which is charged by itself.
 *
 * machine: cpus=1 ns=8 arguments="${host-port}"
 * machine: cpus=2 ns=8 seed=1 arguments="${host-port}"
 * machine: cpus=4 ns=8 seed=3 arguments="${host-port}"
 */
#include "check.h"
#include "pager.h"

#define TICK_US 10000u
#define LONG_US 3600000000u
#define FULL    0xffffu

/* Code at any address, odd ones too, where the compiler expects functions at even ones. */
extern const char loop_one[], loop_two[], loop_three[];

__asm__(".text\n"
	".balign 2\n"
	"loop_one: jmp loop_one\n"
	"loop_two: jmp loop_two\n"
	".skip 301\n"
	"loop_three: jmp loop_three\n");

static const char *const loops[] = {loop_one, loop_two, loop_three};
#define N_LOOPS 3u

static mach_port_t child, threads[N_LOOPS];
static uint32_t n_threads;
static uint16_t *bins; /* A page that the child has, too. */

#define ALL_BINS (PAGE_SIZE / sizeof *bins)

static kern_return_t set(vm_address_t at, vm_size_t size, vm_offset_t offset, unsigned scale)
{
	return task_profil(child, at, size, offset, scale, FALSE);
}

static kern_return_t set_more(vm_address_t at, vm_size_t size, vm_offset_t offset, unsigned scale)
{
	return task_profil(child, at, size, offset, scale, TRUE);
}

/* Nothing of the child runs yet. */
static void begin_child(void)
{
	child = child_new();
	n_threads = 0;
	EXPECT_EQ(task_vtimer_set(child, TASK_VTIMER_VIRTUAL, LONG_US, 0), KERN_SUCCESS);
}

static void begin_with_page(void)
{
	vm_address_t page = 0;

	EXPECT_EQ(vm_allocate(SELF, &page, PAGE_SIZE, TRUE), KERN_SUCCESS);
	bins = (uint16_t *)page;
	bins[0] = 0;
	EXPECT_EQ(vm_inherit(SELF, page, PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	begin_child();
}

static void end_with_child(void)
{
	for (uint32_t n = 0; n < n_threads; n++)
		port_drop_send(threads[n]);
	child_end(child);
}

static void end_with_page(void)
{
	end_with_child();
	EXPECT_EQ(vm_deallocate(SELF, (vm_address_t)bins, PAGE_SIZE), KERN_SUCCESS);
}

/* Ticks that the child has been charged in user mode. */
static uint32_t charged(void)
{
	uint64_t elapsed = 0, remaining;

	EXPECT_EQ(task_vtimer_update(child, TASK_VTIMER_VIRTUAL, &elapsed, &remaining),
		  KERN_SUCCESS);
	return (uint32_t)elapsed / TICK_US;
}

static struct i386_thread_state state_of(mach_port_t thread)
{
	struct i386_thread_state state = {0};
	mach_msg_type_number_t count = i386_THREAD_STATE_COUNT;

	EXPECT_EQ(thread_get_state(thread, i386_THREAD_STATE, (thread_state_t)&state, &count),
		  KERN_SUCCESS);
	return state;
}

static void set_pc(mach_port_t thread, const char *pc)
{
	struct i386_thread_state state = state_of(thread);

	state.eip = (uint32_t)pc;
	EXPECT_EQ(thread_set_state(thread, i386_THREAD_STATE, (thread_state_t)&state,
				   i386_THREAD_STATE_COUNT),
		  KERN_SUCCESS);
}

/* It begins in the loop: no tick finds it anywhere else. */
static mach_port_t start(uint32_t loop)
{
	mach_port_t thread = MACH_PORT_NULL;

	EXPECT_EQ(thread_create(child, &thread), KERN_SUCCESS);
	set_pc(thread, loops[loop]);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	threads[n_threads] = thread;
	return threads[n_threads++];
}

/* All of the child's threads stand still, and owe nothing but for pages that are out. */
static void stop_child(void)
{
	EXPECT_EQ(task_suspend(child), KERN_SUCCESS);
	for (uint32_t n = 0; n < n_threads; n++)
		state_of(threads[n]);
}

/* The child runs until it has been charged so many ticks more. */
static void run_for(uint32_t ticks)
{
	uint32_t before = charged();

	while (charged() < before + ticks && !check_failed())
		swtch();
}

/* The child runs until a bin is not empty, whoever else runs more often. */
static void run_until_found(const volatile uint16_t *bin)
{
	uint32_t before = charged();

	while (*bin == 0 && EXPECT_LT(charged(), before + 1000))
		swtch();
}

static uint32_t sum_of(const uint16_t *from, uint32_t n)
{
	uint32_t sum = 0;

	while (n-- > 0)
		sum += from[n];
	return sum;
}

static bool is_on(void)
{
	return set_more(0, 0, 0, PROFIL_SCALE_OFF) == KERN_SUCCESS;
}

/* ---------------- Which bin ---------------- */

/* As a person works it out: how many bytes of code lie before it, and how many bins a byte has. */
static uint32_t place_of(uint32_t pc, uint32_t offset, uint32_t scale)
{
	uint64_t sixteenths = 0;

	for (uint32_t bit = 0; bit < 17; bit++)
		if ((scale >> bit & 1) != 0)
			sixteenths += (uint64_t)(pc - offset) << bit;
	return (uint32_t)(sixteenths / 65536 / 2);
}

TEST(each_loop_has_a_bin)
{
	const uint32_t low = (uint32_t)loop_one;
	uint32_t sum = 0;

	begin_with_page();
	EXPECT_EQ(set((vm_address_t)bins, PAGE_SIZE, low, PROFIL_SCALE_ONE), KERN_SUCCESS);
	for (uint32_t n = 0; n < N_LOOPS; n++)
		start(n);
	run_for(40);
	for (uint32_t n = 0; n < N_LOOPS; n++)
		run_until_found(&bins[((uint32_t)loops[n] - low) / 2]);
	stop_child();
	for (uint32_t n = 0; n < N_LOOPS; n++)
		sum += bins[((uint32_t)loops[n] - low) / 2];
	EXPECT_EQ(sum, charged());
	EXPECT_EQ(sum_of(bins, ALL_BINS), charged());
	end_with_page();
}

TEST(scales_and_offsets)
{
	const uint32_t pc = (uint32_t)loop_one;
	const struct {
		uint32_t offset, scale;
	} cases[] = {
		{pc, PROFIL_SCALE_ONE}, {pc - 1, PROFIL_SCALE_ONE}, {pc - 2, PROFIL_SCALE_ONE},
		{pc - 1001, 0x8000},    {pc - 4001, 0xffff},        {pc - 3, 0x5555},
		{0x07000000, 2},        {0x07800000, 0x11},         {pc - 0x7654, 0x1234},
	};

	begin_with_page();
	start(0);
	for (uint32_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
		uint32_t place = place_of(pc, cases[n].offset, cases[n].scale);

		stop_child();
		memset(bins, 0, PAGE_SIZE);
		EXPECT_EQ(set((vm_address_t)bins, PAGE_SIZE, cases[n].offset, cases[n].scale),
			  KERN_SUCCESS);
		task_resume(child);
		run_for(2);
		stop_child();
		REQUIRE(EXPECT_LT(place, ALL_BINS));
		EXPECT_LE(2, bins[place]);
		EXPECT_EQ(sum_of(bins, ALL_BINS), bins[place]);
		task_resume(child);
		task_resume(child);
	}
	end_with_page();
}

/* Behind the last bin, before the first, half a bin: nothing is counted, and the profile stays. */
TEST(outside_is_passed_over)
{
	const uint32_t pc = (uint32_t)loop_three;
	const struct {
		uint32_t size, offset;
	} cases[] = {{PAGE_SIZE, pc + 1},
		     {PAGE_SIZE, pc + 2},
		     {PAGE_SIZE, 0xfffffffe},
		     {8, pc - 8},
		     {9, pc - 8},
		     {0, pc},
		     {1, pc}};

	begin_with_page();
	start(2);
	for (uint32_t n = 0; n < sizeof cases / sizeof cases[0]; n++) {
		EXPECT_EQ(set((vm_address_t)bins, cases[n].size, cases[n].offset, PROFIL_SCALE_ONE),
			  KERN_SUCCESS);
		run_for(2);
		EXPECT(is_on());
		EXPECT_EQ(sum_of(bins, ALL_BINS), 0);
	}
	EXPECT_EQ(set((vm_address_t)bins, 10, pc - 8, PROFIL_SCALE_ONE), KERN_SUCCESS);
	run_for(2);
	EXPECT_LT(0, bins[4]);
	end_with_page();
}

TEST(a_full_bin_stays_full)
{
	const uint32_t pc = (uint32_t)loop_one;

	begin_with_page();
	bins[0] = FULL - 2;
	EXPECT_EQ(set((vm_address_t)bins, PAGE_SIZE, pc, PROFIL_SCALE_ONE), KERN_SUCCESS);
	start(0);
	run_for(6);
	stop_child();
	EXPECT_EQ(bins[0], FULL);
	EXPECT_EQ(sum_of(bins + 1, ALL_BINS - 1), 0);
	end_with_page();
}

/* A bin's two bytes may lie in two pages. */
TEST(a_bin_across_pages)
{
	vm_address_t both = 0;
	uint16_t *bin;

	EXPECT_EQ(vm_allocate(SELF, &both, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(vm_inherit(SELF, both, 2 * PAGE_SIZE, VM_INHERIT_SHARE), KERN_SUCCESS);
	bin = (uint16_t *)(both + PAGE_SIZE - 1);
	*bin = 0x00fe;
	begin_child();
	EXPECT_EQ(set((vm_address_t)bin, 2, (uint32_t)loop_one, PROFIL_SCALE_ONE), KERN_SUCCESS);
	start(0);
	run_for(4);
	stop_child();
	EXPECT_EQ(*bin, 0x00fe + charged());
	end_with_child();
	EXPECT_EQ(vm_deallocate(SELF, both, 2 * PAGE_SIZE), KERN_SUCCESS);
}

/* ---------------- Regions ---------------- */

/* Each instruction is counted once, in the first region that has it. */
TEST(several_regions)
{
	uint16_t *two = NULL, *third = NULL;

	begin_with_page();
	two = bins + 16;
	third = bins + 32;
	EXPECT_EQ(set((vm_address_t)bins, 2, (uint32_t)loop_one, PROFIL_SCALE_ONE), KERN_SUCCESS);
	EXPECT_EQ(set_more((vm_address_t)two, 2, (uint32_t)loop_three, PROFIL_SCALE_ONE),
		  KERN_SUCCESS);
	EXPECT_EQ(set_more((vm_address_t)third, 2, (uint32_t)loop_one, PROFIL_SCALE_ONE),
		  KERN_SUCCESS);
	start(0);
	start(2);
	run_for(20);
	run_until_found(bins);
	run_until_found(two);
	stop_child();
	EXPECT_EQ(bins[0] + two[0], charged());
	EXPECT_EQ(sum_of(bins, ALL_BINS), charged());
	/* A new first one is the only one. */
	EXPECT_EQ(set((vm_address_t)third, 2, (uint32_t)loop_one, PROFIL_SCALE_ONE), KERN_SUCCESS);
	*two = 0;
	task_resume(child);
	run_for(10);
	run_until_found(third);
	EXPECT_EQ(*two, 0);
	end_with_page();
}

TEST(no_more_regions_than_there_may_be)
{
	begin_with_page();
	EXPECT_EQ(set((vm_address_t)bins, 2, 0, 2), KERN_SUCCESS);
	for (uint32_t n = 1; n < PROFIL_REGIONS_MAX; n++)
		EXPECT_EQ(set_more((vm_address_t)bins, 2, 0, 2), KERN_SUCCESS);
	EXPECT_EQ(set_more((vm_address_t)bins, 2, 0, 2), KERN_NO_SPACE);
	EXPECT(is_on());
	EXPECT_EQ(set((vm_address_t)bins, 2, 0, 2), KERN_SUCCESS);
	EXPECT_EQ(set_more((vm_address_t)bins, 2, 0, 2), KERN_SUCCESS);
	end_with_page();
}

/* ---------------- What ends it ---------------- */

TEST(it_is_ended_by_scale)
{
	begin_with_page();
	for (unsigned scale = 0; scale <= PROFIL_SCALE_OFF; scale++) {
		EXPECT_EQ(set_more((vm_address_t)bins, PAGE_SIZE, 0, scale), KERN_FAILURE);
		EXPECT_EQ(set((vm_address_t)bins, PAGE_SIZE, 0, 2), KERN_SUCCESS);
		EXPECT(is_on());
		EXPECT_EQ(set((vm_address_t)bins, PAGE_SIZE, 0, scale), KERN_SUCCESS);
		EXPECT(!is_on());
	}
	end_with_page();
}

static void expect_ended_by(vm_address_t at)
{
	EXPECT_EQ(set(at, 2, (uint32_t)loop_one, PROFIL_SCALE_ONE), KERN_SUCCESS);
	run_for(3);
	EXPECT(!is_on());
}

/* The thread whose tick it is goes on. */
TEST(it_is_ended_by_memory_that_cannot_be_written)
{
	begin_with_page();
	start(0);
	expect_ended_by(0);
	EXPECT_EQ(vm_protect(child, (vm_address_t)bins, PAGE_SIZE, FALSE, VM_PROT_READ),
		  KERN_SUCCESS);
	expect_ended_by((vm_address_t)bins);
	EXPECT_EQ(sum_of(bins, ALL_BINS), 0);
	EXPECT_EQ(vm_deallocate(child, (vm_address_t)bins, PAGE_SIZE), KERN_SUCCESS);
	expect_ended_by((vm_address_t)bins);
	end_with_page();
}

TEST(a_copy_of_the_memory_has_it)
{
	mach_port_t copy = MACH_PORT_NULL, other = MACH_PORT_NULL;

	begin_with_page();
	EXPECT_EQ(set((vm_address_t)bins, PAGE_SIZE, 0, 2), KERN_SUCCESS);
	EXPECT_EQ(task_create(child, TRUE, &copy), KERN_SUCCESS);
	EXPECT_EQ(task_create(child, FALSE, &other), KERN_SUCCESS);
	EXPECT_EQ(task_profil(copy, 0, 0, 0, 0, TRUE), KERN_SUCCESS);
	EXPECT_EQ(task_profil(other, 0, 0, 0, 0, TRUE), KERN_FAILURE);
	/* It is its own. */
	EXPECT_EQ(task_profil(copy, 0, 0, 0, 0, FALSE), KERN_SUCCESS);
	EXPECT_EQ(task_profil(copy, 0, 0, 0, 0, TRUE), KERN_FAILURE);
	EXPECT(is_on());
	child_end(copy);
	child_end(other);
	end_with_page();
}

/* ---------------- Pages that are out ---------------- */

static void abort_thread(mach_port_t thread)
{
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	sleep_ms(3);
}

/* As a signal does it: the thread is somewhere else afterwards. */
static void send_to(mach_port_t thread, const char *loop)
{
	EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
	EXPECT_EQ(thread_abort(thread), KERN_SUCCESS);
	EXPECT_EQ(state_of(thread).eip, (uint32_t)loop_one);
	set_pc(thread, loop);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
}

static void begin_with_pager(void)
{
	EXPECT_EQ(vm_inherit(SELF, memory, BYTES, VM_INHERIT_SHARE), KERN_SUCCESS);
	begin_child();
	EXPECT_EQ(set(memory, PAGE_SIZE, (uint32_t)loop_one, PROFIL_SCALE_ONE), KERN_SUCCESS);
}

/* The page with bins comes back to the pager as it is. */
static void end_written(uint32_t page)
{
	uint32_t first = *at(page);

	end_with_child();
	unmap();
	expect_return(page, 1, first, true, false);
	end_terminated();
}

TEST(a_tick_is_owed_until_the_page_comes)
{
	const uint16_t *paged;
	mach_port_t thread;
	uint32_t owed;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	paged = (const uint16_t *)memory;
	begin_with_pager();
	thread = start(0);
	REQUIRE(expect(DATA_REQUEST));
	owed = charged();
	EXPECT_LE(1, owed);
	for (uint32_t n = 0; n < 20; n++)
		abort_thread(thread);
	send_to(thread, loop_three);
	EXPECT_EQ(charged(), owed);
	fill(0, 1, 0);
	run_for(10);
	stop_child();
	EXPECT_EQ(paged[0], owed);
	EXPECT_EQ(paged[((uint32_t)loop_three - (uint32_t)loop_one) / 2], charged() - owed);
	EXPECT_EQ(sum_of(paged, ALL_BINS), charged());
	end_written(0);
}

/* The old one's end is not the end of the new one, which has the tick. */
TEST(a_profile_is_replaced_while_its_page_is_out)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_with_pager();
	start(0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(set(memory + PAGE_SIZE, PAGE_SIZE, (uint32_t)loop_one, PROFIL_SCALE_ONE),
		  KERN_SUCCESS);
	EXPECT_EQ(memory_object_data_error(control, 0, PAGE_SIZE, KERN_FAILURE), KERN_SUCCESS);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT(is_on());
	fill(1, 1, 0);
	run_for(4);
	stop_child();
	EXPECT_EQ(sum_of((const uint16_t *)at(1), ALL_BINS), charged());
	end_written(1);
}

static void end_with_pager(void)
{
	end_with_child();
	end();
}

/* Who turns it off may use the memory for something else: what is owed is not paid into that. */
TEST(memory_given_back_while_its_page_is_out)
{
	vm_address_t again = 0;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	again = memory;
	begin_with_pager();
	start(0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(set(0, 0, 0, PROFIL_SCALE_OFF), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(child, memory, PAGE_SIZE), KERN_SUCCESS);
	EXPECT_EQ(vm_allocate(child, &again, PAGE_SIZE, FALSE), KERN_SUCCESS);
	EXPECT_EQ(again, memory);
	fill(0, 1, 0);
	run_for(3);
	EXPECT_EQ(word_in(child, again), 0);
	end_with_pager();
}

TEST(a_pager_that_fails_ends_it)
{
	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_with_pager();
	start(0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(memory_object_data_error(control, 0, BYTES, KERN_FAILURE), KERN_SUCCESS);
	run_for(3);
	EXPECT(!is_on());
	end_with_pager();
}

/* Nobody answers: the task can be ended, and a thread. */
TEST(it_ends_though_the_page_never_comes)
{
	mach_port_t thread;

	REQUIRE(begin(false, MEMORY_OBJECT_COPY_DELAY));
	begin_with_pager();
	thread = start(0);
	start(0);
	REQUIRE(expect(DATA_REQUEST));
	EXPECT_EQ(thread_terminate(thread), KERN_SUCCESS);
	end_with_child();
	fill(0, 1, 0);
	end();
}
