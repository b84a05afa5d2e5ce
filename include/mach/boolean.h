/* SPDX-License-Identifier: MIT */
/* Mach's truth values: a word in messages. */
#ifndef MACH_BOOLEAN_H
#define MACH_BOOLEAN_H

typedef int boolean_t;

#ifndef TRUE
#define TRUE ((boolean_t)1)
#endif
#ifndef FALSE
#define FALSE ((boolean_t)0)
#endif

#endif
