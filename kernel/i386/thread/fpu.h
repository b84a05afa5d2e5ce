/* SPDX-License-Identifier: MIT */
/* The FPU and SSE registers, as FXSAVE lays them out.  The kernel itself uses neither. */
#ifndef I386_THREAD_FPU_H
#define I386_THREAD_FPU_H

#include <stdint.h>

#include "i386/thread/thread_state.h"

/* What a thread starts with: everything masked, empty, rounding to nearest. */
extern uint8_t fpu_clean[FPU_AREA_SIZE];

/* Turns the FPU on, on every CPU; the boot CPU's call also fills fpu_clean. */
void fpu_init(void);

static inline void fpu_save(uint8_t *area)
{
	__asm__ volatile("fxsave (%0)" ::"r"(area) : "memory");
}

static inline void fpu_load(const uint8_t *area)
{
	__asm__ volatile("fxrstor (%0)" ::"r"(area) : "memory");
}

/* The status word: what of the FPU's exceptions has happened, among others. */
static inline uint16_t fpu_status(void)
{
	uint16_t status;

	__asm__ volatile("fnstsw %0" : "=a"(status));
	return status;
}

#endif
