/* SPDX-License-Identifier: MIT */
/* Where programs for GNU Mach look for it. */
#ifndef LIB_DEVICE_DEVICE_H
#define LIB_DEVICE_DEVICE_H

#include <mach/device.h>

#endif
