/* SPDX-License-Identifier: MIT */
/*
 * Tokens: what a process, its owner and root know, and nobody else.  Guarded by the server's lock.
 *
 * A token is a keyed hash (SipHash-2-4) of the task's number, which no two tasks ever have.  So it
 * is another one after an exec, and nothing has to be kept.  The key is made when the first token
 * is asked for, of the time and of the time stamp counter: a run under the instruction clock has
 * the same tokens each time, and elsewhere a token is worth as much as it is hard to guess, to the
 * cycle, when that was.
 */
#include <ux/bsd_server.h>

#include "process/process.h"
#include "process/thread.h"

#define WORDS         2  /* Of 64 bits in a token; 16 digits each, */
#define DIGITS        30 /* of which so many have room. */
#define PID_CALLER    0
#define ROUNDS        2
#define ROUNDS_AT_END 4

_Static_assert(DIGITS < UX_TOKEN_ROOM && DIGITS <= WORDS * 16, "a token is text");

struct hash {
	uint64_t a, b, c, d;
};

static uint64_t key[2];
static bool has_key;

/* ---------------- SipHash ---------------- */

#define WORD_BITS 64u

static uint64_t token_rotate(uint64_t value, unsigned bits)
{
	return value << bits | value >> (WORD_BITS - bits);
}

static void token_mix(struct hash *hash, unsigned rounds)
{
	while (rounds-- > 0) {
		hash->a += hash->b;
		hash->c += hash->d;
		hash->b = token_rotate(hash->b, 13) ^ hash->a;
		hash->d = token_rotate(hash->d, 16) ^ hash->c;
		hash->a = token_rotate(hash->a, 32) + hash->d;
		hash->c += hash->b;
		hash->d = token_rotate(hash->d, 21) ^ hash->a;
		hash->b = token_rotate(hash->b, 17) ^ hash->c;
		hash->c = token_rotate(hash->c, 32);
	}
}

static void token_hash_add(struct hash *hash, uint64_t word)
{
	hash->d ^= word;
	token_mix(hash, ROUNDS);
	hash->a ^= word;
}

/* The hash of a message of eight bytes. */
static uint64_t token_hash_of(uint64_t word)
{
	struct hash hash = {
		.a = key[0] ^ 0x736f6d6570736575,
		.b = key[1] ^ 0x646f72616e646f6d,
		.c = key[0] ^ 0x6c7967656e657261,
		.d = key[1] ^ 0x7465646279746573,
	};

	token_hash_add(&hash, word);
	token_hash_add(&hash, (uint64_t)sizeof word << 56);
	hash.c ^= 0xff;
	token_mix(&hash, ROUNDS_AT_END);
	return hash.a ^ hash.b ^ hash.c ^ hash.d;
}

/* ---------------- Tokens ---------------- */

static void token_make_key(void)
{
	if (has_key)
		return;
	key[0] = (uint64_t)ux_seconds() << 32 ^ __builtin_ia32_rdtsc();
	key[1] = ux_now();
	key[0] = token_hash_of(key[1]);
	key[1] ^= token_hash_of(__builtin_ia32_rdtsc());
	has_key = true;
}

static void token_write_token(uint32_t task, char token[DIGITS])
{
	static const char digits[16] = "0123456789abcdef";
	uint64_t words[WORDS];

	for (unsigned n = 0; n < WORDS; n++)
		words[n] = token_hash_of((uint64_t)n << 32 | task);
	for (unsigned n = 0; n < DIGITS; n++)
		token[n] = digits[words[n / 16] >> n % 16 * 4 & 0xf];
}

kern_return_t ux_gprof_token(caller_t caller, int pid, bytes_t token,
			     mach_msg_type_number_t *length)
{
	const struct process *one = caller->process, *other = one;

	if (pid != PID_CALLER)
		other = process_by_pid(pid);
	if (other == NULL || other->task == MACH_PORT_NULL)
		return ESRCH;
	if (!may_own(one, other))
		return EPERM;
	/* Names of such a process are its real user's, to whom they might be shown: snames. */
	if (other != one && owner_of(other) != other->credentials.uid)
		return EPERM;
	token_make_key();
	token_write_token(other->task_id, token);
	*length = DIGITS;
	return 0;
}
