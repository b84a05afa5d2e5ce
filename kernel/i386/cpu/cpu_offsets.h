/* SPDX-License-Identifier: MIT */
/* Where assembler finds the fields of struct cpu; i386/cpu/cpu.c asserts them. */
#ifndef I386_CPU_CPU_OFFSETS_H
#define I386_CPU_CPU_OFFSETS_H

#define CPU_SELF   0
#define CPU_THREAD 4
#define CPU_WORK   8

/* And one of struct thread: i386/patch/follow.c. */
#define THREAD_LABEL 12

#endif
