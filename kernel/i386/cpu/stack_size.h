/* SPDX-License-Identifier: MIT */
/* The size of a kernel stack; checks that the compiler adds need more. */
#ifndef I386_CPU_STACK_SIZE_H
#define I386_CPU_STACK_SIZE_H

#ifdef KERNEL_SAN
#define KERNEL_STACK_SIZE 16384
#else
#define KERNEL_STACK_SIZE 8192
#endif

#endif
