/* SPDX-License-Identifier: MIT */
/*
 * What a Unix program does, kind by kind: each function uses what it gets and gives it back, and
 * answers 0, or the error of the first call that failed.  For tests in which memory is out.  And
 * how much the server has, of which root can read how many pieces are in use.
 */
#ifndef USES_H
#define USES_H

#include <assay.h>
#include <dirent.h>
#include <mach.h>
#include <mach/map_fd.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <sys/gmon.h>
#include <sys/ktrace.h>
#include <sys/mman.h>
#include <sys/sysctl.h>
#include <sys/time.h>
#include <sys/ux.h>

#include "help.h"
#include "server_words.h"

#define F "/tmp/shortage.f"
#define G "/tmp/shortage.g"
#define D "/tmp/shortage.d"
#define M "/shortage" /* Of memory and of a semaphore. */

#define LARGE    (40 * PAGE)
#define PATIENCE 200

static char much[LARGE];

/* ---------------- The server's memory ---------------- */

static vm_address_t test_address, pieces_address;
static unsigned last_argument; /* 0: there is none. */

/* The argument: the addresses of the server's `heap_test` and `n_pieces`, and a number perhaps. */
static bool find_server(void)
{
	char *end;

	server = task_by_pid(0);
	test_address = strtoul(check_argument, &end, 16);
	pieces_address = strtoul(end + 1, &end, 16);
	last_argument = *end == ',' ? strtoul(end + 1, NULL, 10) : 0;
	return server != MACH_PORT_NULL && test_address != 0 && pieces_address != 0;
}

/* Of processes that have ended, something may still be there for a while. */
static unsigned pieces_at_most(unsigned most)
{
	unsigned pieces = read_word(pieces_address);

	for (int patience = PATIENCE; pieces > most && patience > 0; patience--) {
		swtch();
		pieces = read_word(pieces_address);
	}
	return pieces;
}

/* ---------------- Uses ---------------- */

static int error_of(bool success)
{
	return success ? 0 : errno;
}

/* The first of two errors. */
static int either(int one, int other)
{
	return one != 0 ? one : other;
}

static int use_file(void)
{
	int fd = open(F, O_CREAT | O_EXCL | O_RDWR, 0600), error = error_of(fd >= 0), copy;

	if (error != 0) {
		EXPECT_FAILS(access(F, F_OK), ENOENT);
		return error;
	}
	copy = dup(fd);
	error = either(error, error_of(copy >= 0));
	error = either(error, error_of(write(fd, much, 100) == 100));
	error = either(error, error_of(lseek(fd, 0, SEEK_SET) == 0 && read(fd, much, 100) == 100));
	error = either(error, error_of(fsync(fd) == 0));
	close(copy);
	close(fd);
	return either(error, error_of(unlink(F) == 0));
}

static int use_large_file(void)
{
	int fd = open(F, O_CREAT | O_EXCL | O_RDWR, 0600), error = error_of(fd >= 0);

	if (error != 0)
		return error;
	error = either(error, error_of(write(fd, much, LARGE) == LARGE));
	error = either(error, error_of(lseek(fd, 0, SEEK_SET) == 0));
	error = either(error, error_of(read(fd, much, LARGE) == LARGE));
	error = either(error, error_of(ftruncate(fd, 0) == 0));
	close(fd);
	return either(error, error_of(unlink(F) == 0));
}

/* What could not be removed because that failed. */
static void clean_up(void)
{
	unlink(F);
	unlink(D);
	rmdir(D);
	shm_unlink(M);
	sem_unlink(M);
}

static int use_names(void)
{
	struct stat status;
	int fd = open(G, O_CREAT | O_WRONLY, 0600), error = error_of(fd >= 0);

	close(fd);
	error = either(error, error_of(link(G, F) == 0 && unlink(F) == 0));
	error = either(error, error_of(mkfifo(F, 0600) == 0));
	fd = open(F, O_RDWR);
	error = either(error, error_of(fd >= 0));
	error = either(error, error_of(close(fd) == 0 && unlink(F) == 0));
	error = either(error, error_of(symlink(G, F) == 0 && readlink(F, much, PAGE) > 0));
	error = either(error, error_of(stat(F, &status) == 0));
	error = either(error, error_of(chmod(F, 0644) == 0 && chown(F, 1, 1) == 0));
	error = either(error, error_of(truncate(F, 10) == 0 && utimes(F, NULL) == 0));
	error = either(error, error_of(rename(F, D) == 0));
	clean_up();
	unlink(G);
	return error;
}

static int use_directory(void)
{
	char path[100];
	DIR *directory;
	int error = error_of(mkdir(D, 0700) == 0);

	if (error != 0) {
		EXPECT_FAILS(access(D, F_OK), ENOENT);
		return error;
	}
	directory = opendir(D);
	error = either(error, error_of(directory != NULL && readdir(directory) != NULL));
	if (directory != NULL)
		closedir(directory);
	error = either(error, error_of(chdir(D) == 0 && getcwd(path, sizeof path) != NULL));
	chdir("/");
	return either(error, error_of(rmdir(D) == 0));
}

static int use_pipe(void)
{
	int ends[2], error = error_of(pipe(ends) == 0);

	if (error != 0)
		return error;
	error = either(error, error_of(write(ends[1], "x", 1) == 1 && read(ends[0], much, 1) == 1));
	close(ends[0]);
	close(ends[1]);
	return error;
}

static int use_devices(void)
{
	int null = open("/dev/null", O_RDWR), zero, error = error_of(null >= 0);

	zero = open("/dev/zero", O_RDONLY);
	error = either(error, error_of(zero >= 0 && read(zero, much, LARGE) == LARGE));
	close(zero);
	close(null);
	return error;
}

/* The error of a child that ends with it. */
static int error_of_child(pid_t pid)
{
	int status = status_of(pid);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static int use_process(void)
{
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return pid > 0 ? error_of_child(pid) : errno;
}

static int execute(const char *path)
{
	pid_t pid = fork();

	if (pid == 0) {
		execl(path, path, (char *)NULL);
		_exit(errno);
	}
	return pid > 0 ? error_of_child(pid) : errno;
}

static int use_program(void)
{
	return execute("/bin/true");
}

static int use_script(void)
{
	static const char text[] = "#!/bin/true\n";
	int fd = open(G, O_CREAT | O_TRUNC | O_WRONLY, 0755), error = error_of(fd >= 0);

	if (error == 0)
		error = error_of(write(fd, text, sizeof text - 1) == sizeof text - 1);
	close(fd);
	if (error == 0)
		error = execute(G);
	unlink(G);
	return error;
}

static void *be_thread(void *unused)
{
	return unused;
}

static int use_thread(void)
{
	pthread_t thread;
	int error = pthread_create(&thread, NULL, be_thread, NULL);

	return error != 0 ? error : pthread_join(thread, NULL);
}

static void handle(int signal)
{
	(void)signal;
}

static int use_signals(void)
{
	const struct itimerval soon = {{0, 0}, {0, 10000}};
	sigset_t alarm, none;
	int error;

	sigemptyset(&none);
	sigemptyset(&alarm);
	sigaddset(&alarm, SIGALRM);
	error = error_of(signal(SIGUSR1, handle) != SIG_ERR && signal(SIGALRM, handle) != SIG_ERR);
	error = either(error, error_of(sigprocmask(SIG_BLOCK, &alarm, NULL) == 0));
	if (error == 0)
		error = error_of(kill(getpid(), SIGUSR1) == 0);
	error = either(error, error_of(setitimer(ITIMER_REAL, &soon, NULL) == 0));
	if (error == 0)
		sigsuspend(&none);
	return error;
}

static int use_information(void)
{
	struct ux_process_info processes[8];
	int count = ux_processes(processes, 8);

	return error_of(count >= 2);
}

static int use_values(void)
{
	char text[100];
	size_t size = sizeof text;

	return error_of(sysctlbyname("kern.hostname", text, &size, NULL, 0) == 0);
}

/* Calls of the kernel's for this process; what was begun is ended. */
static int use_counts(void)
{
	const int all[] = {CTL_KERN, KERN_PROF, GPROF_PROCESSES}, pid = getpid();
	const int one[] = {CTL_KERN, KERN_PROF, GPROF_PROCESS, pid};
	int error = error_of(sysctl(all, 3, NULL, NULL, &pid, sizeof pid) == 0);
	size_t size = LARGE;

	if (error == 0)
		error = error_of(sysctl(one, 4, much, &size, NULL, 0) == 0);
	return either(error, error_of(sysctl(all, 3, NULL, NULL, &pid, 0) == 0));
}

static int use_mapping(void)
{
	int fd = open("/etc/passwd", O_RDONLY), error = error_of(fd >= 0);
	vm_address_t address = 0;
	kern_return_t result;

	if (fd < 0)
		return error;
	result = map_fd(fd, 0, &address, TRUE, PAGE);
	if (result == KERN_SUCCESS) {
		memcpy(much, (void *)address, 100);
		vm_deallocate(mach_task_self(), address, PAGE);
	}
	close(fd);
	return result == KERN_SUCCESS ? 0 : ENOMEM;
}

static int use_shared_memory(void)
{
	int fd = shm_open(M, O_CREAT | O_EXCL | O_RDWR, 0600), error = error_of(fd >= 0);
	volatile char *memory = MAP_FAILED;

	if (error != 0) {
		EXPECT_FAILS(shm_open(M, O_RDWR, 0), ENOENT);
		return error;
	}
	error = error_of(ftruncate(fd, PAGE) == 0);
	if (error == 0)
		memory = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	error = either(error, error_of(memory != MAP_FAILED));
	if (error == 0) {
		memory[0] = 1;
		munmap((void *)memory, PAGE);
	}
	close(fd);
	return either(error, error_of(shm_unlink(M) == 0));
}

static int use_semaphore(void)
{
	sem_t *semaphore = sem_open(M, O_CREAT | O_EXCL, 0600, 1);
	int error = error_of(semaphore != SEM_FAILED);

	if (error != 0) {
		EXPECT_FAILS(sem_unlink(M), ENOENT);
		return error;
	}
	error = error_of(sem_wait(semaphore) == 0 && sem_post(semaphore) == 0);
	sem_close(semaphore);
	return either(error, error_of(sem_unlink(M) == 0));
}

/* What cannot be recorded is not, and the call that it would be of works. */
static int trace_with(int facilities)
{
	int fd = open(G, O_CREAT | O_TRUNC | O_RDWR, 0600), error = error_of(fd >= 0);

	close(fd);
	if (error != 0)
		return error;
	error = error_of(ktrace(G, KTROP_SET, facilities, getpid()) == 0);
	if (error == 0)
		error = use_process();
	ktrace(NULL, KTROP_CLEAR, facilities, getpid());
	unlink(G);
	return error;
}

static int use_trace(void)
{
	return trace_with(KTRFAC_SYSCALL | KTRFAC_SYSRET | KTRFAC_NAMEI | KTRFAC_GENIO);
}

static int use_trace_of_waits(void)
{
	return trace_with(KTRFAC_CSW);
}

static const struct use {
	const char *name;
	int (*run)(void);
} uses[] = {
	{"files", use_file},
	{"large files", use_large_file},
	{"names", use_names},
	{"directories", use_directory},
	{"pipes", use_pipe},
	{"devices", use_devices},
	{"processes", use_process},
	{"programs", use_program},
	{"scripts", use_script},
	{"threads", use_thread},
	{"signals", use_signals},
	{"information", use_information},
	{"values of the system", use_values},
	{"counts", use_counts},
	{"mappings", use_mapping},
	{"shared memory", use_shared_memory},
	{"semaphores", use_semaphore},
	{"traces", use_trace},
	{"traces of waits", use_trace_of_waits},
};

#define N_USES (sizeof uses / sizeof uses[0])

#endif
