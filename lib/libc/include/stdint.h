/* SPDX-License-Identifier: MIT */
/* The compiler's own integer types, also where it expects a C library to have some. */
#ifndef _LIBC_STDINT_H
#define _LIBC_STDINT_H

#ifdef __clang__
#include_next <stdint.h>
#else
#include <stdint-gcc.h>
#endif

#endif
