/* SPDX-License-Identifier: MIT */
/*
 * The call gate, and what interrupts find: every register, flag and segment of the user comes back
 * from the kernel as it went in, whatever it was.
 *
 * machine: cpus=1 arguments="${host-port}"
 * machine: cpus=2 seed=3 arguments="${host-port}"
 */
#include "check.h"
#include <assay.h>
#include <mach.h>
#include <mach/prof.h>

/* ---------------- Numbers ---------------- */

static uint32_t trap(uint32_t eax)
{
	__asm__ volatile("lcall $7, $0" : "+a"(eax)::"memory", "cc");
	return eax;
}

/* The first and the last number of each row of traps in the table. */
static const int rows[][2] = {
	{TRAP_old_task_self, TRAP_old_thread_self},
	{TRAP_mach_msg, TRAP_mach_print},
	{TRAP_old_host_self, TRAP_old_host_self},
	{TRAP_swtch_pri, TRAP_thread_switch},
	{TRAP_vm_map, TRAP_vm_deallocate},
	{TRAP_task_create, TRAP_thread_set_self_state},
	{TRAP_assay_exit, TRAP_assay_event_attribute},
};

static bool is_hole(int number)
{
	for (unsigned n = 0; n < sizeof rows / sizeof rows[0]; n++)
		if (number >= rows[n][0] && number <= rows[n][1])
			return false;
	return true;
}

TEST(every_hole_is_an_invalid_argument)
{
	for (int number = 0; number < MACH_TRAP_COUNT; number++) {
		if (is_hole(number) && trap((uint32_t)-number) != KERN_INVALID_ARGUMENT)
			check_fail("trap %d is a hole and answers otherwise", number);
	}
}

/* ---------------- Registers, flags and segments ---------------- */

#define FLAGS_USER   0x00244cd5u /* What user mode can change, but for TF. */
#define FLAGS_ALWAYS 0x00000202u /* IF and the bit that is always set. */
#define FLAG_DF      0x00000400u
#define FLAG_NT      0x00004000u
#define FLAG_AC      0x00040000u

#define USER_CODE     0x1bu
#define USER_DATA     0x23u
#define LDT_USER_CODE 0x17u
#define LDT_USER_DATA 0x1fu

struct state {
	uint32_t eax, ebx, ecx, edx, esi, edi, ebp, esp;
	uint32_t ds, es, fs, gs, ss;
	uint32_t eflags;
};

/* Not static, and not in registers: run_with_state has them by name. */
struct state wanted, got;
uint32_t saved_esp;
void (*action)(void); /* Code that keeps all registers, called on the wanted stack. */

void run_with_state(void);

/*
 * Loads the wanted state, runs the action, and stores the state it left.  Everything but the
 * stack's segment may be unusable in between, so memory is reached through ss.
 */
__asm__(".text\n"
	"run_with_state:\n"
	"	pushal\n"
	"	pushl %ds; pushl %es; pushl %fs; pushl %gs\n"
	"	movl %esp, saved_esp\n"
	"	movl wanted + 48, %eax; movw %ax, %ss\n"
	"	movl wanted + 28, %esp\n"
	"	movl wanted + 36, %eax; movw %ax, %es\n"
	"	movl wanted + 40, %eax; movw %ax, %fs\n"
	"	movl wanted + 44, %eax; movw %ax, %gs\n"
	"	movl wanted + 32, %eax; movw %ax, %ds\n"
	"	movl %ss:wanted, %eax\n"
	"	movl %ss:wanted + 4, %ebx\n"
	"	movl %ss:wanted + 8, %ecx\n"
	"	movl %ss:wanted + 12, %edx\n"
	"	movl %ss:wanted + 16, %esi\n"
	"	movl %ss:wanted + 20, %edi\n"
	"	movl %ss:wanted + 24, %ebp\n"
	"	pushl %ss:wanted + 52; popfl\n"
	"	call *%ss:action\n"
	"	pushfl; popl %ss:got + 52\n"
	"	cld\n"
	"	movl %eax, %ss:got\n"
	"	movl %ebx, %ss:got + 4\n"
	"	movl %ecx, %ss:got + 8\n"
	"	movl %edx, %ss:got + 12\n"
	"	movl %esi, %ss:got + 16\n"
	"	movl %edi, %ss:got + 20\n"
	"	movl %ebp, %ss:got + 24\n"
	"	movl %esp, %ss:got + 28\n"
	"	movw %ds, %ss:got + 32\n"
	"	movw %es, %ss:got + 36\n"
	"	movw %fs, %ss:got + 40\n"
	"	movw %gs, %ss:got + 44\n"
	"	movw %ss, %ss:got + 48\n"
	"	movl $0x23, %eax; movw %ax, %ss; movl %ss:saved_esp, %esp\n"
	"	pushl $0x202; popfl\n"
	"	popl %gs; popl %fs; popl %es; popl %ds\n"
	"	popal\n"
	"	ret");

_Static_assert(offsetof(struct state, esp) == 28 && offsetof(struct state, ds) == 32 &&
		       offsetof(struct state, ss) == 48 && offsetof(struct state, eflags) == 52,
	       "run_with_state");

/* Actions.  `loop` changes no flags; ecx is what it counts and has to be put back. */
void trap_null(void);
void trap_by_other_code(void);
void yield_in_trap(void);
void wait_for_interrupts(void);

#define WAIT_TURNS "12000000" /* More than a tick of instructions. */

__asm__(".text\n"
	"trap_null:\n"
	"	movl $-31, %eax\n"
	"	lcall $7, $0\n"
	"	ret\n"
	"trap_by_other_code:\n"
	"	ljmp $0x17, $1f\n"
	"1:	movl $-31, %eax\n"
	"	lcall $7, $0\n"
	"	pushl %eax\n"
	"	pushl %ebx\n"
	"	movl %cs, %ebx\n" /* Must still be that of the LDT. */
	"	movl %ebx, %ss:cs_seen\n"
	"	popl %ebx\n"
	"	popl %eax\n"
	"	ljmp $0x1b, $1f\n"
	"1:	ret\n"
	"yield_in_trap:\n"
	"	movl $-60, %eax\n"
	"	lcall $7, $0\n"
	"	movl $0x11111111, %eax\n"
	"	ret\n"
	"wait_for_interrupts:\n"
	"	movl $" WAIT_TURNS ", %ecx\n"
	"1:	loop 1b\n"
	"	movl $0x33333333, %ecx\n"
	"	ret");

uint32_t cs_seen;
static uint8_t stack[PAGE_SIZE] __attribute__((aligned(PAGE_SIZE)));

static void want_usual(void)
{
	wanted = (struct state){
		.eax = 0x11111111,
		.ebx = 0x22222222,
		.ecx = 0x33333333,
		.edx = 0x44444444,
		.esi = 0x55555555,
		.edi = 0x66666666,
		.ebp = 0x77777777,
		.esp = (uint32_t)(stack + sizeof stack),
		.ds = USER_DATA,
		.es = USER_DATA,
		.fs = USER_DATA,
		.gs = USER_DATA,
		.ss = USER_DATA,
		.eflags = FLAGS_ALWAYS,
	};
}

/* A null selector is null with any privilege level in its low bits. */
static bool same_selector(uint32_t one, uint32_t other)
{
	return (one & 0xffff) == (other & 0xffff) || ((one | other) & 0xfffc) == 0;
}

static void expect_kept(void (*what)(void), uint32_t eax)
{
	action = what;
	run_with_state();
	EXPECT_EQ(got.eax, eax);
	EXPECT_EQ(got.ebx, wanted.ebx);
	EXPECT_EQ(got.ecx, wanted.ecx);
	EXPECT_EQ(got.edx, wanted.edx);
	EXPECT_EQ(got.esi, wanted.esi);
	EXPECT_EQ(got.edi, wanted.edi);
	EXPECT_EQ(got.ebp, wanted.ebp);
	EXPECT_EQ(got.esp, wanted.esp);
	EXPECT(same_selector(got.ds, wanted.ds));
	EXPECT(same_selector(got.es, wanted.es));
	EXPECT(same_selector(got.fs, wanted.fs));
	EXPECT(same_selector(got.gs, wanted.gs));
	EXPECT_EQ(got.ss & 0xffff, wanted.ss);
	EXPECT_EQ(got.eflags, (wanted.eflags & FLAGS_USER) | FLAGS_ALWAYS);
}

static void expect_kept_by_all(void)
{
	expect_kept(trap_null, KERN_INVALID_ARGUMENT);
	expect_kept(wait_for_interrupts, wanted.eax);
}

TEST(registers_survive)
{
	want_usual();
	expect_kept_by_all();
}

TEST(flags_survive_the_gate)
{
	static const uint32_t flags[] = {FLAG_NT, FLAG_AC, FLAG_DF, 0x8d5};

	want_usual();
	for (unsigned set = 0; set < 16; set++) {
		wanted.eflags = FLAGS_ALWAYS;
		for (unsigned bit = 0; bit < 4; bit++)
			wanted.eflags |= set & 1u << bit ? flags[bit] : 0;
		expect_kept(trap_null, KERN_INVALID_ARGUMENT);
	}
}

/* The sampling clock's NMI finds them too, ten thousand times a second. */
TEST(flags_survive_interrupts)
{
	sample_options_t options = {.flags = SAMPLE_NMI, .age_ms = 60000};
	mach_port_t port;

	want_usual();
	EXPECT_EQ(mach_port_allocate(mach_task_self(), MACH_PORT_RIGHT_RECEIVE, &port),
		  KERN_SUCCESS);
	EXPECT_EQ(task_sample_start(mach_task_self(), SAMPLED_PC_PERIODIC, 10000, options, port),
		  KERN_SUCCESS);
	for (unsigned set = 0; set < 4; set++) {
		wanted.eflags = FLAGS_ALWAYS | (set & 1 ? FLAG_NT | FLAG_DF : 0) |
				(set & 2 ? FLAG_AC | 0x8d5 : 0);
		expect_kept(wait_for_interrupts, wanted.eax);
	}
	EXPECT_EQ(task_sample_stop(mach_task_self(), port), KERN_SUCCESS);
	EXPECT_EQ(mach_port_destroy(mach_task_self(), port), KERN_SUCCESS);
}

/* Every bit but TF: those that user mode may not change stay as they were. */
TEST(flags_of_the_kernel_stay)
{
	want_usual();
	wanted.eflags = ~0x100u;
	expect_kept_by_all();
	wanted.eflags = 0;
	expect_kept_by_all();
}

/* popf cannot set RF; iret can, and asks for VIF, VIP and IOPL 3 as well. */
TEST(flags_by_iret)
{
	uint32_t eax = (uint32_t)-31, flags;

	__asm__ volatile("pushl $0x193202; pushl %%cs; pushl $1f; iret\n"
			 "1: lcall $7, $0\n"
			 "pushfl; popl %1"
			 : "+a"(eax), "=r"(flags)::"memory", "cc");
	EXPECT_EQ(eax, KERN_INVALID_ARGUMENT);
	EXPECT_EQ(flags & ~FLAGS_USER, FLAGS_ALWAYS);
}

TEST(segments_survive)
{
	static const uint32_t selectors[] = {
		0, 3, USER_CODE, USER_DATA, LDT_USER_CODE, LDT_USER_DATA};
	const unsigned n = sizeof selectors / sizeof selectors[0];

	for (unsigned i = 0; i < n; i++) {
		want_usual();
		wanted.ds = selectors[i];
		wanted.es = selectors[(i + 1) % n];
		wanted.fs = selectors[(i + 2) % n];
		wanted.gs = selectors[(i + 3) % n];
		wanted.ss = i % 2 ? LDT_USER_DATA : USER_DATA;
		expect_kept_by_all();
	}
}

TEST(code_segment_survives)
{
	want_usual();
	expect_kept(trap_by_other_code, KERN_INVALID_ARGUMENT);
	EXPECT_EQ(cs_seen & 0xffff, LDT_USER_CODE);
}

/* gs is not saved at entry but at a switch: two threads that yield to each other keep their own. */
static uint8_t other_stack[PAGE_SIZE] __attribute__((aligned(16)));
static volatile bool stop;

static void keep_gs_null(void *mixed)
{
	uint32_t gs = 0;

	assay_thread_bind(0);
	__asm__ volatile("movw %w0, %%gs" ::"r"(gs));
	while (!stop) {
		swtch();
		__asm__ volatile("movl %%gs, %0" : "=r"(gs));
		if ((gs & 0xffff) != 0)
			*(volatile bool *)mixed = true;
	}
}

TEST(segments_survive_switches)
{
	volatile bool mixed = false;
	uint32_t id;

	stop = false;
	assay_thread_bind(0);
	REQUIRE(thread_start(keep_gs_null, (void *)&mixed, other_stack, sizeof other_stack,
			     PRIORITY_USUAL, &id) == KERN_SUCCESS);
	for (int turn = 0; turn < 100; turn++) {
		want_usual();
		wanted.gs = LDT_USER_DATA;
		expect_kept(yield_in_trap, wanted.eax);
	}
	stop = true;
	EXPECT_EQ(assay_thread_join(id, TIMEOUT_NONE), KERN_SUCCESS);
	assay_thread_bind(CPU_ANY);
	EXPECT(!mixed);
}

/* ---------------- Stacks ---------------- */

static uint32_t trap_on_stack(uint32_t eax, uint32_t esp)
{
	__asm__ volatile("xchgl %%esp, %1; lcall $7, $0; movl %1, %%esp"
			 : "+a"(eax), "+b"(esp)::"memory", "cc");
	return eax;
}

/* A trap without arguments does not look at the stack, wherever it points to. */
TEST(traps_without_arguments_need_no_stack)
{
	static const uint32_t places[] = {0,          1,          0x123,      0xbfffffff,
					  0xc0000000, 0xc0100000, 0xffffe000, 0xffffffff};

	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
		EXPECT_EQ(trap_on_stack((uint32_t)-TRAP_unassigned, places[i]),
			  KERN_INVALID_ARGUMENT);
}

/* Neither does an interrupt. */
TEST(interrupts_need_no_stack)
{
	static const uint32_t places[] = {0, 0xc0100000, 0xffffffff};
	uint32_t turns;

	for (unsigned i = 0; i < sizeof places / sizeof places[0]; i++)
		__asm__ volatile("xchgl %%esp, %1; 1: loop 1b; movl %1, %%esp"
				 : "=c"(turns)
				 : "b"(places[i]), "0"(12000000)
				 : "memory");
}

/* Arguments that end with the user's last word are good ones, on any alignment. */
TEST(arguments_at_the_end_of_the_stack)
{
	uint32_t *last = (uint32_t *)(0xc0000000u - 4);
	uint32_t words[4];

	memcpy(words, last - 3, sizeof words);
	memset(last - 3, 0, sizeof words);
	*last = 77; /* thread_switch's option is next to last; this is its time. */
	last[-1] = SWITCH_OPTION_NONE;
	EXPECT_EQ(trap_on_stack((uint32_t)-TRAP_thread_switch, 0xc0000000u - 16), KERN_SUCCESS);
	last[-1] = 99;
	EXPECT_EQ(trap_on_stack((uint32_t)-TRAP_thread_switch, 0xc0000000u - 16),
		  KERN_INVALID_ARGUMENT);
	memcpy(last - 3, words, sizeof words);
}
