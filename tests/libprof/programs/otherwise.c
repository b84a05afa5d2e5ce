/* SPDX-License-Identifier: MIT */
/* Linked with another program: says of everything that may be said otherwise that it is. */
#include <gprof.h>

static char name[] = "/tmp/other.out";

char *gprof_gmon_out = name;
int gprof_format = GPROF_BSD;
int gprof_no_control_server = 1;
