/* SPDX-License-Identifier: MIT */
/* The types that every interface may use. */
#ifndef MACH_STD_TYPES_H
#define MACH_STD_TYPES_H

#include <mach/boolean.h>
#include <mach/kern_return.h>
#include <mach/port.h>
#include <mach/vm_types.h>

#endif
