/* SPDX-License-Identifier: MIT */
/* What thread_get_state() and thread_set_state() tell and take, by flavor. */
#ifndef MACH_I386_THREAD_STATUS_H
#define MACH_I386_THREAD_STATUS_H

#include <mach/i386/fp_reg.h>

#define i386_THREAD_STATE       1 /* Set: with the usual segments, whatever it says of them. */
#define i386_FLOAT_STATE        2
#define i386_ISA_PORT_MAP_STATE 3 /* Shows which I/O ports may be used; cannot be changed. */
#define i386_V86_ASSIST_STATE   4 /* Kept, and of no use: there is no virtual-8086 mode. */
#define i386_REGS_SEGS_STATE    5 /* The same as i386_THREAD_STATE, segments included. */
#define i386_DEBUG_STATE        6
#define i386_FSGS_BASE_STATE    7 /* Of 64-bit machines only. */
#define i386_XFLOAT_STATE       8 /* Its size: i386_get_xstate_size(). */
#define i386_TRAP_STATE         9 /* What has brought it into the kernel; cannot be set. */

/* i386_THREAD_STATE and i386_REGS_SEGS_STATE */
struct i386_thread_state {
	unsigned int gs;
	unsigned int fs;
	unsigned int es;
	unsigned int ds;
	unsigned int edi;
	unsigned int esi;
	unsigned int ebp;
	unsigned int esp; /* Nothing: the thread's stack pointer is uesp. */
	unsigned int ebx;
	unsigned int edx;
	unsigned int ecx;
	unsigned int eax;
	unsigned int eip;
	unsigned int cs;
	unsigned int efl;
	unsigned int uesp;
	unsigned int ss;
};
#define i386_THREAD_STATE_COUNT    (sizeof(struct i386_thread_state) / sizeof(unsigned int))
#define i386_REGS_SEGS_STATE_COUNT i386_THREAD_STATE_COUNT

#define FP_STATE_BYTES (sizeof(struct i386_fp_save) + sizeof(struct i386_fp_regs))

/* `initialized` 0: the thread has not used its FPU, or, when set, is to begin with a clean one. */
struct i386_float_state {
	int fpkind;
	int initialized;
	unsigned char hw_state[FP_STATE_BYTES];
	int exc_status;
};
#define i386_FLOAT_STATE_COUNT (sizeof(struct i386_float_state) / sizeof(unsigned int))

/* hw_state is a struct i386_xfp_save. */
struct i386_xfloat_state {
	int fpkind;
	int initialized;
	int exc_status;
	int fp_save_kind;
	unsigned char hw_state[];
};

/* A bit for each port: set where it may not be used. */
#define PORT_MAP_BITS 0x400
struct i386_isa_port_map_state {
	unsigned char pm[PORT_MAP_BITS >> 3];
};
#define i386_ISA_PORT_MAP_STATE_COUNT \
	(sizeof(struct i386_isa_port_map_state) / sizeof(unsigned int))

struct i386_v86_assist_state {
	unsigned int int_table;
	int int_count;
};
#define i386_V86_ASSIST_STATE_COUNT (sizeof(struct i386_v86_assist_state) / sizeof(unsigned int))

/* What int_table is an array of. */
struct v86_interrupt_table {
	unsigned int count;
	unsigned short mask;
	unsigned short vec;
};

/* 0 to 3: addresses; 6: what has happened; 7: what is watched.  4 and 5 are nothing. */
struct i386_debug_state {
	unsigned int dr[8];
};
#define i386_DEBUG_STATE_COUNT (sizeof(struct i386_debug_state) / sizeof(unsigned int))

/* The CPU's vector, and of a page fault (14) what was tried, of other exceptions their code. */
struct i386_trap_state {
	unsigned int trapno;
	unsigned int err;
};
#define i386_TRAP_STATE_COUNT (sizeof(struct i386_trap_state) / sizeof(unsigned int))

#define TRAP_ERROR_WRITE 0x02 /* It was a store; */
#define TRAP_ERROR_FETCH 0x10 /* an instruction, where pages can be without the right to execute. */

#endif
