/* SPDX-License-Identifier: MIT */
/* Counts that lie in the memory of users: prof/profil.h. */
#include "i386/mmu/copy.h"
#include "prof/profil.h"

/* False if it cannot be written; *is_done is false if it was not `old` any more. */
static bool sample_exchange_count(user_address_t at, uint16_t old, uint16_t new, bool *is_done)
{
	uint16_t found = old;

	__asm__ volatile goto("1: lock cmpxchgw %2, %1\n" WORD_RECOVER
			      : "+a"(found)
			      : "m"(*(uint16_t *)at), "r"(new)
			      : "memory", "cc"
			      : fault);
	*is_done = found == old;
	return true;
fault:
	return false;
}

bool machine_count(uint32_t count, uint32_t more)
{
	bool is_done = false;
	uint16_t old;

	while (!is_done) {
		if (!copyin(&old, count, sizeof old))
			return false;
		if (more > (uint32_t)UINT16_MAX - old)
			more = (uint32_t)UINT16_MAX - old;
		if (!sample_exchange_count(count, old, (uint16_t)(old + more), &is_done))
			return false;
	}
	return true;
}
