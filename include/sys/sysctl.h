/* SPDX-License-Identifier: MIT */
/*
 * Values of the system that have names: read, and some of them set, by sysctl().
 *
 * A name is a row of numbers, as 4.4BSD has them, and a text with dots for sysctlbyname().  Numbers
 * from 1000 on are ours.
 */
#ifndef SYS_SYSCTL_H
#define SYS_SYSCTL_H

#include <stdint.h>
#include <sys/types.h>

#define CTL_MAXNAME 12 /* Numbers of a name. */

/* What a value is. */
#define CTLTYPE_NODE   1 /* None: more names are below. */
#define CTLTYPE_INT    2
#define CTLTYPE_STRING 3 /* With its zero. */
#define CTLTYPE_QUAD   4
#define CTLTYPE_STRUCT 5

/* The first number. */
#define CTL_KERN 1
#define CTL_VM   2
#define CTL_HW   6

/* The second of CTL_KERN, */
#define KERN_OSTYPE    1
#define KERN_OSRELEASE 2
#define KERN_OSREV     3
#define KERN_VERSION   4
#define KERN_MAXPROC   6
#define KERN_ARGMAX    8
#define KERN_HOSTNAME  10 /* Root may set it. */
#define KERN_CLOCKRATE 12 /* struct clockinfo */
#define KERN_PROF      16 /* The kernel's own profile: <sys/gmon.h>. */
#define KERN_NGROUPS   18
#define KERN_SAVED_IDS 20
#define KERN_BOOTTIME  21 /* struct timeval */

/* of CTL_HW, */
#define HW_MACHINE   1
#define HW_MODEL     2
#define HW_NCPU      3
#define HW_BYTEORDER 4
#define HW_PHYSMEM   5 /* Bytes; */
#define HW_USERMEM   6 /* those that are not wired. */
#define HW_PAGESIZE  7

/* and of CTL_VM: pages of each kind, and what has happened to pages, since the machine started. */
#define VM_METER         1 /* struct vmtotal of <sys/vmmeter.h> */
#define VM_LOADAVG       2 /* struct loadavg */
#define VM_FREE          1000
#define VM_ACTIVE        1001
#define VM_INACTIVE      1002
#define VM_WIRED         1003
#define VM_FAULTS        1004 /* Of any kind: */
#define VM_ZERO_FILL     1005
#define VM_PAGEINS       1006
#define VM_COW_FAULTS    1007
#define VM_REACTIVATIONS 1008
#define VM_PAGEOUTS      1009

#define HOST_NAME_ROOM 65 /* Of KERN_HOSTNAME, with its zero: as much as uname() can tell. */

/* How many threads ran or waited for a CPU; the kernel keeps averages of 5, 30 and 60 seconds. */
struct loadavg {
	uint32_t ldavg[3];
	long fscale; /* So much is one thread. */
};

struct clockinfo {
	int hz;     /* Ticks of the scheduler a second, */
	int tick;   /* microseconds between two of them. */
	int stathz; /* Of the sampling clock, which is independent of those; 1,000 is the usual. */
	int profhz;
};

/* One of all names there are. */
struct sysctl_name {
	char name[32];
	int32_t mib[4];
	uint32_t length; /* Numbers of the name. */
	uint32_t type;   /* CTLTYPE_*. */
	uint32_t is_writable;
};

/* The server's: bsd_sysctl(). */
#define SYSCTL_READS    0x1u
#define SYSCTL_WRITES   0x2u
#define SYSCTL_MEASURES 0x4u /* Asks for the size, with or without the value. */

#ifndef UX_SERVER
#include <stddef.h>

/*
 * Stores the value in `old`, which has room for *size bytes, and its size there; with a null `old`
 * the size alone.  Then sets it, if `new_value` is not null.  0 or -1: ENOMEM if there is not room
 * enough, and as much as there is room for is stored.
 */
int sysctl(const int *name, unsigned length, void *old, size_t *size, const void *new_value,
	   size_t new_size);
int sysctlbyname(const char *name, void *old, size_t *size, const void *new_value, size_t new_size);

/* The numbers of a name; `length` says how many there is room for, and then how many there are. */
int sysctlnametomib(const char *name, int *mib, size_t *length);

/* All names, in memory of malloc()'s; NULL and errno. */
struct sysctl_name *sysctl_names(size_t *count);
#endif

#endif
