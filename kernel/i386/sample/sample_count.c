/* SPDX-License-Identifier: MIT */
/* Counts that lie in the memory of users: prof/profil.h. */
#include "base/assert.h"
#include "i386/cpu/cpu.h"
#include "i386/mmu/copy.h"
#include "prof/profil.h"

/*
 * Two instructions, however often others write to the count meanwhile.  A fault at one of them is
 * not resolved, since interrupts are off (i386/entry/trap.c).
 */
static bool sample_add_to_count(user_address_t at, uint16_t more)
{
	__asm__ goto("1: lock addw %1, %0\n"
		     "jnc 3f\n"
		     "2: movw %2, %0\n"
		     "3:\n"
		     ".pushsection .recover, \"a\"\n"
		     ".long 1b, %l[fault], 2b, %l[fault]\n"
		     ".popsection"
		     :
		     : "m"(*(uint16_t *)at), "r"(more), "i"(UINT16_MAX)
		     : "memory", "cc"
		     : fault);
	return true;
fault:
	return false;
}

bool machine_count(uint32_t count, uint32_t more)
{
	bool is_done;

	assert(range_is_user(count, sizeof(uint16_t)));
	interrupts_off();
	is_done = sample_add_to_count(count, (uint16_t)(more < UINT16_MAX ? more : UINT16_MAX));
	interrupts_on();
	return is_done;
}
