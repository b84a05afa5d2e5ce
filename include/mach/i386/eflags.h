/* SPDX-License-Identifier: MIT */
/* Bits of the flags register. */
#ifndef MACH_I386_EFLAGS_H
#define MACH_I386_EFLAGS_H

#define EFL_CF          0x00000001
#define EFL_PF          0x00000004
#define EFL_AF          0x00000010
#define EFL_ZF          0x00000040
#define EFL_SF          0x00000080
#define EFL_TF          0x00000100 /* Trap after each instruction. */
#define EFL_IF          0x00000200
#define EFL_DF          0x00000400
#define EFL_OF          0x00000800
#define EFL_IOPL        0x00003000
#define EFL_IOPL_KERNEL 0x00000000
#define EFL_IOPL_USER   0x00003000
#define EFL_NT          0x00004000
#define EFL_RF          0x00010000 /* Pass one instruction breakpoint over. */
#define EFL_VM          0x00020000
#define EFL_AC          0x00040000
#define EFL_VI          0x00080000
#define EFL_VIP         0x00100000
#define EFL_ID          0x00200000

#endif
