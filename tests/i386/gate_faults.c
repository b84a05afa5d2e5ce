/* SPDX-License-Identifier: MIT */
/*
 * Misuse of the call gate: `gate_faults NAME` makes one trap that must end the program with an
 * exception, or sets TF around one.  test_faults.py starts them and reads the kernel's log.
 *
 * pc_NAME is where the exception must be reported: behind the lcall, for the gate is a call, or
 * where single stepping comes to a stop.
 */
#include "check.h"
#include <assay.h>

#define CASE(name) TEST(name)

/* Makes trap `eax`, as it stands, with the stack pointer at `esp`. */
#define TRAP(name, eax, esp)                                              \
	__asm__ volatile("movl %0, %%esp; movl %1, %%eax; lcall $7, $0\n" \
			 ".globl pc_" #name "\npc_" #name ": nop\n"       \
			 "1: jmp 1b" ::"ri"(esp),                         \
			 "i"(eax)                                         \
			 : "memory")
#define TRAP_CASE(name, eax, esp)     \
	CASE(name)                    \
	{                             \
		TRAP(name, eax, esp); \
	}

/* ---------------- Numbers that are not in the table ---------------- */

/* A good stack, so that only the number can be wrong. */
#define NUMBER(name, eax) TRAP_CASE(name, eax, stack + sizeof stack - 64)

static uint8_t stack[PAGE_SIZE] __attribute__((aligned(4096)));

NUMBER(number_130, -MACH_TRAP_COUNT)
NUMBER(number_131, -MACH_TRAP_COUNT - 1)
NUMBER(number_1000, -1000)
NUMBER(number_most, -0x7fffffff)
NUMBER(number_least, (int)0x80000000)
NUMBER(number_positive_1, 1)
NUMBER(number_positive_30, TRAP_mach_print)
NUMBER(number_positive_129, MACH_TRAP_COUNT - 1)
NUMBER(number_positive_130, MACH_TRAP_COUNT)
NUMBER(number_positive_most, 0x7fffffff)

/* ---------------- Argument stacks that cannot be read ---------------- */

#define PRINT  (-TRAP_mach_print)          /* One word, */
#define JOIN   (-TRAP_assay_thread_join)   /* two, */
#define SWITCH (-TRAP_thread_switch)       /* three, */
#define CREATE (-TRAP_assay_thread_create) /* and four. */

TRAP_CASE(stack_1_word, PRINT, 0x123)
TRAP_CASE(stack_2_words, JOIN, 0x123)
TRAP_CASE(stack_3_words, SWITCH, 0x123)
TRAP_CASE(stack_4_words, CREATE, 0x123)
TRAP_CASE(stack_null, CREATE, 0)
TRAP_CASE(stack_over_end, SWITCH, 0xbffffff8)
TRAP_CASE(stack_at_end, PRINT, 0xbffffffc)
TRAP_CASE(stack_in_kernel, SWITCH, 0xc0100000)
TRAP_CASE(stack_wraps, SWITCH, 0xfffffff8)
TRAP_CASE(stack_wraps_just, SWITCH, 0xfffffff0)
TRAP_CASE(stack_wraps_last, PRINT, 0xffffffff)

/* One of these two pages is unmapped: the last argument lies in it, or the first. */
static uint8_t hole[2 * PAGE_SIZE] __attribute__((aligned(4096)));

#define TRAP_BY_HOLE(name, eax, esp, unmapped)                    \
	CASE(name)                                                \
	{                                                         \
		assay_memory_unmap(hole + (unmapped), PAGE_SIZE); \
		TRAP(name, eax, esp);                             \
	}

TRAP_BY_HOLE(stack_into_hole, SWITCH, hole + PAGE_SIZE - 8, PAGE_SIZE)
TRAP_BY_HOLE(stack_out_of_hole, SWITCH, hole + PAGE_SIZE - 8, 0)

/* ---------------- Single stepping ---------------- */

/*
 * Sets `bits` of the flags and does `code`.  The CPU stops behind the instruction that follows a
 * trap: the trap's way back is an iret, and that arms TF for one instruction more.
 */
#define STEP(name, bits, before, code)                                                     \
	CASE(name)                                                                         \
	{                                                                                  \
		__asm__ volatile(before "; pushfl; orl $" #bits ", (%%esp); popfl\n" code  \
					"\n.globl pc_" #name "\npc_" #name ": nop; nop" :: \
						: "memory");                               \
	}

STEP(step_hole, 0x100, "movl $-31, %%eax", "lcall $7, $0; nop")
STEP(step_nested, 0x4100, "movl $-31, %%eax", "lcall $7, $0; nop")
STEP(step_alignment, 0x40100, "movl $-31, %%eax", "lcall $7, $0; nop")
STEP(step_backwards, 0x500, "movl $-31, %%eax", "lcall $7, $0; nop")
STEP(step_all, 0x44500, "movl $-31, %%eax", "lcall $7, $0; nop")
STEP(step_arguments, 0x100, "pushl $0; pushl $0; pushl $0; pushl $0; movl $-61, %%eax",
     "lcall $7, $0; nop")
STEP(step_sleep, 0x44500, "pushl $20; pushl $2; pushl $0; pushl $0; movl $-61, %%eax",
     "lcall $7, $0; nop")
STEP(step_bad_number, 0x44500, "movl $-130, %%eax", "lcall $7, $0")
STEP(step_bad_stack, 0x44500, "movl $0xbffffff4, %%esp; movl $-61, %%eax", "lcall $7, $0")
/* A load of ss holds the step back by one instruction: the gate's, or a breakpoint's. */
STEP(step_behind_ss, 0x100, "movl $-31, %%eax; movl $0x23, %%ecx",
     "movw %%cx, %%ss; lcall $7, $0; nop")
STEP(step_breakpoint_behind_ss, 0x100, "movl $0x23, %%ecx", "movw %%cx, %%ss; int3")
/* The first trap answers 0, which is a trap too, and the step ends in its first instruction. */
STEP(step_twice, 0x100, "pushl $0; pushl $0; pushl $0; pushl $0; movl $-61, %%eax",
     "lcall $7, $0; lcall $7, $0; nop")
