/* SPDX-License-Identifier: MIT */
/* The FPU: see fpu.h.  fpu_clean is constant after boot. */
#include "i386/thread/fpu.h"

#include "base/cpu.h"
#include "base/string.h"
#include "i386/cpu/cpu.h"

#define CR0_MP 0x02u /* FPU instructions are watched together with WAIT. */
#define CR0_EM 0x04u
#define CR0_TS 0x08u
#define CR0_NE 0x20u /* Errors come as exception 16. */

#define CR4_OSFXSR     0x200u
#define CR4_OSXMMEXCPT 0x400u

#define FPU_REGISTERS 32 /* Where the registers begin in the area. */

#define MXCSR_DEFAULT 0x1f80u /* All exceptions masked. */

uint8_t fpu_clean[FPU_AREA_SIZE] __attribute__((aligned(16)));

void fpu_init(void)
{
	const uint32_t mxcsr = MXCSR_DEFAULT;
	uint32_t cr0, cr4;

	__asm__ volatile("movl %%cr0, %0" : "=r"(cr0));
	cr0 = (cr0 & ~(CR0_EM | CR0_TS)) | CR0_MP | CR0_NE;
	__asm__ volatile("movl %0, %%cr0" ::"r"(cr0));
	__asm__ volatile("movl %%cr4, %0" : "=r"(cr4));
	cr4 |= CR4_OSFXSR | (cpu_features.sse ? CR4_OSXMMEXCPT : 0);
	__asm__ volatile("movl %0, %%cr4" ::"r"(cr4));
	__asm__ volatile("fninit");
	if (cpu_features.sse)
		__asm__ volatile("ldmxcsr %0" ::"m"(mxcsr));
	if (cpu_number() == 0) {
		fpu_save(fpu_clean);
		/* What firmware left in the registers is nobody's business. */
		memset(fpu_clean + FPU_REGISTERS, 0, FPU_AREA_SIZE - FPU_REGISTERS);
	}
}
