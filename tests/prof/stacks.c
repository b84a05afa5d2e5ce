/* SPDX-License-Identifier: MIT */
/*
 * Whom a sample's stack names: the caller of a function that makes no frame, nobody who only seems
 * to have called, and the kernel's frames of an event that the kernel came upon.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 arguments="${host-port}"
 */
#include "check.h"
#include "ipc.h"
#include "samples.h"

#define SELF     mach_task_self()
#define LONG_AGE 60000u /* Milliseconds: nothing is sent before the end. */

static struct collected collected;

static void start_with(uint32_t flavors, uint32_t hz, uint32_t flags)
{
	sample_options_t options = {.flags = SAMPLE_STACK | flags, .age_ms = LONG_AGE};

	samples_new(&collected);
	EXPECT_EQ(mach_port_set_qlimit(SELF, collected.port, MACH_PORT_QLIMIT_MAX), KERN_SUCCESS);
	EXPECT_EQ(task_sample_start(SELF, flavors, hz, options, collected.port), KERN_SUCCESS);
}

static void start(uint32_t flavors, uint32_t hz)
{
	start_with(flavors, hz, 0);
}

static void stop(void)
{
	EXPECT_EQ(task_sample_stop(SELF, collected.port), KERN_SUCCESS);
	samples_receive_all(&collected);
	EXPECT_EQ(prof_u64(collected.stream.lost), 0);
}

static void expect_caller(const char *begin, const char *end, const char *caller)
{
	samples_expect_callers(&collected, begin, end, caller, caller, 50);
}

/* ---------------- A function without a frame ---------------- */

extern const char leaf_begins[], leaf_ends[], leaf_returns[];
extern const char outer_begins[], outer_ends[], outer_returns[];

/*
 * A function with a frame calls one without, whose every instruction is as likely as any other.
 * By frame pointers alone the inner one's caller would be who called the outer one.
 */
__attribute__((noinline)) static void call_leaf_often(uint32_t times)
{
	__asm__ volatile(".globl leaf_begins, leaf_ends, leaf_returns\n"
			 ".globl outer_begins, outer_ends, outer_returns\n"
			 "jmp 2f\n"
			 ".balign 16\n"
			 "leaf_begins:\n"
			 "xorl %%eax, %%eax\n"
			 "addl $3, %%eax\n"
			 "pushl %%esi\n"
			 "nop\n"
			 "pushl %%edi\n"
			 "nop\n"
			 "popl %%edi\n"
			 "popl %%esi\n"
			 "ret\n"
			 "leaf_ends:\n"
			 "outer_begins:\n"
			 "pushl %%ebp\n"
			 "movl %%esp, %%ebp\n"
			 "call leaf_begins\n"
			 "leaf_returns:\n"
			 "leave\n"
			 "ret\n"
			 "outer_ends:\n"
			 "2: call outer_begins\n"
			 "outer_returns:\n"
			 "testl $5, %0\n" /* Not in step with anything. */
			 "jz 3f\n"
			 "nop\n"
			 "nop\n"
			 "nop\n"
			 "3: decl %0\n"
			 "jnz 2b\n"
			 : "+r"(times)
			 :
			 : "eax", "memory");
}

static void sample_leaf(uint32_t flags)
{
	start_with(SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX, flags);
	call_leaf_often(2500000);
	stop();
	expect_caller(leaf_begins, leaf_ends, leaf_returns);
	expect_caller(outer_begins, outer_ends, outer_returns);
	samples_forget(&collected);
}

TEST(a_leaf_names_its_caller)
{
	sample_leaf(0);
	sample_leaf(SAMPLE_NMI);
}

extern const char holder_loops[], holder_ends[], holder_returns[], holder_never_returns[];

/*
 * What lies on top of the stack is a return address, even one behind a call of the very function;
 * but the function has a frame, and its frame says who called.
 */
__attribute__((noinline)) static void hold_a_return_address(uint32_t times)
{
	__asm__ volatile(".globl holder_loops, holder_ends, holder_returns, holder_never_returns\n"
			 "jmp 2f\n"
			 "3: pushl %%ebp\n"
			 "movl %%esp, %%ebp\n"
			 "pushl $holder_never_returns\n"
			 "holder_loops:\n"
			 "1: decl %0\n"
			 "jnz 1b\n"
			 "holder_ends:\n"
			 "leave\n"
			 "ret\n"
			 "call 3b\n"
			 "holder_never_returns:\n"
			 "2: call 3b\n"
			 "holder_returns:\n"
			 : "+r"(times)
			 :
			 : "memory");
}

TEST(a_value_on_the_stack_is_no_caller)
{
	start(SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX);
	hold_a_return_address(5000000);
	stop();
	expect_caller(holder_loops, holder_ends, holder_returns);
	samples_forget(&collected);
}

/* ---------------- Behind what ends a frame, and what looks so ---------------- */

extern const char jumper_begins[], jumper_ends[], jumper_returns[];

/* The last byte of an instruction before a jump is that of a leave, but the frame is there. */
__attribute__((noinline)) static void jump_within(uint32_t times)
{
	__asm__ volatile(".globl jumper_begins, jumper_ends, jumper_returns\n"
			 "jmp 2f\n"
			 "3: pushl %%ebp\n"
			 "movl %%esp, %%ebp\n"
			 "pushl $collected\n" /* As near as a program's code, and none. */
			 "jumper_begins:\n"
			 "1: xorl %%ecx, %%ecx\n"
			 "jmp 4f\n"
			 "4: decl %0\n"
			 "jnz 1b\n"
			 "jumper_ends:\n"
			 "leave\n"
			 "ret\n"
			 "2: call 3b\n"
			 "jumper_returns:\n"
			 : "+r"(times)
			 :
			 : "ecx", "memory");
}

static void sample_jumper(uint32_t flags)
{
	start_with(SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX, flags);
	jump_within(2500000);
	stop();
	expect_caller(jumper_begins, jumper_ends, jumper_returns);
	samples_forget(&collected);
}

TEST(a_jump_within_a_function_leaves_its_caller)
{
	sample_jumper(0);
	sample_jumper(SAMPLE_NMI);
}

extern const char leaver_begins[], leaver_jumps[], leaver_ends[];
extern const char leaver_returns[], leaver_returns_too[];

/* A function ends by a jump to another, when it has left its frame; it is called in two ways. */
__attribute__((noinline)) static void leave_by_jump(uint32_t times)
{
	__asm__ volatile(".globl leaver_begins, leaver_jumps, leaver_ends\n"
			 ".globl leaver_returns, leaver_returns_too\n"
			 ".pushsection .data\n"
			 ".balign 4\n"
			 "5: .long leaver_begins\n"
			 ".popsection\n"
			 "jmp 2f\n"
			 "leaver_begins:\n"
			 "pushl %%ebp\n"
			 "movl %%esp, %%ebp\n"
			 "popl %%ebp\n"
			 "leaver_jumps:\n"
			 "jmp 4f\n"
			 "leaver_ends:\n"
			 "nop\n"
			 "4: ret\n"
			 "6: pushl %%ebp\n"
			 "movl %%esp, %%ebp\n"
			 "call leaver_begins\n"
			 "leaver_returns:\n"
			 "xorl %%ecx, %%ecx\n"
			 "call *5b(,%%ecx,4)\n"
			 "leaver_returns_too:\n"
			 "leave\n"
			 "ret\n"
			 "2: call 6b\n"
			 "testl $5, %0\n" /* Not in step with anything. */
			 "jz 3f\n"
			 "nop\n"
			 "nop\n"
			 "3: decl %0\n"
			 "jnz 2b\n"
			 : "+r"(times)
			 :
			 : "ecx", "memory");
}

TEST(who_leaves_by_a_jump_has_its_caller)
{
	start(SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX);
	leave_by_jump(1500000);
	stop();
	samples_expect_callers(&collected, leaver_begins, leaver_ends, leaver_returns,
			       leaver_returns_too, 50);
	samples_expect_callers(&collected, leaver_jumps, leaver_ends, leaver_returns,
			       leaver_returns_too, 20);
	samples_forget(&collected);
}

/* ---------------- Stacks that cannot be read ---------------- */

/* A frame whose second word lies where nothing is mapped ends the stack, and says so. */
TEST(a_frame_at_the_edge_of_memory)
{
	vm_address_t page = 0;

	EXPECT_EQ(vm_allocate(SELF, &page, 2 * PAGE_SIZE, TRUE), KERN_SUCCESS);
	EXPECT_EQ(vm_deallocate(SELF, page + PAGE_SIZE, PAGE_SIZE), KERN_SUCCESS);
	*(volatile uint32_t *)(page + PAGE_SIZE - 4) = 0;
	start(SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX);
	/* The stack is below: frames go up. */
	__asm__ volatile("pushl %%ebp\n"
			 "movl %%esp, %%ebx\n"
			 "leal -64(%0), %%esp\n"
			 "leal -4(%0), %%ebp\n"
			 "movl $3000000, %%eax\n"
			 "1: decl %%eax\n"
			 "jnz 1b\n"
			 "movl %%ebx, %%esp\n"
			 "popl %%ebp\n" ::"r"(page + PAGE_SIZE)
			 : "eax", "ebx", "memory");
	stop();
	for (uint32_t i = 0, cut = 0; i < collected.samples && i < SAMPLES_KEPT; i++) {
		cut += (kept[i].flags & PROF_STACK_CUT) != 0 && kept[i].user_frames == 0;
		if (i + 1 == collected.samples)
			EXPECT_LT(40, cut);
	}
	samples_forget(&collected);
	EXPECT_EQ(vm_deallocate(SELF, page, PAGE_SIZE), KERN_SUCCESS);
}

extern const char wild_begins[], wild_ends[];

/* Touches fresh memory and computes for a while, with such a stack. */
__attribute__((noinline)) static void run_wild(uint32_t esp, uint32_t ebp, uint32_t *fresh)
{
	__asm__ volatile(".globl wild_begins, wild_ends\n"
			 "pushl %%ebp\n"
			 "movl %%esp, %%ebx\n"
			 "movl %0, %%esp\n"
			 "movl %1, %%ebp\n"
			 "wild_begins:\n"
			 "movl $0, (%2)\n"
			 "movl $200000, %%eax\n"
			 "1: endbr32\n" /* At which the return address is on top of the stack. */
			 "decl %%eax\n"
			 "jnz 1b\n"
			 "wild_ends:\n"
			 "movl %%ebx, %%esp\n"
			 "popl %%ebp\n" ::"c"(esp),
			 "d"(ebp), "D"(fresh)
			 : "eax", "ebx", "memory");
}

/*
 * Registers that lead to where nothing is mapped, or into the kernel: both where the sampling
 * interrupt reads the stack and where the kernel, on its way to a page, looks it up.
 */
TEST(wild_registers_harm_nothing)
{
	static const uint32_t wild[] = {0,          8,          0xffe,      0xbffffffc, 0xc0000000,
					0xc0000008, 0xc0100000, 0xfffff000, 0xfffffffc};
	const uint32_t n = sizeof wild / sizeof wild[0];
	vm_address_t fresh = 0;
	uint32_t inside = 0;

	EXPECT_EQ(vm_allocate(SELF, &fresh, n * n * PAGE_SIZE, TRUE), KERN_SUCCESS);
	start(SAMPLED_PC_PERIODIC | SAMPLED_PC_VM_ZFILL_FAULTS, SAMPLE_RATE_MAX);
	for (uint32_t i = 0; i < n * n; i++)
		run_wild(wild[i / n], wild[i % n], (uint32_t *)(fresh + i * PAGE_SIZE));
	stop();
	EXPECT_LE(n * n, samples_of(&collected, SAMPLED_PC_VM_ZFILL_FAULTS));
	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		if (kept[i].pc >= (uint32_t)wild_begins && kept[i].pc < (uint32_t)wild_ends) {
			EXPECT_EQ(kept[i].user_frames, 0);
			inside++;
		}
	EXPECT_LT(2 * n * n, inside);
	samples_forget(&collected);
	EXPECT_EQ(vm_deallocate(SELF, fresh, n * n * PAGE_SIZE), KERN_SUCCESS);
}

#define JUMPS   2500u
#define NO_CODE 8u

static void jump(uint32_t to)
{
	__asm__ volatile("jmp *%0" ::"r"(to));
}

/* As if its exceptions were mended, so that it tries again. */
static bool answer_exception(mach_port_t handler)
{
	struct message message, reply;

	if (!EXPECT_EQ(message_get(&message, handler, LONG_WAIT), MACH_MSG_SUCCESS))
		return false;
	port_drop_send(message.body[1]);
	port_drop_send(message.body[3]);
	message_head(&reply, message.head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE, 0, 0,
		     message.head.msgh_id + 100);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = KERN_SUCCESS;
	return EXPECT_EQ(message_post(&reply, 2), MACH_MSG_SUCCESS);
}

/* A call through a null pointer: samples in the kernel, on the way to the exception. */
TEST(a_program_counter_in_the_first_page)
{
	sample_options_t options = {.flags = SAMPLE_STACK, .age_ms = LONG_AGE};
	mach_port_t handler = port_new(), child = child_new(), thread;
	uint32_t inside = 0;

	samples_new(&collected);
	EXPECT_EQ(task_sample_start(child, SAMPLED_PC_PERIODIC, SAMPLE_RATE_MAX, options,
				    collected.port),
		  KERN_SUCCESS);
	EXPECT_EQ(mach_port_insert_right(SELF, handler, handler, MACH_MSG_TYPE_MAKE_SEND),
		  KERN_SUCCESS);
	EXPECT_EQ(task_set_special_port(child, TASK_EXCEPTION_PORT, handler), KERN_SUCCESS);
	port_drop_send(handler);
	thread = child_start(child, 0, jump, NO_CODE);
	for (uint32_t n = 0; n < JUMPS && answer_exception(handler); n++)
		continue;
	EXPECT_EQ(task_terminate(child), KERN_SUCCESS);
	samples_receive_all(&collected);
	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		inside += kept[i].pc == NO_CODE && kept[i].kernel_pc != 0;
	EXPECT_LT(5, inside);
	samples_forget(&collected);
	message_drain(handler);
	child_end(child);
	port_destroy(thread);
	port_destroy(handler);
}

/* ---------------- Events ---------------- */

#define PAGES 16u

/* The kernel touches fresh pages for the program: each sample has the stacks of both. */
TEST(an_event_in_the_kernel_has_its_frames)
{
	vm_address_t memory = 0;
	uint32_t whole = 0;

	EXPECT_EQ(vm_allocate(SELF, &memory, PAGES * PAGE_SIZE, TRUE), KERN_SUCCESS);
	start(SAMPLED_PC_VM_ZFILL_FAULTS, 0);
	for (uint32_t n = 0; n < PAGES; n++)
		EXPECT_EQ(
			assay_clock_read(ASSAY_CLOCK_TSC_HZ, (uint64_t *)(memory + n * PAGE_SIZE)),
			KERN_SUCCESS);
	stop();
	EXPECT_EQ(collected.samples, PAGES);
	for (uint32_t i = 0; i < collected.samples; i++)
		whole += kept[i].kernel_pc != 0 && kept[i].kernel_frames > 0 &&
			 kept[i].user_frames > 0 && (kept[i].flags & PROF_STACK_CUT) == 0;
	EXPECT_EQ(whole, PAGES);
	samples_forget(&collected);
	EXPECT_EQ(vm_deallocate(SELF, memory, PAGES * PAGE_SIZE), KERN_SUCCESS);
}

/* To wire memory the kernel looks for the pages itself, without a fault. */
TEST(an_event_that_the_kernel_makes_has_its_frames)
{
	vm_address_t memory = 0;
	uint32_t whole = 0;

	EXPECT_EQ(vm_allocate(SELF, &memory, PAGES * PAGE_SIZE, TRUE), KERN_SUCCESS);
	start(SAMPLED_PC_VM_FAULTS_ANY, 0);
	EXPECT_EQ(vm_wire(check_number(0), SELF, memory, PAGES * PAGE_SIZE,
			  VM_PROT_READ | VM_PROT_WRITE),
		  KERN_SUCCESS);
	stop();
	for (uint32_t i = 0; i < collected.samples && i < SAMPLES_KEPT; i++)
		whole += kept[i].kernel_pc != 0 && kept[i].kernel_frames > 0;
	EXPECT_LE(PAGES, whole);
	samples_forget(&collected);
	EXPECT_EQ(vm_deallocate(SELF, memory, PAGES * PAGE_SIZE), KERN_SUCCESS);
}
