/* SPDX-License-Identifier: MIT */
/*
 * Semaphores: numbers that several processes count down and up, and wait for while they are 0.
 *
 * Who has counted down and ends has not counted up: nobody does it for him.  Routines of
 * defs/ux/bsd.defs, called with the server's lock held.
 */
#include <ux/bsd_server.h>

#include "file/named.h"
#include "trace/trace.h"

#define VALUE_MAX 0x7fffffffu

static const struct file_operations semaphore_file = {
	.stat = named_stat,
	.close = named_close,
};

kern_return_t ux_sem_open(struct thread *caller, const char *name, int flags, unsigned mode,
			  unsigned value, int *fd, unsigned *number)
{
	const struct named_opening opening = {NAMED_SEMAPHORE, name, flags | O_RDWR, mode, value};
	struct named *named;
	int error;

	trace_path(caller->process, name);
	if ((flags & ~(O_CREAT | O_EXCL)) != 0 || ((flags & O_CREAT) != 0 && value > VALUE_MAX))
		return EINVAL;
	error = named_open(caller->process, &opening, &semaphore_file, fd, &named);
	if (error == 0)
		*number = (unsigned)named->number;
	return error;
}

kern_return_t ux_sem_unlink(struct thread *caller, const char *name)
{
	trace_path(caller->process, name);
	return named_unlink(caller->process, NAMED_SEMAPHORE, name);
}

/* The file with a reference, and its semaphore: EBADF, or EINVAL for another file. */
static int semaphore_of(const struct thread *caller, int fd, struct open_file **file,
			struct named **semaphore)
{
	*file = descriptor_file(caller->process, fd);
	if (*file == NULL)
		return EBADF;
	if ((*file)->operations != &semaphore_file) {
		open_file_release(*file);
		return EINVAL;
	}
	*semaphore = (*file)->data;
	return 0;
}

/* How long to wait: up to a time of ux_now(), */
#define AT_NO_TIME 0u
#define FOR_EVER   UINT64_MAX

static int semaphore_sleep(const struct named *semaphore, struct thread *caller, uint64_t deadline)
{
	if (deadline == AT_NO_TIME)
		return EAGAIN;
	if (deadline == FOR_EVER)
		return ux_sleep(&semaphore->value, caller);
	return ux_sleep_thread_until(&semaphore->value, caller, deadline);
}

static int semaphore_count_down(struct thread *caller, int fd, uint64_t deadline)
{
	struct named *semaphore;
	struct open_file *file;
	int error = semaphore_of(caller, fd, &file, &semaphore);

	if (error != 0)
		return error;
	while (error == 0 && semaphore->value == 0)
		error = semaphore_sleep(semaphore, caller, deadline);
	if (error == 0)
		semaphore->value--;
	open_file_release(file);
	return error;
}

kern_return_t ux_sem_wait(struct thread *caller, int fd, int waits)
{
	return semaphore_count_down(caller, fd, waits != 0 ? FOR_EVER : AT_NO_TIME);
}

/* If the time has come already, it is still asked whether one need wait at all. */
kern_return_t ux_sem_timedwait(struct thread *caller, int fd, uint64_t until)
{
	uint64_t now = ux_now(), wall = ux_wall_time();
	uint64_t left = until > wall ? until - wall : 0;

	return semaphore_count_down(caller, fd, left < FOR_EVER - now ? now + left : FOR_EVER);
}

kern_return_t ux_sem_post(struct thread *caller, int fd)
{
	struct named *semaphore;
	struct open_file *file;
	int error = semaphore_of(caller, fd, &file, &semaphore);

	if (error != 0)
		return error;
	if (semaphore->value == VALUE_MAX) {
		error = EOVERFLOW;
	} else {
		semaphore->value++;
		ux_wakeup(&semaphore->value);
	}
	open_file_release(file);
	return error;
}

kern_return_t ux_sem_getvalue(struct thread *caller, int fd, unsigned *value)
{
	struct named *semaphore;
	struct open_file *file;
	int error = semaphore_of(caller, fd, &file, &semaphore);

	if (error != 0)
		return error;
	*value = semaphore->value;
	open_file_release(file);
	return 0;
}
