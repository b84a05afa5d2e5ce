/* SPDX-License-Identifier: MIT */
/* A stand-in for lib/mach.h, on the host: the types of the kernel's interface. */
#ifndef LIB_MACH_H
#define LIB_MACH_H

#include <mach/kern_return.h>
#include <mach/port.h>

#endif
