/* SPDX-License-Identifier: MIT */
/* Where an interactive shell goes on after an error: owned by main.c, used by errors.c. */
#ifndef SH_PROMPT_H
#define SH_PROMPT_H

#include <setjmp.h>
#include <stdbool.h>

extern jmp_buf prompt_jump;
extern bool prompt_is_set;

#endif
