/* SPDX-License-Identifier: MIT */
/* Parts of devices' numbers, where Linux's programs look for them. */
#ifndef _SYS_SYSMACROS_H
#define _SYS_SYSMACROS_H

#include <sys/types.h>

#endif
