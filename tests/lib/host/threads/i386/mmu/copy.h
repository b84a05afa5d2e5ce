/* SPDX-License-Identifier: MIT */
/*
 * In place of kernel/i386/mmu/copy.h on the host, where there is no user's half: for tests that say
 * so in their flags, and copy nothing.
 */
#ifndef I386_MMU_COPY_H
#define I386_MMU_COPY_H

#include <stdint.h>

typedef uint32_t user_address_t;

#endif
