/* SPDX-License-Identifier: MIT */
/* Where programs for GNU Mach look for it. */
#ifndef LIB_DEVICE_DEVICE_TYPES_H
#define LIB_DEVICE_DEVICE_TYPES_H

#include <mach/device_types.h>

#endif
