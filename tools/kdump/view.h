/* SPDX-License-Identifier: MIT */
/* Traces for other programs: the host's kdump can, the guest's says so. */
#ifndef KDUMP_VIEW_H
#define KDUMP_VIEW_H

#include "ktrace/print.h"

/* Writes the view of that name to print->out; false with a message if there is none. */
bool view_write(const char *name, struct ktrace_print *print);

#endif
