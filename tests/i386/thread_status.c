/* SPDX-License-Identifier: MIT */
/*
 * The state of a thread, by flavor: what is set is what the thread has, what user mode may not have
 * is refused, and exceptions that a state asks for come.
 *
 * machine: cpus=1
 * machine: cpus=2 seed=3
 */
#include "check.h"
#include "ipc.h"
#include <assay.h>
#include <mach.h>
#include <mach/exception.h>
#include <mach/i386/eflags.h>
#include <mach/i386/mach_i386_types.h>
#include <mach/i386/thread_status.h>
#include <mach/thread_special_ports.h>
#include <mach/thread_status.h>

#define KERNEL_ADDRESS 0xc0100000u
#define TRIES          1000

/* ---------------- A thread that spins with known registers ---------------- */

extern char spin_here[], spin_out[];
static volatile uint32_t spinning, seen[6];

/* Leaves its loop when its eip is set to spin_out, and notes what it has in its registers then. */
__attribute__((noinline)) static void spin(void *unused)
{
	(void)unused;
	spinning = 1;
	__asm__ volatile(
		"fninit; fld1; movl $0x1b1b1b1b, %%ebx; movl $0x51515151, %%esi\n"
		"movl $0xd1d1d1d1, %%edi; movd %%edi, %%xmm3\n"
		".globl spin_here\nspin_here: jmp spin_here\n"
		".globl spin_out\nspin_out: movl %%ebx, %0; movl %%esi, %1; movl %%edi, %2\n"
		"movl %%eax, %3; fstps %4; movd %%xmm3, %5"
		: "=m"(seen[0]), "=m"(seen[1]), "=m"(seen[2]), "=m"(seen[3]), "=m"(seen[4]),
		  "=m"(seen[5])
		:
		: "eax", "ebx", "esi", "edi", "memory", "cc");
}

static kern_return_t get(mach_port_t thread, int flavor, void *state, uint32_t count)
{
	uint32_t filled = count;
	kern_return_t result = thread_get_state(thread, flavor, state, &filled);

	if (result == KERN_SUCCESS)
		EXPECT_EQ(filled, count);
	return result;
}

static kern_return_t set(mach_port_t thread, int flavor, const void *state, uint32_t count)
{
	return thread_set_state(thread, flavor, (thread_state_t)state, count);
}

static kern_return_t get_registers(mach_port_t thread, struct i386_thread_state *state)
{
	return get(thread, i386_REGS_SEGS_STATE, state, i386_REGS_SEGS_STATE_COUNT);
}

static kern_return_t set_registers(mach_port_t thread, const struct i386_thread_state *state)
{
	return set(thread, i386_REGS_SEGS_STATE, state, i386_REGS_SEGS_STATE_COUNT);
}

/* Starts the thread and suspends it where it spins; MACH_PORT_NULL if that does not succeed. */
static mach_port_t spinner_new(struct i386_thread_state *state)
{
	mach_port_t thread;

	spinning = 0;
	worker_start(0, spin, NULL);
	thread = worker_port(0);
	if (!EXPECT(wait_for(&spinning, 1)))
		return MACH_PORT_NULL;
	for (uint32_t n = 0; n < TRIES; n++) {
		EXPECT_EQ(thread_suspend(thread), KERN_SUCCESS);
		EXPECT_EQ(get_registers(thread, state), KERN_SUCCESS);
		if (state->eip == (uint32_t)spin_here)
			return thread;
		EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
		sleep_ms(1);
	}
	check_fail("the thread did not come to its loop");
	return MACH_PORT_NULL;
}

/* Lets it out of its loop, with `state` otherwise, and waits for its end. */
static void spinner_end(mach_port_t thread, struct i386_thread_state *state)
{
	state->eip = (uint32_t)spin_out;
	EXPECT_EQ(set_registers(thread, state), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	EXPECT(worker_join(0));
}

/* ---------------- Flavors ---------------- */

TEST(flavors_are_listed)
{
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);
	uint32_t list[16], count = 4;

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(thread_get_state(thread, THREAD_STATE_FLAVOR_LIST, list, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 4);
	EXPECT_EQ(list[0], i386_THREAD_STATE);
	EXPECT_EQ(list[3], i386_V86_ASSIST_STATE);
	count = 16;
	EXPECT_EQ(thread_get_state(thread, THREAD_STATE_FLAVOR_LIST, list, &count), KERN_SUCCESS);
	EXPECT_EQ(count, 8);
	EXPECT_EQ(list[7], i386_TRAP_STATE);
	count = 3;
	EXPECT_EQ(thread_get_state(thread, THREAD_STATE_FLAVOR_LIST, list, &count),
		  KERN_INVALID_ARGUMENT);
	spinner_end(thread, &state);
}

TEST(unknown_flavors_and_short_states_are_refused)
{
	static const int unknown[] = {-1, i386_FSGS_BASE_STATE, 10, 0x7fffffff, (int)0x80000000};
	static uint32_t words[200];
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	for (unsigned n = 0; n < sizeof unknown / sizeof unknown[0]; n++) {
		EXPECT_EQ(get(thread, unknown[n], words, 200), KERN_INVALID_ARGUMENT);
		EXPECT_EQ(set(thread, unknown[n], words, 200), KERN_INVALID_ARGUMENT);
	}
	EXPECT_EQ(set(thread, THREAD_STATE_FLAVOR_LIST, words, 200), KERN_INVALID_ARGUMENT);
	for (int flavor = i386_THREAD_STATE; flavor <= i386_TRAP_STATE; flavor++) {
		EXPECT_EQ(get(thread, flavor, words, 1), KERN_INVALID_ARGUMENT);
		EXPECT_EQ(set(thread, flavor, words, 1), KERN_INVALID_ARGUMENT);
	}
	EXPECT_EQ(get(thread, i386_TRAP_STATE, words, 2), KERN_SUCCESS);
	EXPECT_EQ(set(thread, i386_TRAP_STATE, words, 2), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(get(mach_thread_self(), i386_THREAD_STATE, words, 200), KERN_INVALID_ARGUMENT);
	spinner_end(thread, &state);
}

/* ---------------- Registers ---------------- */

TEST(registers_are_read_and_written)
{
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(state.ebx, 0x1b1b1b1b);
	EXPECT_EQ(state.esi, 0x51515151);
	EXPECT_EQ(state.edi, 0xd1d1d1d1);
	EXPECT_EQ(state.esp, 0);
	EXPECT_EQ(state.cs & 3, 3);
	EXPECT_EQ(state.efl & (EFL_IF | EFL_IOPL), EFL_IF);
	state.eax = 0x12345678;
	state.ebx = 0x9abcdef0;
	state.esi = KERNEL_ADDRESS; /* A number like any other, in a register. */
	spinner_end(thread, &state);
	EXPECT_EQ(seen[0], 0x9abcdef0);
	EXPECT_EQ(seen[1], KERNEL_ADDRESS);
	EXPECT_EQ(seen[2], 0xd1d1d1d1);
	EXPECT_EQ(seen[3], 0x12345678);
	EXPECT_EQ(seen[4], 0x3f800000); /* 1.0 */
}

/* The flavor without segments makes them the usual ones, whatever the state says of them. */
TEST(flat_state_ignores_segments)
{
	struct i386_thread_state state, now;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	now = state;
	now.cs = now.ss = now.ds = now.es = now.fs = now.gs = 0x10;
	EXPECT_EQ(set(thread, i386_THREAD_STATE, &now, i386_THREAD_STATE_COUNT), KERN_SUCCESS);
	EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(now.cs, 0x1b);
	EXPECT_EQ(now.ss, 0x23);
	EXPECT_EQ(now.gs, 0x23);
	spinner_end(thread, &state);
}

TEST(flags_are_those_of_user_mode)
{
	struct i386_thread_state state, now;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	now = state;
	now.efl = ~(uint32_t)(EFL_VM | EFL_TF | EFL_RF);
	EXPECT_EQ(set_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(now.efl, EFL_CF | 2 | EFL_PF | EFL_AF | EFL_ZF | EFL_SF | EFL_IF | EFL_DF |
				   EFL_OF | EFL_AC | EFL_ID);
	now.efl = 0;
	EXPECT_EQ(set_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(now.efl, EFL_IF | 2);
	spinner_end(thread, &state);
}

struct wrong {
	uint32_t offset; /* Of a word in the state. */
	uint32_t value;
};

#define WRONG(field, value)                                      \
	{                                                        \
		offsetof(struct i386_thread_state, field), value \
	}

TEST(states_that_user_mode_may_not_have_are_refused)
{
	static const struct wrong wrongs[] = {
		WRONG(cs, 0),       WRONG(cs, 3),       WRONG(cs, 0x08),    WRONG(cs, 0x0b),
		WRONG(cs, 0x23),    WRONG(cs, 0x07),    WRONG(cs, 0x33),    WRONG(cs, 0x4b),
		WRONG(cs, 0xffff),  WRONG(cs, 0x1001b), WRONG(ss, 0),       WRONG(ss, 0x10),
		WRONG(ss, 0x13),    WRONG(ss, 0x1b),    WRONG(ss, 0x07),    WRONG(ss, 0x2b),
		WRONG(ds, 0x10),    WRONG(es, 0x13),    WRONG(fs, 0x28),    WRONG(fs, 0x2b),
		WRONG(gs, 0x33),    WRONG(gs, 0x43),    WRONG(gs, 0x07),    WRONG(gs, 0x27),
		WRONG(ds, 0x10023), WRONG(efl, EFL_VM), WRONG(gs, 0xfffff),
	};
	struct i386_thread_state state, changed, now;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	for (unsigned n = 0; n < sizeof wrongs / sizeof wrongs[0]; n++) {
		changed = state;
		changed.ebx = ~state.ebx;
		*(uint32_t *)((char *)&changed + wrongs[n].offset) = wrongs[n].value;
		if (set_registers(thread, &changed) != KERN_INVALID_ARGUMENT)
			check_fail("0x%x in word %u is not refused", (unsigned)wrongs[n].value,
				   (unsigned)wrongs[n].offset / 4);
		EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
		EXPECT(memcmp(&now, &state, sizeof now) == 0);
	}
	spinner_end(thread, &state);
}

/* Null, and the requested privilege is made the user's. */
TEST(data_selectors_are_brought_to_user_privilege)
{
	struct i386_thread_state state, now;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	now = state;
	now.fs = 0x20;
	now.gs = 3;
	now.cs = 0x14;
	now.ss = 0x1c;
	EXPECT_EQ(set_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(now.fs, 0x23);
	EXPECT_EQ(now.gs, 0);
	EXPECT_EQ(now.cs, 0x17);
	EXPECT_EQ(now.ss, 0x1f);
	spinner_end(thread, &now); /* With the segments of the local table. */
	EXPECT_EQ(seen[0], 0x1b1b1b1b);
}

/* ---------------- The FPU ---------------- */

TEST(float_state_is_what_fnsave_stores)
{
	static struct i386_float_state fpu;
	struct i386_fp_save *save = (struct i386_fp_save *)fpu.hw_state;
	struct i386_fp_regs *regs = (struct i386_fp_regs *)(save + 1);
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(get(thread, i386_FLOAT_STATE, &fpu, i386_FLOAT_STATE_COUNT), KERN_SUCCESS);
	EXPECT_EQ(fpu.fpkind, FP_387FX);
	EXPECT_EQ(fpu.initialized, 1);
	EXPECT_EQ(save->fp_control, 0x037f);
	EXPECT_EQ(save->fp_status >> 11 & 7, 7);
	EXPECT_EQ(save->fp_tag, 0x3fff); /* One register, the seventh, in use and not zero. */
	EXPECT_EQ(regs->fp_reg_word[0][4], 0x3fff);
	EXPECT_EQ(regs->fp_reg_word[0][3], 0x8000);
	regs->fp_reg_word[0][4] = 0x4000; /* 2.0 */
	EXPECT_EQ(set(thread, i386_FLOAT_STATE, &fpu, i386_FLOAT_STATE_COUNT), KERN_SUCCESS);
	spinner_end(thread, &state);
	EXPECT_EQ(seen[4], 0x40000000);
	EXPECT_EQ(seen[5], 0xd1d1d1d1); /* The SSE registers were not touched. */
}

TEST(extended_float_state_has_the_sse_registers)
{
	static uint32_t words[148];
	struct i386_xfloat_state *fpu = (struct i386_xfloat_state *)words;
	uint8_t *image = fpu->hw_state;
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);
	uint32_t size = 0, value;

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(i386_get_xstate_size(mach_host_self(), &size), KERN_SUCCESS);
	EXPECT_EQ(size, sizeof words);
	EXPECT_EQ(get(thread, i386_XFLOAT_STATE, words, 148), KERN_SUCCESS);
	EXPECT_EQ(fpu->fp_save_kind, FP_FXSAVE);
	memcpy(&value, image + 160 + 3 * 16, sizeof value);
	EXPECT_EQ(value, 0xd1d1d1d1);
	value = 0x33333333;
	memcpy(image + 160 + 3 * 16, &value, sizeof value);
	value = 0xffffffff; /* The bits of mxcsr that this CPU has not would be a fault. */
	memcpy(image + 24, &value, sizeof value);
	memset(image + 288, 0xa5, 288);
	EXPECT_EQ(set(thread, i386_XFLOAT_STATE, words, 148), KERN_SUCCESS);
	EXPECT_EQ(get(thread, i386_XFLOAT_STATE, words, 148), KERN_SUCCESS);
	memcpy(&value, image + 24, sizeof value);
	EXPECT_EQ(value & 0xffff0000, 0);
	EXPECT_EQ(image[288] | image[575], 0);
	fpu->fp_save_kind = FP_FNSAVE;
	EXPECT_EQ(set(thread, i386_XFLOAT_STATE, words, 148), KERN_INVALID_ARGUMENT);
	spinner_end(thread, &state);
	EXPECT_EQ(seen[5], 0x33333333);
}

TEST(float_state_can_be_reset)
{
	static struct i386_float_state fpu;
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(set(thread, i386_FLOAT_STATE, &fpu, i386_FLOAT_STATE_COUNT), KERN_SUCCESS);
	EXPECT_EQ(get(thread, i386_FLOAT_STATE, &fpu, i386_FLOAT_STATE_COUNT), KERN_SUCCESS);
	EXPECT_EQ(fpu.initialized, 0);
	spinner_end(thread, &state);
	EXPECT_EQ(seen[5], 0);
}

/* ---------------- Little used flavors ---------------- */

TEST(port_map_shows_no_port)
{
	struct i386_isa_port_map_state map;
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(get(thread, i386_ISA_PORT_MAP_STATE, &map, i386_ISA_PORT_MAP_STATE_COUNT),
		  KERN_SUCCESS);
	for (unsigned n = 0; n < sizeof map.pm; n++)
		EXPECT_EQ(map.pm[n], 0xff);
	EXPECT_EQ(set(thread, i386_ISA_PORT_MAP_STATE, &map, i386_ISA_PORT_MAP_STATE_COUNT),
		  KERN_SUCCESS);
	map.pm[0x60 / 8] = 0;
	EXPECT_EQ(set(thread, i386_ISA_PORT_MAP_STATE, &map, i386_ISA_PORT_MAP_STATE_COUNT),
		  KERN_NO_ACCESS);
	spinner_end(thread, &state);
}

TEST(virtual_mode_state_is_kept)
{
	struct i386_v86_assist_state table = {0x1000, 16}, now;
	struct i386_thread_state state;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	EXPECT_EQ(set(thread, i386_V86_ASSIST_STATE, &table, i386_V86_ASSIST_STATE_COUNT),
		  KERN_SUCCESS);
	EXPECT_EQ(get(thread, i386_V86_ASSIST_STATE, &now, i386_V86_ASSIST_STATE_COUNT),
		  KERN_SUCCESS);
	EXPECT(memcmp(&table, &now, sizeof now) == 0);
	table.int_table = KERNEL_ADDRESS;
	EXPECT_EQ(set(thread, i386_V86_ASSIST_STATE, &table, i386_V86_ASSIST_STATE_COUNT),
		  KERN_INVALID_ARGUMENT);
	spinner_end(thread, &state);
}

/* ---------------- Exceptions ---------------- */

/* What exception_raise() carries, as words behind the header. */
enum {
	RAISE_THREAD = 1,
	RAISE_TASK = 3,
	RAISE_EXCEPTION = 5,
	RAISE_CODE = 7,
	RAISE_SUBCODE = 9
};

static bool next_exception(mach_port_t port, struct message *raised, uint32_t exception,
			   uint32_t code)
{
	if (!EXPECT_EQ(message_get(raised, port, LONG_WAIT), MACH_MSG_SUCCESS))
		return false;
	mach_port_deallocate(mach_task_self(), raised->body[RAISE_THREAD]);
	mach_port_deallocate(mach_task_self(), raised->body[RAISE_TASK]);
	return EXPECT_EQ(raised->body[RAISE_EXCEPTION], exception) &&
	       EXPECT_EQ(raised->body[RAISE_CODE], code);
}

/* Lets the thread go on. */
static void answer(const struct message *raised)
{
	struct message reply;

	message_head(&reply, raised->head.msgh_remote_port, MACH_MSG_TYPE_MOVE_SEND_ONCE,
		     MACH_PORT_NULL, 0, raised->head.msgh_id + 100);
	reply.body[0] = TYPE_INLINE(MACH_MSG_TYPE_INTEGER_32, 32, 1);
	reply.body[1] = KERN_SUCCESS;
	EXPECT_EQ(message_post(&reply, 2), MACH_MSG_SUCCESS);
}

static mach_port_t catch_exceptions(mach_port_t thread)
{
	mach_port_t port = port_new_with_send();

	EXPECT_EQ(thread_set_special_port(thread, THREAD_EXCEPTION_PORT, port), KERN_SUCCESS);
	return port;
}

TEST(trace_flag_steps_one_instruction)
{
	struct i386_thread_state state, now;
	mach_port_t thread = spinner_new(&state);
	struct message raised;
	mach_port_t port;

	REQUIRE(thread != MACH_PORT_NULL);
	port = catch_exceptions(thread);
	state.efl |= EFL_TF;
	EXPECT_EQ(set_registers(thread, &state), KERN_SUCCESS);
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	for (unsigned step = 0; step < 3; step++) {
		REQUIRE(next_exception(port, &raised, EXC_BREAKPOINT, EXC_I386_SGL));
		EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
		EXPECT_EQ(now.eip, (uint32_t)spin_here);
		EXPECT_EQ(now.efl & EFL_TF, EFL_TF);
		if (step == 2) {
			now.efl &= ~(uint32_t)EFL_TF;
			now.eip = (uint32_t)spin_out;
			EXPECT_EQ(set_registers(thread, &now), KERN_SUCCESS);
		}
		answer(&raised);
	}
	EXPECT(worker_join(0));
	port_destroy(port);
}

TEST(watched_memory_stops_the_thread)
{
	struct i386_debug_state debug = {{(uint32_t)&seen[1], 0, 0, 0, 0, 0, 0, 0x000d0001}};
	struct i386_thread_state state, now;
	mach_port_t thread = spinner_new(&state);
	struct message raised;
	mach_port_t port;

	REQUIRE(thread != MACH_PORT_NULL);
	port = catch_exceptions(thread);
	EXPECT_EQ(set(thread, i386_DEBUG_STATE, &debug, i386_DEBUG_STATE_COUNT), KERN_SUCCESS);
	state.eip = (uint32_t)spin_out;
	EXPECT_EQ(set_registers(thread, &state), KERN_SUCCESS);
	seen[1] = seen[2] = 0; /* Others do not watch it. */
	EXPECT_EQ(thread_resume(thread), KERN_SUCCESS);
	REQUIRE(next_exception(port, &raised, EXC_BREAKPOINT, EXC_I386_SGL));
	EXPECT_EQ(seen[1], 0x51515151);
	EXPECT_EQ(seen[2], 0);
	EXPECT_EQ(get_registers(thread, &now), KERN_SUCCESS);
	EXPECT_EQ(get(thread, i386_DEBUG_STATE, &debug, i386_DEBUG_STATE_COUNT), KERN_SUCCESS);
	EXPECT_EQ(debug.dr[6] & 15, 1);
	EXPECT_EQ(debug.dr[7], 0x000d0001);
	answer(&raised);
	EXPECT(worker_join(0));
	EXPECT_EQ(seen[2], 0xd1d1d1d1);
	port_destroy(port);
}

TEST(kernel_memory_cannot_be_watched)
{
	static const struct i386_debug_state wrongs[] = {
		{{KERNEL_ADDRESS, 0, 0, 0, 0, 0, 0, 0x1}},
		{{0, 0, 0, 0xffffffff, 0, 0, 0, 0xc0}},
		{{0xc0000000, 0, 0, 0, 0, 0, 0, 0}},
		{{0x1000, 0, 0, 0, 0, 0, 0, 0x2001}},     /* The debug registers themselves, */
		{{0x60, 0, 0, 0, 0, 0, 0, 0x00020001}},   /* I/O ports, */
		{{0x1000, 0, 0, 0, 0, 0, 0, 0x00090001}}, /* eight bytes, */
		{{0x1000, 0, 0, 0, 0, 0, 0, 0x000c0001}}, /* execution of four. */
	};
	struct i386_thread_state state;
	struct i386_debug_state now;
	mach_port_t thread = spinner_new(&state);

	REQUIRE(thread != MACH_PORT_NULL);
	for (unsigned n = 0; n < sizeof wrongs / sizeof wrongs[0]; n++)
		EXPECT_EQ(set(thread, i386_DEBUG_STATE, &wrongs[n], i386_DEBUG_STATE_COUNT),
			  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(get(thread, i386_DEBUG_STATE, &now, i386_DEBUG_STATE_COUNT), KERN_SUCCESS);
	EXPECT_EQ(now.dr[0] | now.dr[7], 0);
	spinner_end(thread, &state);
}

/* ---------------- One's own state ---------------- */

/* Offsets in struct i386_thread_state. */
_Static_assert(offsetof(struct i386_thread_state, ebp) == 24 &&
		       offsetof(struct i386_thread_state, eax) == 44 &&
		       offsetof(struct i386_thread_state, eip) == 48 &&
		       offsetof(struct i386_thread_state, uesp) == 60,
	       "set_self_state");

/* Sets its own registers to go on behind the trap, with another eax: 0 if the trap came back. */
__attribute__((noinline)) static uint32_t set_self_state(struct i386_thread_state *state)
{
	uint32_t eax;

	__asm__ volatile("movl %%esp, 60(%1); movl %%ebp, 24(%1); movl $1f, 48(%1)\n"
			 "movl $0x5e1f, 44(%1)\n"
			 "pushl $17; pushl %1; pushl $1; pushl $0; movl $-77, %%eax\n"
			 "lcall $7, $0\n"
			 "addl $16, %%esp; xorl %%eax, %%eax\n"
			 "1:"
			 : "=a"(eax), "+c"(state)
			 :
			 : "ebx", "edx", "esi", "edi", "memory", "cc");
	return eax;
}

TEST(own_state_is_set_by_a_trap)
{
	struct i386_thread_state state = {.efl = EFL_IOPL | EFL_NT};
	struct i386_float_state fpu = {.initialized = 0};
	uint32_t control = 0;

	EXPECT_EQ(set_self_state(&state), 0x5e1f);
	__asm__ volatile("fldcw %0" ::"m"((const uint16_t){0x0f7f}));
	EXPECT_EQ(thread_set_self_state(i386_FLOAT_STATE, (thread_state_t)&fpu,
					i386_FLOAT_STATE_COUNT),
		  KERN_SUCCESS);
	__asm__ volatile("fnstcw %0" : "=m"(control));
	EXPECT_EQ(control, 0x037f);
}

TEST(own_state_is_checked)
{
	struct i386_thread_state state = {.efl = EFL_VM};

	EXPECT_EQ(thread_set_self_state(i386_THREAD_STATE, (thread_state_t)&state,
					i386_THREAD_STATE_COUNT),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_set_self_state(i386_REGS_SEGS_STATE, (thread_state_t)&state,
					i386_THREAD_STATE_COUNT - 1),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_set_self_state(99, (thread_state_t)&state, 1), KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_set_self_state(i386_THREAD_STATE, (thread_state_t)&state, 0),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_set_self_state(i386_THREAD_STATE, (thread_state_t)&state, 0x40000001),
		  KERN_INVALID_ARGUMENT);
	EXPECT_EQ(thread_set_self_state(i386_THREAD_STATE, (thread_state_t)KERNEL_ADDRESS,
					i386_THREAD_STATE_COUNT),
		  KERN_INVALID_ADDRESS);
	EXPECT_EQ(thread_set_self_state(i386_THREAD_STATE, NULL, i386_THREAD_STATE_COUNT),
		  KERN_INVALID_ADDRESS);
}
