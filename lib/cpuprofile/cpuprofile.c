/* SPDX-License-Identifier: MIT */
/*
 * Samples, taken by the handler of SIGPROF.
 *
 * The kernel raises the signal in the thread whose use of a CPU has made the timer expire, so the
 * context that the handler gets is what the time went to.  Who called whom is read from the chain
 * of frame pointers.  One lock, `guard`, is for what samples are written with; SIGPROF is blocked
 * for whoever holds it.
 */
#include "cpuprofile.h"

#include <assay.h>
#include <errno.h>
#include <fcntl.h>
#include <mach.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "profile_file.h"

#define DEPTH         64
#define TICK_US       10000u /* The kernel rounds up to this. */
#define US_PER_SECOND 1000000u

static int guard;
static bool is_running;
static pid_t owner; /* A child has the descriptor and the buffer too, but not the timer. */
static struct sigaction before;

static void lock(void)
{
	while (__atomic_exchange_n(&guard, 1, __ATOMIC_ACQUIRE) != 0)
		swtch();
}

static void unlock(void)
{
	__atomic_store_n(&guard, 0, __ATOMIC_RELEASE);
}

/* ---------------- Stacks ---------------- */

/* Up to where the memory is mapped that the stack pointer points into. */
static uint32_t end_of_stack(uint32_t stack_pointer)
{
	mach_port_t self = mach_task_self_cached(), object;
	vm_prot_t protection, max_protection;
	vm_address_t address = stack_pointer;
	vm_inherit_t inheritance;
	vm_offset_t offset;
	boolean_t shared;
	vm_size_t size;

	if (vm_region(self, &address, &size, &protection, &max_protection, &inheritance, &shared,
		      &object, &offset) != KERN_SUCCESS)
		return 0;
	if (MACH_PORT_VALID(object))
		syscall_mach_port_deallocate(self, object);
	return address <= stack_pointer && (protection & VM_PROT_READ) != 0 ? address + size : 0;
}

/*
 * The chain is believed as long as it leads up the stack.  Code without frame pointers may leave
 * anything in the register.
 */
static uint32_t walk(const mcontext_t *registers, uint32_t addresses[DEPTH])
{
	uint32_t least = registers->esp, frame = registers->ebp;
	uint32_t end = end_of_stack(least);
	uint32_t n = 0;

	addresses[n++] = registers->eip;
	while (n < DEPTH && frame >= least && end >= 2 * sizeof frame &&
	       frame <= end - 2 * sizeof frame && frame % sizeof frame == 0) {
		const uint32_t *words = (const uint32_t *)(uintptr_t)frame;

		if (words[1] == 0)
			break;
		addresses[n++] = words[1];
		least = frame + 2 * sizeof frame;
		frame = words[0];
	}
	return n;
}

/* ---------------- Samples ---------------- */

static void take_sample(int signal, siginfo_t *info, void *context)
{
	const ucontext_t *interrupted = context;
	uint32_t addresses[DEPTH];
	int error = errno;
	uint32_t n;

	(void)signal;
	n = walk(&interrupted->uc_mcontext, addresses);
	lock();
	if (is_running)
		profile_file_record(info->si_code == SI_TIMER ? (uint32_t)info->si_overrun + 1 : 1,
				    addresses, n);
	unlock();
	errno = error;
}

/* ---------------- Starting and stopping ---------------- */

static sigset_t block(void)
{
	sigset_t set = SIGNAL_BIT(SIGPROF), old = 0;

	sigprocmask(SIG_BLOCK, &set, &old);
	return old;
}

static int set_timer(uint32_t period_us)
{
	const struct timeval period = {.tv_sec = (time_t)(period_us / US_PER_SECOND),
				       .tv_usec = (suseconds_t)(period_us % US_PER_SECOND)};
	const struct itimerval timer = {period, period};

	return setitimer(ITIMER_PROF, &timer, NULL);
}

/* Once the timer runs nothing fails. */
static int begin(const char *path, uint32_t period_us)
{
	const struct sigaction action = {.sa_sigaction = take_sample,
					 .sa_flags = SA_SIGINFO | SA_RESTART};
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	int error;

	if (fd < 0)
		return errno;
	error = profile_file_begin(fd, period_us);
	if (error == 0 && (sigaction(SIGPROF, &action, &before) != 0 || set_timer(period_us) != 0))
		error = errno;
	if (error != 0) {
		close(fd);
		return error;
	}
	owner = getpid();
	is_running = true;
	return 0;
}

/*
 * A signal that has been sent may still wait for its thread.  By default it would end the program:
 * so from now on it is ignored, unless the program had a handler of its own.
 */
static int end(void)
{
	struct sigaction after = before;

	if (!is_running || owner != getpid())
		return EINVAL;
	is_running = false;
	set_timer(0);
	if (after.sa_handler == SIG_DFL)
		after = (struct sigaction){.sa_handler = SIG_IGN};
	sigaction(SIGPROF, &after, NULL);
	return profile_file_end();
}

static int finish(int error, const sigset_t *mask)
{
	unlock();
	sigprocmask(SIG_SETMASK, mask, NULL);
	if (error == 0)
		return 0;
	errno = error;
	return -1;
}

int cpu_profile_start(const char *path, int hz)
{
	uint32_t period_us = hz > 0 ? (US_PER_SECOND + (uint32_t)hz - 1) / (uint32_t)hz : 0;
	sigset_t mask = block();
	int error = EINVAL;

	lock();
	if (is_running && owner == getpid())
		error = EBUSY;
	else if (period_us != 0)
		error = begin(path, (period_us + TICK_US - 1) / TICK_US * TICK_US);
	return finish(error, &mask);
}

int cpu_profile_stop(void)
{
	sigset_t mask = block();

	lock();
	return finish(end(), &mask);
}
