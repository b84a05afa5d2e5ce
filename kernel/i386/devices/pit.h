/* SPDX-License-Identifier: MIT */
/*
 * The programmable interval timer (8254): channel 0 as the sampling clock's one shot, channel 2 as
 * the ruler by which the other clocks are measured at boot.
 */
#ifndef I386_DEVICES_PIT_H
#define I386_DEVICES_PIT_H

#include <stdint.h>

#define PIT_HZ  1193182u
#define PIT_IRQ 0 /* Channel 0's output, as an ISA interrupt. */

/*
 * Channel 0 raises no interrupt any more; for some machines, only once it is masked too.  This also
 * sets it up for shots, and comes before the first.
 */
void pit_halt(void);

/*
 * Channel 0 raises its interrupt once, `counts` (1 to 0xffff) from now, and not for a shot before.
 * This is a count and no more: an emulator may let another CPU run at each store to a port that
 * stops or starts the chip, and only the last byte of a count does.
 */
void pit_one_shot(uint32_t counts);

/*
 * As pit_one_shot(), in two steps: what the first returns is the second's, which is the last byte
 * alone.
 */
uint32_t pit_one_shot_begin(uint32_t counts);
void pit_one_shot_end(uint32_t rest);

/* Channel 2 counts down from 0xffff to 0, and on from 0xffff, for ever and in silence. */
void pit_ruler_start(void);

/*
 * Reads channel 2 in two steps, so that the caller can put its own clock around the first:
 * pit_ruler_latch() decides what is read, pit_ruler_latched() fetches it.
 */
void pit_ruler_latch(void);
uint16_t pit_ruler_latched(void);

#endif
