/* SPDX-License-Identifier: MIT */
/*
 * Who pays for what, as tests ask for it.  The program's first argument is ${host-port}.
 */
#ifndef TEST_OWNERS_H
#define TEST_OWNERS_H

#include <mach.h>
#include <mach/owner.h>
#include <stdbool.h>
#include <stdint.h>

/* Numbers of owners that pay for nothing else. */
enum {
	ALICE = 100,
	BOB = 200,
};

mach_port_t host_priv(void);
mach_port_t self(void);

/* False if nothing is charged to the owner; then 0 are used of each kind. */
bool owner_uses(unsigned owner, owner_uses_t *uses);
uint32_t used(unsigned owner, enum owner_kind kind);
bool is_unknown(unsigned owner);

kern_return_t set_limit(unsigned owner, enum owner_kind kind, uint32_t limit);

/* A task without memory that `owner` pays. */
mach_port_t task_of(unsigned owner);

/* What this task takes from now on, and its messages, are the owner's to pay. */
void become(unsigned owner);

#endif
