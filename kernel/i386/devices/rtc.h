/* SPDX-License-Identifier: MIT */
/* The battery clock (MC146818 and its heirs). */
#ifndef I386_DEVICES_RTC_H
#define I386_DEVICES_RTC_H

#include <stdint.h>

/* Reads one of the clock's registers. */
typedef uint8_t rtc_reader(uint8_t index);

/* Seconds since 1970 by the registers that `read` answers; 0 if they make no sense. */
uint64_t rtc_seconds(rtc_reader *read);

#endif
