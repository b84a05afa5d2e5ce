/* SPDX-License-Identifier: MIT */
/* Limits and small helpers under their old names. */
#ifndef _SYS_PARAM_H
#define _SYS_PARAM_H

#include <limits.h>
#include <sys/types.h>

#define MAXPATHLEN     PATH_MAX
#define MAXHOSTNAMELEN 64
#define NOFILE         OPEN_MAX
#define NGROUPS        NGROUPS_MAX
#define NBBY           8

#define MIN(one, other)       ((one) < (other) ? (one) : (other))
#define MAX(one, other)       ((one) > (other) ? (one) : (other))
#define howmany(number, unit) (((number) + (unit)-1) / (unit))
#define roundup(number, unit) (howmany(number, unit) * (unit))
#define powerof2(number)      ((((number)-1) & (number)) == 0)

#endif
