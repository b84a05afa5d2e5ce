/* SPDX-License-Identifier: MIT */
/*
 * Semaphores with names.  Each is a descriptor of the server's, and here a place in memory: the
 * same for all sem_open() of the same semaphore, as POSIX has it.
 */
#include <semaphore.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/ux.h>

#include "../internal.h"
#include "call.h"

#define NANOS_PER_SECOND 1000000000

struct __semaphore {
	sem_t *next;
	int fd;
	unsigned number; /* The server's, by which the same one is known, */
	unsigned opened; /* and how often it has been opened and not closed. */
};

static sem_t *all;
static libc_lock_t lock = LIBC_LOCK_INITIALIZER;

/* ---------------- Which are open ---------------- */

static sem_t *find(unsigned number)
{
	sem_t *found = all;

	while (found != NULL && found->number != number)
		found = found->next;
	return found;
}

static void forget(sem_t *semaphore)
{
	sem_t **link = &all;

	while (*link != semaphore)
		link = &(*link)->next;
	*link = semaphore->next;
	free(semaphore);
}

/* The one for the descriptor, which is closed if there is one already; null without memory. */
static sem_t *enter(int fd, unsigned number)
{
	sem_t *semaphore = find(number);
	sem_t *made = semaphore == NULL ? malloc(sizeof *made) : NULL;

	if (made != NULL) {
		*made = (sem_t){.next = all, .fd = fd, .number = number};
		all = semaphore = made;
	} else {
		bsd_close(ux_port(), fd);
	}
	if (semaphore != NULL)
		semaphore->opened++;
	return semaphore;
}

sem_t *sem_open(const char *name, int flags, ...)
{
	unsigned mode = 0, value = 0, number;
	sem_t *semaphore;
	va_list rest;
	int fd;

	if ((flags & O_CREAT) != 0) {
		va_start(rest, flags);
		mode = va_arg(rest, mode_t);
		value = va_arg(rest, unsigned);
		va_end(rest);
	}
	if (finish(PATH_CALL(bsd_sem_open, name, flags, mode, value, &fd, &number)) != 0)
		return SEM_FAILED;
	__lock(&lock);
	semaphore = enter(fd, number);
	__unlock(&lock);
	if (semaphore == NULL)
		errno = ENOMEM;
	return semaphore;
}

int sem_close(sem_t *semaphore)
{
	int result = 0;

	if (is_bad(semaphore, sizeof *semaphore))
		return finish(EINVAL);
	__lock(&lock);
	if (--semaphore->opened == 0) {
		result = bsd_close(ux_port(), semaphore->fd);
		forget(semaphore);
	}
	__unlock(&lock);
	return finish(result);
}

int sem_unlink(const char *name)
{
	return finish(PATH_CALL(bsd_sem_unlink, name));
}

/* Of shared memory as well, which has names of the same kind. */
int ux_named_next(uint32_t after, struct ux_named *named)
{
	if (is_bad(named, sizeof *named))
		return finish(EFAULT);
	return finish(CALL(bsd_named_next, after, named));
}

/* ---------------- What they are for ---------------- */

/* A descriptor that has been closed otherwise is no semaphore's. */
static int finish_semaphore(kern_return_t result)
{
	return finish(result == EBADF ? EINVAL : result);
}

int sem_wait(sem_t *semaphore)
{
	if (is_bad(semaphore, sizeof *semaphore))
		return finish(EINVAL);
	return finish_semaphore(CALL(bsd_sem_wait, semaphore->fd, 1));
}

int sem_trywait(sem_t *semaphore)
{
	if (is_bad(semaphore, sizeof *semaphore))
		return finish(EINVAL);
	return finish_semaphore(CALL(bsd_sem_wait, semaphore->fd, 0));
}

/* A time before 1970 has passed like any other. */
int sem_timedwait(sem_t *semaphore, const struct timespec *until)
{
	uint64_t nanoseconds = 0;

	if (is_bad(semaphore, sizeof *semaphore))
		return finish(EINVAL);
	if (is_bad(until, sizeof *until))
		return finish(EFAULT);
	if (until->tv_nsec < 0 || until->tv_nsec >= NANOS_PER_SECOND)
		return finish(EINVAL);
	if (until->tv_sec >= 0)
		nanoseconds = (uint64_t)until->tv_sec * NANOS_PER_SECOND + (uint64_t)until->tv_nsec;
	return finish_semaphore(CALL(bsd_sem_timedwait, semaphore->fd, nanoseconds));
}

int sem_post(sem_t *semaphore)
{
	if (is_bad(semaphore, sizeof *semaphore))
		return finish(EINVAL);
	return finish_semaphore(CALL(bsd_sem_post, semaphore->fd));
}

int sem_getvalue(sem_t *semaphore, int *value)
{
	unsigned now = 0;

	if (is_bad(semaphore, sizeof *semaphore))
		return finish(EINVAL);
	if (is_bad(value, sizeof *value))
		return finish(EFAULT);
	if (finish_semaphore(CALL(bsd_sem_getvalue, semaphore->fd, &now)) != 0)
		return -1;
	*value = (int)now;
	return 0;
}
