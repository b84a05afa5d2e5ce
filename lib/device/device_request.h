/* SPDX-License-Identifier: MIT */
/* Where programs for GNU Mach look for it. */
#ifndef LIB_DEVICE_DEVICE_REQUEST_H
#define LIB_DEVICE_DEVICE_REQUEST_H

#include <mach/device_request.h>

#endif
