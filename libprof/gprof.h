/* SPDX-License-Identifier: MIT */
/*
 * Profiling from within a program: -lprof1.  Its manual is docs/libprof.md.
 *
 * Every variable here is weak: a program that defines one itself says what it is.
 */
#ifndef GPROF_H
#define GPROF_H

#include <mach/kern_return.h>
#include <mach/message.h>
#include <mach/pc_sample.h>
#include <mach/port.h>
#include <servers/gprof_types.h>

extern int gprof_no_auto_initialization_from_crt0; /* TRUE: nothing happens before main(). */
extern int gprof_no_startup_from_crt0;             /* TRUE: there is no sampling to begin with. */
extern int gprof_no_control_server;                /* TRUE: no gprof.<pid> for others. */
extern int gprof_owner_only; /* TRUE: that is for the program's owner and root alone. */
extern int gprof_format;     /* enum gprof_format */
extern char *gprof_gmon_out; /* "gmon.out" */

/* What crt0 calls before main(). */
void monstartup_crt0(void);

/* Begins sampling, with nothing collected.  0, or a kern_return_t or GPROF_* that says why not. */
int gprof_start(sample_pc_flavor_t flavor);

/* Ends sampling and writes the file.  0, or -1, when standard error has been told why. */
int gprof_stop(char *mon_file_name);

/* The halves of gprof_start() and gprof_stop(), and more: see <servers/gprof.h>.  The port may be
 * MACH_PORT_NULL. */
kern_return_t do_gprof_mon_switch(mach_port_t port, sampled_pc_flavor_t *flavors);
kern_return_t do_gprof_mon_dump(mach_port_t port, mon_data_t *mon_data,
				mach_msg_type_number_t *mon_data_cnt);
kern_return_t do_gprof_mon_status(mach_port_t port, gprof_status_t *status);
kern_return_t do_gprof_mon_options(mach_port_t port, gprof_options_t options);

/* Tells the name server of gprof.<pid>; monstartup_crt0() does it unless it is told not to. */
kern_return_t gprof_control_server_init(void);

#endif
