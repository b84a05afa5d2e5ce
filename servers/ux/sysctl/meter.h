/* SPDX-License-Identifier: MIT */
/* vm.meter: <sys/vmmeter.h>. */
#ifndef SYSCTL_METER_H
#define SYSCTL_METER_H

#include "sysctl/sysctl.h"

/* As an entry of the table wants it. */
int meter_get(uintptr_t argument, struct sysctl_value *value);

#endif
