/* SPDX-License-Identifier: MIT */
/*
 * Copying to and from user memory: the only way the kernel follows a user's pointer.
 *
 * A pointer from a user is an allegation.  It has a type of its own here (an address, not a C
 * pointer), and only these functions turn it into access.  They survive any address: false means
 * that some of the range is not the user's to read or write, and what was copied before is
 * undefined.  May block (the page may come from a pager): nothing may be half changed.
 */
#ifndef I386_COPY_H
#define I386_COPY_H

#include <stdbool.h>
#include <stdint.h>

typedef uint32_t user_address_t;

bool copyin(void *to, user_address_t from, uint32_t size);
bool copyout(user_address_t to, const void *from, uint32_t size);

/*
 * Copies a string with its terminating zero, at most `size` bytes.  Returns its length, `size` if
 * it does not end in time, or COPY_FAULT.
 */
#define COPY_FAULT UINT32_MAX
uint32_t copyin_string(char *to, user_address_t from, uint32_t size);

#endif
