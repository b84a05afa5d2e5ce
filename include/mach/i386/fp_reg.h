/* SPDX-License-Identifier: MIT */
/* The FPU's registers as a thread's state shows them. */
#ifndef MACH_I386_FP_REG_H
#define MACH_I386_FP_REG_H

/* What FNSAVE stores: the environment and, behind it, the stack from its top down. */
struct i386_fp_save {
	unsigned short fp_control;
	unsigned short fp_unused_1;
	unsigned short fp_status;
	unsigned short fp_unused_2;
	unsigned short fp_tag; /* Two bits a register: valid, zero, special, empty. */
	unsigned short fp_unused_3;
	unsigned int fp_eip; /* Of the last instruction, */
	unsigned short fp_cs;
	unsigned short fp_opcode;
	unsigned int fp_dp; /* and of its operand in memory. */
	unsigned short fp_ds;
	unsigned short fp_unused_4;
};

struct i386_fp_regs {
	unsigned short fp_reg_word[8][5];
};

/* What XSAVE adds to FXSAVE's image; all zero where FXSAVE is what the kernel uses. */
struct i386_xfp_xstate_header {
	unsigned long long xfp_features;
	unsigned long long xcomp_bv;
	unsigned long long reserved[6];
} __attribute__((packed, aligned(64)));

/* What FXSAVE stores, and room for that header. */
struct i386_xfp_save {
	unsigned short fp_control;
	unsigned short fp_status;
	unsigned short fp_tag; /* One bit a register: it is in use. */
	unsigned short fp_opcode;
	unsigned int fp_eip;
	unsigned short fp_cs;
	unsigned short fp_eip3;
	unsigned int fp_dp;
	unsigned short fp_ds;
	unsigned short fp_dp3;
	unsigned int fp_mxcsr;
	unsigned int fp_mxcsr_mask;
	unsigned char fp_reg_word[8][16];   /* The stack from its top down, */
	unsigned char fp_xreg_word[16][16]; /* and the SSE registers, of which this CPU has 8. */
	unsigned int padding[24];
	struct i386_xfp_xstate_header header;
	unsigned char extended[];
} __attribute__((packed, aligned(64)));

/* fpkind: what FPU there is. */
#define FP_NO    0
#define FP_SOFT  1
#define FP_287   2
#define FP_387   3
#define FP_387FX 4 /* It has FXSAVE. */
#define FP_387X  5 /* The kernel uses XSAVE. */

/* fp_save_kind: the instruction whose image an i386_xfloat_state holds. */
#define FP_FNSAVE 0
#define FP_FXSAVE 1

#endif
