/* SPDX-License-Identifier: MIT */
/* What a program may say otherwise, by a definition of its own. */
#include "gprof.h"

#define CHANGEABLE __attribute__((weak))

CHANGEABLE int gprof_no_auto_initialization_from_crt0 = 0;
CHANGEABLE int gprof_no_startup_from_crt0 = 0;
CHANGEABLE int gprof_no_control_server = 0;
CHANGEABLE int gprof_owner_only = 0;
CHANGEABLE int gprof_format = GPROF_GNU;
static char usual_name[] = "gmon.out";
CHANGEABLE char *gprof_gmon_out = usual_name;
