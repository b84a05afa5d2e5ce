/* SPDX-License-Identifier: MIT */
/* Measuring the rates of the time stamp counter and the local APIC's timer, at boot. */
#ifndef I386_BOOT_CALIBRATE_H
#define I386_BOOT_CALIBRATE_H

#include <stdint.h>

struct calibration {
	uint64_t tsc_hz;
	uint64_t lapic_hz;
	uint32_t doubt;     /* How far the measured rates may be off, in parts of a million. */
	const char *source; /* Who says so of tsc_hz, for the log. */
};

/*
 * Measures both against the PIT and tells the local APIC (lapic_calibration_begin() and _end()).
 * The local APIC is enabled, interrupts are off.  NULL on success, else what is wrong, in a
 * sentence.
 */
const char *calibrate(struct calibration *result);

#endif
