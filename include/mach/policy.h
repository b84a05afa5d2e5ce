/* SPDX-License-Identifier: MIT */
/* Scheduling policies. */
#ifndef MACH_POLICY_H
#define MACH_POLICY_H

#define POLICY_TIMESHARE 1
#define POLICY_FIXEDPRI  2
#define POLICY_LAST      2

#define invalid_policy(policy) ((policy) <= 0 || (policy) > POLICY_LAST)

#endif
