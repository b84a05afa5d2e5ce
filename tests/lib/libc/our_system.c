/* SPDX-License-Identifier: MIT */
/* The system below the C library that is tested: the host's calls, whose numbers are ours. */
#define _GNU_SOURCE
#include "our.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

struct our_host our_host;

int *our___errno_location(void)
{
	static _Thread_local int number;

	return &number;
}

static int done(long result)
{
	if (result < 0)
		our_errno = errno;
	return (int)result;
}

static size_t limited(size_t size)
{
	return our_host.most != 0 && size > our_host.most ? our_host.most : size;
}

int our_read(int descriptor, void *to, size_t size);
int our_write(int descriptor, const void *from, size_t size);
int our_open(const char *path, int flags, unsigned mode);
int our_close(int descriptor);
int64_t our_lseek(int descriptor, int64_t offset, int whence);
int our_isatty(int descriptor);
int our_dup2(int from, int to);
int our_fcntl(int descriptor, int command, int argument);
int our_pipe(int *ends);
int our_unlink(const char *path);
int our_rmdir(const char *path);
int our_mkdir(const char *path, unsigned mode);
int our_access(const char *path, int mode);
int our_getpid(void);
int our_fork(void);
int our_execve(const char *path, char *const *arguments, char *const *environment);
int our_waitpid(int child, int *status, int options);
int our_raise(int number);
int our_sigaction(int number, const void *action, void *old);
int our_sigprocmask(int how, const void *set, void *old);
int our_sigemptyset(uint64_t *set);
int our_sigaddset(uint64_t *set, int number);
_Noreturn void our__exit(int status);
void our___lock(int *lock);
void our___unlock(int *lock);
int our___thread_id(void);
void *our___pages_allocate(size_t bytes);
void our___pages_free(void *pages, size_t bytes);

int our_read(int descriptor, void *to, size_t size)
{
	return done(read(descriptor, to, limited(size)));
}

int our_write(int descriptor, const void *from, size_t size)
{
	our_host.writes++;
	if (our_host.write_error != 0 && our_host.writes_good-- == 0) {
		our_errno = our_host.write_error;
		our_host.write_error = 0;
		return -1;
	}
	return done(write(descriptor, from, limited(size)));
}

int our_open(const char *path, int flags, unsigned mode)
{
	return done(open(path, flags, mode));
}

int our_close(int descriptor)
{
	return done(close(descriptor));
}

int64_t our_lseek(int descriptor, int64_t offset, int whence)
{
	int64_t result = lseek(descriptor, offset, whence);

	done(result < 0 ? -1 : 0);
	return result;
}

int our_isatty(int descriptor)
{
	return descriptor >= 0 && our_host.is_terminal;
}

int our_dup2(int from, int to)
{
	return done(dup2(from, to));
}

int our_fcntl(int descriptor, int command, int argument)
{
	return done(fcntl(descriptor, command, argument));
}

int our_pipe(int *ends)
{
	return done(pipe(ends));
}

int our_unlink(const char *path)
{
	return done(unlink(path));
}

int our_rmdir(const char *path)
{
	return done(rmdir(path));
}

int our_mkdir(const char *path, unsigned mode)
{
	return done(mkdir(path, mode));
}

int our_access(const char *path, int mode)
{
	return done(access(path, mode));
}

int our_getpid(void)
{
	return getpid();
}

/* As the system's half of the library does it. */
int our_fork(void)
{
	int child;

	our___stdio_before_fork();
	our___malloc_before_fork();
	child = fork();
	our___malloc_after_fork(child == 0);
	our___stdio_after_fork(child == 0);
	return done(child);
}

int our_execve(const char *path, char *const *arguments, char *const *environment)
{
	return done(execve(path, arguments, environment));
}

int our_waitpid(int child, int *status, int options)
{
	return done(waitpid(child, status, options));
}

int our_raise(int number)
{
	return raise(number);
}

int our_sigaction(int number, const void *action, void *old)
{
	(void)action;
	(void)old;
	return signal(number, SIG_DFL) == SIG_ERR ? -1 : 0;
}

int our_sigprocmask(int how, const void *set, void *old)
{
	(void)how;
	(void)set;
	(void)old;
	return 0;
}

int our_sigemptyset(uint64_t *set)
{
	*set = 0;
	return 0;
}

int our_sigaddset(uint64_t *set, int number)
{
	*set |= 1ull << (number - 1);
	return 0;
}

void our__exit(int status)
{
	_exit(status);
}

void our___lock(int *lock)
{
	while (__atomic_exchange_n(lock, 1, __ATOMIC_ACQUIRE) != 0)
		sched_yield();
	__atomic_fetch_add(&our_host.locks, 1, __ATOMIC_RELAXED);
}

void our___unlock(int *lock)
{
	__atomic_fetch_sub(&our_host.locks, 1, __ATOMIC_RELAXED);
	__atomic_store_n(lock, 0, __ATOMIC_RELEASE);
}

int our___thread_id(void)
{
	return our_host.thread != 0 ? our_host.thread : gettid();
}

void *our___pages_allocate(size_t bytes)
{
	void *pages;

	if (our_host.pages_most != 0 && our_host.pages + bytes > our_host.pages_most)
		return NULL;
	pages = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (pages == MAP_FAILED)
		return NULL;
	our_host.pages += bytes;
	return pages;
}

void our___pages_free(void *pages, size_t bytes)
{
	our_host.pages -= bytes;
	if (munmap(pages, bytes) != 0)
		abort();
}
