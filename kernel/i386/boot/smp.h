/* SPDX-License-Identifier: MIT */
/* Starting the other CPUs. */
#ifndef I386_BOOT_SMP_H
#define I386_BOOT_SMP_H

#include "i386/devices/acpi.h"

/*
 * Starts the CPUs of `machine` other than this one, at most `most` in all.  One that does not come
 * up is left out, with a line in the log.  Under the kernel lock.
 */
void start_cpus(const struct acpi_machine *machine, unsigned most);

#endif
