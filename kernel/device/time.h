/* SPDX-License-Identifier: MIT */
/*
 * The device "time": a page that shows the time of day to whoever maps it (mapped_time_value_t in
 * <mach/time_value.h>), without a call.
 */
#ifndef DEVICE_TIME_H
#define DEVICE_TIME_H

#include <stdbool.h>

/* At boot. */
void time_device_init(void);

/* Whether somebody has mapped it: until then nobody keeps it up to date. */
extern bool time_device_used;

/* Brings the page up to date: a tick has come. */
void time_device_update(void);

#endif
