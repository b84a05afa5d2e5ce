/* SPDX-License-Identifier: MIT */
/*
 * Clients: behind the stack of a thread that works for another the stacks of those who wait for it
 * (SAMPLE_CLIENTS).
 *
 * They are read while they wait, so nobody has to be asked to remember anything: a client cannot go
 * on before what was sampled has answered it.  Guarded by the kernel lock.
 */
#ifndef PROF_CLIENTS_H
#define PROF_CLIENTS_H

#include <stdbool.h>
#include <stdint.h>

#include <mach/prof.h>

struct thread;

/* Words that they take at most. */
#define CLIENTS_WORDS(depth) (SAMPLE_CLIENTS_MAX * (sizeof(struct prof_client) / 4 + (depth)))

/*
 * Writes the clients of what `thread` does on behalf of `label` at `to`, each with up to `depth`
 * frames; returns how many words that took.  `answered` gets the CPU after it, and so is the client
 * if that does not wait any more; or NULL.  *cut if they do not reach back to a thread of the
 * label's own task: there are more, or one is not to be found.
 */
uint32_t clients_write(const struct thread *thread, const struct thread *answered, uint32_t label,
		       uint32_t depth, uint32_t *to, bool *cut);

#endif
