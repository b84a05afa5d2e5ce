/* SPDX-License-Identifier: MIT */
/* What a kernel call answers. */
#ifndef MACH_KERN_RETURN_H
#define MACH_KERN_RETURN_H

typedef int kern_return_t;

#define KERN_SUCCESS                  0
#define KERN_INVALID_ADDRESS          1  /* Nothing is there, or it may not be touched at all. */
#define KERN_PROTECTION_FAILURE       2  /* Memory is there, but not for this kind of access. */
#define KERN_NO_SPACE                 3  /* No room in the address space or in the names. */
#define KERN_INVALID_ARGUMENT         4  /* The wrong kind of object, or a value without meaning. */
#define KERN_FAILURE                  5  /* Cannot be done, for a reason without a number. */
#define KERN_RESOURCE_SHORTAGE        6  /* The kernel has run out of something; try again. */
#define KERN_NOT_RECEIVER             7  /* The caller does not have the receive right. */
#define KERN_NO_ACCESS                8  /* Not allowed. */
#define KERN_MEMORY_FAILURE           9  /* The pager of the memory is gone for good. */
#define KERN_MEMORY_ERROR             10 /* The pager could not provide the memory this time. */
#define KERN_NOT_IN_SET               12 /* The receive right is in no port set. */
#define KERN_NAME_EXISTS              13 /* The name is in use. */
#define KERN_ABORTED                  14 /* Ended before it was done. */
#define KERN_INVALID_NAME             15 /* The name means nothing. */
#define KERN_INVALID_TASK             16 /* The task has ended. */
#define KERN_INVALID_RIGHT            17 /* The name means something, but not what is needed. */
#define KERN_INVALID_VALUE            18 /* A number out of its range. */
#define KERN_UREFS_OVERFLOW           19 /* More user references than a name can count. */
#define KERN_INVALID_CAPABILITY       20 /* A port that is not what it should be. */
#define KERN_RIGHT_EXISTS             21 /* The task has the right already, by another name. */
#define KERN_INVALID_HOST             22 /* Not a host. */
#define KERN_MEMORY_PRESENT           23 /* Precious data for memory that is there already. */
#define KERN_WRITE_PROTECTION_FAILURE 24 /* A write that its pager wants to be told of. */
#define KERN_TERMINATED               26 /* The object is over. */
#define KERN_TIMEDOUT                 27 /* The time was over first. */
#define KERN_INTERRUPTED              28 /* Woken before it was done. */

#endif
