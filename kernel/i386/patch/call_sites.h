/* SPDX-License-Identifier: MIT */
/*
 * Where the kernel's calls are: the table that tools/callsites makes when the kernel is linked.
 *
 * A site is a word in the image that can be pointed to another function: the displacement of a
 * direct call, or of a jump that ends a function by another one; and a function's address in a
 * table.  Sites have numbers, calls first, each by rising addresses.
 */
#ifndef I386_PATCH_CALL_SITES_H
#define I386_PATCH_CALL_SITES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct call_sites {
	uint32_t first_constant; /* Calls come before it. */
	uint32_t first_in_table; /* Addresses in what can only be read, and then in MIG's tables, */
	uint32_t count;          /* which lie among the data. */
	uint8_t steps[];         /* From each site to the next, in groups of seven bits. */
};

/* The first of the kernel's two links has no table; the address is zero there. */
extern const struct call_sites call_sites __attribute__((weak));

/* A place in the table, and the site that is there. */
struct site {
	const uint8_t *next;
	uint32_t number;
	uint32_t address; /* Of the word that says where it leads. */
};

/* The first site; false if there is none. */
bool site_first(struct site *site);
bool site_next(struct site *site);

static inline uint32_t site_count(void)
{
	return &call_sites == NULL ? 0 : call_sites.count;
}

static inline bool site_is_call(const struct site *site)
{
	return site->number < call_sites.first_constant;
}

/* A word that may lie at any address. */
struct unaligned {
	uint32_t word;
} __attribute__((packed));

/* Where the site leads now. */
static inline uint32_t site_target(const struct site *site)
{
	uint32_t word = ((const volatile struct unaligned *)site->address)->word;

	return site_is_call(site) ? site->address + sizeof word + word : word;
}

/* The word that has it lead to `target`. */
static inline uint32_t site_word_for(const struct site *site, uint32_t target)
{
	return site_is_call(site) ? target - site->address - sizeof target : target;
}

#endif
