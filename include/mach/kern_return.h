/* SPDX-License-Identifier: MIT */
/* What a kernel call answers. */
#ifndef MACH_KERN_RETURN_H
#define MACH_KERN_RETURN_H

typedef int kern_return_t;

#define KERN_SUCCESS             0
#define KERN_INVALID_ADDRESS     1
#define KERN_PROTECTION_FAILURE  2
#define KERN_NO_SPACE            3
#define KERN_INVALID_ARGUMENT    4
#define KERN_FAILURE             5
#define KERN_RESOURCE_SHORTAGE   6
#define KERN_NOT_RECEIVER        7
#define KERN_NO_ACCESS           8
#define KERN_ABORTED             14
#define KERN_INVALID_NAME        15
#define KERN_OPERATION_TIMED_OUT 49

#endif
