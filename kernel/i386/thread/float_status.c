/* SPDX-License-Identifier: MIT */
/*
 * A thread's FPU as its state: see float_status.h.  Guarded by the kernel lock.
 *
 * The kernel keeps what FXSAVE stores.  i386_FLOAT_STATE is what FNSAVE stores, the same less the
 * SSE registers and with two bits of tag for each register where FXSAVE has one.
 */
#include "i386/thread/float_status.h"

#include <stdbool.h>
#include <stddef.h>

#include <mach/i386/thread_status.h>

#include "base/string.h"
#include "i386/thread/fpu.h"
#include "thread/thread.h"

#define REGISTERS      8
#define REGISTER_BYTES 10 /* Of the 16 that FXSAVE has room for. */

#define STATUS_TOP(status) ((status) >> 11 & 7) /* Which register is the top of the stack. */

#define TAG_VALID   0u
#define TAG_ZERO    1u
#define TAG_SPECIAL 2u
#define TAG_EMPTY   3u

#define MXCSR_MASK_DEFAULT 0xffbfu /* Of CPUs that store 0 there. */

/* What FXSAVE stores. */
struct image {
	uint16_t control, status;
	uint8_t tags, reserved;
	uint16_t opcode;
	uint32_t eip;
	uint16_t cs, reserved_cs;
	uint32_t data;
	uint16_t ds, reserved_ds;
	uint32_t mxcsr, mxcsr_mask;
	uint8_t st[REGISTERS][16]; /* From the top of the stack down. */
	uint8_t xmm[REGISTERS][16];
	uint8_t rest[224];
} __attribute__((aligned(16)));

_Static_assert(sizeof(struct image) == FPU_AREA_SIZE, "fixed by the CPU");
_Static_assert(offsetof(struct image, st) == 32 && offsetof(struct image, rest) == 288,
	       "fixed by the CPU");
_Static_assert(sizeof(struct i386_float_state) == 120, "the same as GNU Mach's");
_Static_assert(sizeof(struct i386_xfloat_state) + sizeof(struct i386_xfp_save) ==
		       XFLOAT_WORDS * sizeof(uint32_t),
	       "the size that i386_get_xstate_size() tells");

/* The state that the thread has, or begins with. */
static void float_image_read(const struct thread *thread, struct image *image)
{
	memcpy(image, thread->machine.fpu_saved ? thread->machine.fpu : fpu_clean, sizeof *image);
}

static void float_image_write(struct thread *thread, const struct image *image)
{
	memcpy(thread->machine.fpu, image, sizeof *image);
	thread->machine.fpu_saved = true;
	machine_thread_forget_fpu(thread);
}

static void float_image_reset(struct thread *thread)
{
	thread->machine.fpu_saved = false;
	machine_thread_forget_fpu(thread);
}

/* A bit that is not in the CPU's own mask would make the load a fault of the kernel. */
static uint32_t float_mxcsr_allowed(uint32_t mxcsr)
{
	uint32_t mask = ((const struct image *)fpu_clean)->mxcsr_mask;

	return mxcsr & (mask != 0 ? mask : MXCSR_MASK_DEFAULT);
}

/* ---------------- Tags ---------------- */

static uint32_t float_tag_of(const uint8_t value[REGISTER_BYTES])
{
	uint16_t exponent;
	uint32_t low, high;

	memcpy(&low, value, sizeof low);
	memcpy(&high, value + 4, sizeof high);
	memcpy(&exponent, value + 8, sizeof exponent);
	exponent &= 0x7fff;
	if (exponent == 0)
		return low == 0 && high == 0 ? TAG_ZERO : TAG_SPECIAL;
	return exponent != 0x7fff && (high & 0x80000000) != 0 ? TAG_VALID : TAG_SPECIAL;
}

/* Tags belong to registers by number; the registers lie in the image from the top down. */
static uint16_t float_tags_to_full(const struct image *image)
{
	uint32_t full = 0;

	for (uint32_t n = 0; n < REGISTERS; n++) {
		uint32_t place = (n - STATUS_TOP(image->status)) % REGISTERS;
		bool used = (image->tags >> n & 1) != 0;

		full |= (used ? float_tag_of(image->st[place]) : TAG_EMPTY) << 2 * n;
	}
	return (uint16_t)full;
}

static uint8_t float_tags_from_full(uint32_t full)
{
	uint32_t used = 0;

	for (uint32_t n = 0; n < REGISTERS; n++)
		if ((full >> 2 * n & 3) != TAG_EMPTY)
			used |= 1u << n;
	return (uint8_t)used;
}

/* ---------------- i386_FLOAT_STATE ---------------- */

kern_return_t float_state_get(struct thread *thread, uint32_t *state)
{
	struct i386_float_state *to = (struct i386_float_state *)state;
	struct i386_fp_save *save = (struct i386_fp_save *)to->hw_state;
	struct i386_fp_regs *regs = (struct i386_fp_regs *)(save + 1);
	struct image image;

	float_image_read(thread, &image);
	*to = (struct i386_float_state){
		.fpkind = FP_387FX,
		.initialized = thread->machine.fpu_saved,
	};
	save->fp_control = image.control;
	save->fp_status = image.status;
	save->fp_tag = float_tags_to_full(&image);
	save->fp_eip = image.eip;
	save->fp_cs = image.cs;
	save->fp_opcode = image.opcode;
	save->fp_dp = image.data;
	save->fp_ds = image.ds;
	for (unsigned n = 0; n < REGISTERS; n++)
		memcpy(regs->fp_reg_word[n], image.st[n], REGISTER_BYTES);
	return KERN_SUCCESS;
}

/* The SSE registers, which this flavor does not know, stay. */
kern_return_t float_state_set(struct thread *thread, const uint32_t *state)
{
	const struct i386_float_state *from = (const struct i386_float_state *)state;
	const struct i386_fp_save *save = (const struct i386_fp_save *)from->hw_state;
	const struct i386_fp_regs *regs = (const struct i386_fp_regs *)(save + 1);
	struct image image;

	if (from->initialized == 0) {
		float_image_reset(thread);
		return KERN_SUCCESS;
	}
	float_image_read(thread, &image);
	image.control = save->fp_control;
	image.status = save->fp_status;
	image.tags = float_tags_from_full(save->fp_tag);
	image.eip = save->fp_eip;
	image.cs = save->fp_cs;
	image.opcode = save->fp_opcode;
	image.data = save->fp_dp;
	image.ds = save->fp_ds;
	for (unsigned n = 0; n < REGISTERS; n++)
		memcpy(image.st[n], regs->fp_reg_word[n], REGISTER_BYTES);
	float_image_write(thread, &image);
	return KERN_SUCCESS;
}

/* ---------------- i386_XFLOAT_STATE ---------------- */

/* What follows the registers in the image is the CPU's and nobody's: it is shown as zero. */
kern_return_t xfloat_state_get(struct thread *thread, uint32_t *state)
{
	struct i386_xfloat_state *to = (struct i386_xfloat_state *)state;
	struct image image;

	float_image_read(thread, &image);
	memset(state, 0, XFLOAT_WORDS * sizeof(uint32_t));
	to->fpkind = FP_387FX;
	to->initialized = thread->machine.fpu_saved;
	to->fp_save_kind = FP_FXSAVE;
	memcpy(to->hw_state, &image, offsetof(struct image, rest));
	return KERN_SUCCESS;
}

kern_return_t xfloat_state_set(struct thread *thread, const uint32_t *state)
{
	const struct i386_xfloat_state *from = (const struct i386_xfloat_state *)state;
	struct image image;
	uint32_t mask;

	if (from->initialized == 0) {
		float_image_reset(thread);
		return KERN_SUCCESS;
	}
	if (from->fp_save_kind != FP_FXSAVE)
		return KERN_INVALID_ARGUMENT;
	float_image_read(thread, &image);
	mask = image.mxcsr_mask;
	memcpy(&image, from->hw_state, offsetof(struct image, rest));
	image.reserved = 0;
	image.reserved_cs = 0;
	image.reserved_ds = 0;
	image.mxcsr = float_mxcsr_allowed(image.mxcsr);
	image.mxcsr_mask = mask;
	float_image_write(thread, &image);
	return KERN_SUCCESS;
}
