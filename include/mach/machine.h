/* SPDX-License-Identifier: MIT */
/* Kinds of processors. */
#ifndef MACH_MACHINE_H
#define MACH_MACHINE_H

#include <mach/vm_types.h>

typedef integer_t cpu_type_t;
typedef integer_t cpu_subtype_t;

#define CPU_TYPE_I386       ((cpu_type_t)7)
#define CPU_TYPE_I486       ((cpu_type_t)17)
#define CPU_TYPE_PENTIUM    ((cpu_type_t)18)
#define CPU_TYPE_PENTIUMPRO ((cpu_type_t)19)

#define CPU_SUBTYPE_AT386 ((cpu_subtype_t)1)

#endif
