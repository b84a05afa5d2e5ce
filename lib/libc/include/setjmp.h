/* SPDX-License-Identifier: MIT */
/* Jumps out of functions. */
#ifndef _SETJMP_H
#define _SETJMP_H

#include <sys/types.h>

/* ebx, esi, edi, ebp, esp, eip; whether the mask was saved, and the mask. */
typedef unsigned int jmp_buf[9];
typedef jmp_buf sigjmp_buf;

int setjmp(jmp_buf place) __attribute__((returns_twice));
_Noreturn void longjmp(jmp_buf place, int value);

/* The same, without and with the signal mask; setjmp() is the first. */
int _setjmp(jmp_buf place) __attribute__((returns_twice));
_Noreturn void _longjmp(jmp_buf place, int value);
int sigsetjmp(sigjmp_buf place, int save_mask) __attribute__((returns_twice));
_Noreturn void siglongjmp(sigjmp_buf place, int value);

#endif
