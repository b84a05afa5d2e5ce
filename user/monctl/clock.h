/* SPDX-License-Identifier: MIT */
/* Warnings of a clock that is not exact. */
#ifndef MONCTL_CLOCK_H
#define MONCTL_CLOCK_H

#include <stddef.h>

void clock_warn(void);

/* Warns if the gmon.out says that its clock was none that is exact. */
void clock_check_file(const void *data, size_t size);

#endif
