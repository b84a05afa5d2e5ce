/* SPDX-License-Identifier: MIT */
/*
 * The host's threads, for tests of the Unix server: its one lock, and waits for a channel.
 *
 * Apart from the rest because the host's headers and the server's have types of the same names.
 */
#ifndef HOST_UX_THREADS_H
#define HOST_UX_THREADS_H

#include <stdbool.h>

void host_lock(void);
void host_unlock(void);
bool host_lock_held(void); /* By this thread. */

/* Waits, with the lock given up, for host_wake(channel).  False: nobody is left who could. */
bool host_wait(const void *channel);
void host_wake(const void *channel);

/*
 * Lets others run, in the middle of what takes long; if host_is_orderly, until each of them waits
 * or has ended, or has come here before.
 */
void host_yield(void);
extern bool host_is_orderly;

/* Runs run(0) ... run(n - 1) at the same time, and waits for the end of all. */
void host_run(unsigned n, void (*run)(unsigned number));

#endif
