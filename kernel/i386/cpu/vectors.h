/* SPDX-License-Identifier: MIT */
/* Interrupt vectors and selectors, shared by C and assembler. */
#ifndef I386_CPU_VECTORS_H
#define I386_CPU_VECTORS_H

#define VECTOR_DIVIDE         0
#define VECTOR_DEBUG          1
#define VECTOR_NMI            2
#define VECTOR_BREAKPOINT     3
#define VECTOR_OVERFLOW       4
#define VECTOR_BOUND          5
#define VECTOR_INVALID_OPCODE 6
#define VECTOR_NO_FPU         7
#define VECTOR_DOUBLE_FAULT   8
#define VECTOR_NO_SEGMENT     11
#define VECTOR_STACK          12
#define VECTOR_PROTECTION     13
#define VECTOR_PAGE_FAULT     14
#define VECTOR_FPU            16
#define VECTOR_ALIGNMENT      17
#define VECTOR_SIMD           19
#define VECTOR_EXCEPTIONS     32

#define VECTOR_PIC        0x20 /* 0x20 to 0x2f: what the silenced 8259s may still raise. */
#define VECTOR_DEVICE     0x30 /* The first of device/interrupt.h's. */
#define VECTOR_TIMER      0xd0 /* This CPU's scheduler tick. */
#define VECTOR_RESCHEDULE 0xe0 /* Another CPU has work for this one. */
#define VECTOR_SHOOTDOWN  0xe1 /* Another CPU has changed translations. */

/*
 * The sampling clock, by interrupt.  It comes before whatever else waits for a CPU that had its
 * interrupts off, or was parked: behind another one it would find that one's work.
 */
#define VECTOR_SAMPLE 0xf0

#define VECTOR_SPURIOUS 0xff
#define VECTOR_COUNT    256

#define VECTOR_DEVICES 16 /* From VECTOR_DEVICE on. */

#define VECTOR_CALL_GATE 0x100 /* In a frame: entered by the call gate, not by an interrupt. */

#endif
