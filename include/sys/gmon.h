/* SPDX-License-Identifier: MIT */
/*
 * The kernel's own profile in 4.4BSD's layouts, as sysctl() reads it: CTL_KERN, KERN_PROF, and one
 * of GPROF_*.
 *
 * The time is in `kcount`: a counter for each piece of the kernel's text.  Calls are in `tos`, an
 * element for each pair of caller and function, and those of one caller are linked, from the
 * element of `froms` for the place where it was called from.  A caller's element is 0 if it has
 * none, and tos[0].link is the last one used.
 */
#ifndef SYS_GMON_H
#define SYS_GMON_H

#include <stdint.h>

/* Bytes of text for a counter, by its size, and for an element of froms. */
#define HISTFRACTION 2
#define HASHFRACTION 2
#define HISTCOUNTER  uint16_t

/* Elements of tos, in percent of the text's bytes, and limits to that. */
#define ARCDENSITY 2
#define MINARCS    50
#define MAXARCS    65534

struct tostruct {
	uint32_t selfpc; /* The function called. */
	int32_t count;   /* At most INT32_MAX; the others are in gmon_account.calls. */
	uint16_t link;
	uint16_t reserved;
};

struct gmonparam {
	int32_t state; /* GMON_PROF_* */
	uint16_t *kcount;
	uint32_t kcountsize; /* Bytes; so are the others. */
	uint16_t *froms;
	uint32_t fromssize;
	struct tostruct *tos;
	uint32_t tossize;
	int32_t tolimit; /* Elements of tos. */
	uint32_t lowpc;
	uint32_t highpc;
	uint32_t textsize;
	uint32_t hashfraction;
};

/* States; ON and OFF can be set. */
#define GMON_PROF_ON    0
#define GMON_PROF_BUSY  1 /* It is just being begun or ended. */
#define GMON_PROF_ERROR 2 /* It is off: there was no room, in tos or for ticks. */
#define GMON_PROF_OFF   3

/* The third number.  Whoever writes zeros to a table resets it. */
#define GPROF_STATE     0 /* int */
#define GPROF_COUNT     1 /* kcount */
#define GPROF_FROMS     2
#define GPROF_TOS       3
#define GPROF_GMONPARAM 4
#define GPROF_TICKS     1000 /* Ours: struct gmon_tick, */
#define GPROF_ACCOUNT   1001 /* struct gmon_account, */
#define GPROF_PROCESSES 1002 /* pids of processes that are tracked, int, */
#define GPROF_PROCESS   1003 /* and struct gmon_call: the fourth number says whose. */

/*
 * Whoever writes pids to GPROF_PROCESSES has the kernel count its calls for each of them from then
 * on, with none to begin with; writing none ends and forgets that.  GPROF_PROCESS tells what was
 * counted for a pid of theirs, also when the process is gone, or for what is no process's.
 */
#define GPROF_PROCESSES_MAX 31
#define GPROF_OF_SYSTEM     0    /* Nobody's: interrupts, the scheduler's ticks. */
#define GPROF_OF_OTHERS     (-1) /* Of all who are not tracked. */

struct gmon_call {
	uint32_t frompc; /* Where the call returns to; 0: by the function's address in a table. */
	uint32_t selfpc; /* The function called. */
	uint64_t count;
};

/*
 * The same ticks, exactly and of each CPU.  An element of count 0 is none.  Ticks that found a CPU
 * idle have the idle function's address.
 */
struct gmon_tick {
	uint32_t pc;
	uint32_t cpu; /* GMON_TICK_IDLE is added to it. */
	uint32_t count;
};

#define GMON_TICK_IDLE 0x80000000u

/*
 * What became of a CPU's due times since the last reset, as struct prof_clock of <mach/prof.h>; and
 * of its samples.
 */
struct gmon_clock {
	uint64_t due; /* fired + missed + parked */
	uint64_t fired;
	uint64_t missed;
	uint64_t parked;
	uint64_t idle;
	uint64_t elsewhere;
	uint64_t taken; /* fired - idle - elsewhere */

	/* Of those samples, as of all in struct gmon_account. */
	uint64_t delivered;
	uint64_t user;
	uint64_t uncounted;
};

#define GMON_CPUS 32

/*
 * What became of the samples since the last reset, so that none is lost in silence:
 *
 *	taken == delivered + lost + buffered
 *	delivered == user + uncounted + those of GPROF_TICKS that are not idle
 *
 * It is as of the moment at which ticks were brought last.  A CPU's samples that were taken and not
 * delivered were lost, or are still with the kernel.
 */
struct gmon_account {
	uint64_t taken;
	uint64_t delivered;
	uint64_t lost;      /* By the kernel, for want of room. */
	uint64_t buffered;  /* Still with the kernel. */
	uint64_t user;      /* Taken in user mode: no ticks. */
	uint64_t uncounted; /* In the kernel, but there was no memory to count them. */
	uint64_t calls;     /* In no element of tos: counted by the kernel only. */
	struct gmon_clock clocks[GMON_CPUS];
};

/* The header of a gmon.out of 4.4BSD; kcount follows, and then arcs to the end of the file. */
struct gmonhdr {
	uint32_t lpc;
	uint32_t hpc;
	int32_t ncnt; /* Bytes of this and of kcount. */
	int32_t version;
	int32_t profrate;
	int32_t spare[3];
};

#define GMONVERSION 0x00051879

struct rawarc {
	uint32_t raw_frompc;
	uint32_t raw_selfpc;
	int32_t raw_count;
};

/* ---------------- A program's own (docs/calls/monitor.md), by the C library ---------------- */

void monstartup(unsigned long lowpc, unsigned long highpc);

/* Goes on with it, or not (0). */
void moncontrol(int mode);

/*
 * monitor(lowpc, highpc, buffer, bufsize, nfunc) begins with counters in a buffer of `bufsize` of
 * them; monitor(0) ends what was begun by whatever function and writes gmon.out.
 */
void monitor(const void *lowpc, ...);

/* The same as monitor(0), by the name that 4.4BSD and GNU have. */
void _mcleanup(void);

#endif
