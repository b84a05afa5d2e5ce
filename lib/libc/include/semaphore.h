/* SPDX-License-Identifier: MIT */
/* Semaphores that have names.  See docs/calls/sem_open.md. */
#ifndef _SEMAPHORE_H
#define _SEMAPHORE_H

#include <fcntl.h>
#include <sys/types.h>
#include <time.h>

#define SEM_VALUE_MAX 0x7fffffffu

typedef struct __semaphore sem_t;

#define SEM_FAILED ((sem_t *)0)

/* With O_CREAT mode_t mode and unsigned value follow. */
sem_t *sem_open(const char *name, int flags, ...);
int sem_close(sem_t *semaphore);
int sem_unlink(const char *name);

int sem_wait(sem_t *semaphore);
int sem_trywait(sem_t *semaphore);
int sem_timedwait(sem_t *semaphore, const struct timespec *until);
int sem_post(sem_t *semaphore);
int sem_getvalue(sem_t *semaphore, int *value);

#endif
