/* SPDX-License-Identifier: MIT */
/* What date.c and format.c share. */
#ifndef LIBC_TIME_NAMES_H
#define LIBC_TIME_NAMES_H

extern const char *const __day_names[7]; /* From Sunday on. */
extern const char *const __month_names[12];

int __days_in_year(int year); /* `year` as in struct tm. */

#endif
