/* SPDX-License-Identifier: MIT */
/*
 * wrong WHAT: does something wrong, each kind in a function of its own; tests/ux/test_told.py knows
 * what must be said of it.
 */
#include <mach.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOWHERE 0x60000124u
#define PAGE    4096u
#define OWN     __attribute__((noinline, noclone))

static char data[4];

/* ---------------- Memory ---------------- */

OWN static void load(void)
{
	(void)*(volatile int *)(uintptr_t)NOWHERE;
}

OWN static void store(void)
{
	*(volatile int *)(uintptr_t)(NOWHERE + 4) = 1;
}

OWN static void text(void)
{
	*(volatile char *)(uintptr_t)text = 0;
}

OWN static void jump(void)
{
	((void (*)(void))(uintptr_t)NOWHERE)();
}

OWN static void execute(void)
{
	((void (*)(void))(uintptr_t)data)();
}

/* Memory of a pager that is gone. */
OWN static void orphan(void)
{
	mach_port_t self = mach_task_self(), port;
	vm_address_t address = 0;

	mach_port_allocate(self, MACH_PORT_RIGHT_RECEIVE, &port);
	mach_port_insert_right(self, port, port, MACH_MSG_TYPE_MAKE_SEND);
	vm_map(self, &address, PAGE, 0, TRUE, port, 0, FALSE, VM_PROT_READ, VM_PROT_READ,
	       VM_INHERIT_NONE);
	mach_port_mod_refs(self, port, MACH_PORT_RIGHT_RECEIVE, -1);
	(void)*(volatile int *)address;
}

OWN static void hunger(void)
{
	for (;;) {
		vm_address_t address = 0;

		if (vm_allocate(mach_task_self(), &address, PAGE, TRUE) == KERN_SUCCESS)
			*(volatile int *)address = 1;
	}
}

/* ---------------- Instructions ---------------- */

OWN static void divide(void)
{
	uint32_t quotient = 1, rest = 0;

	__asm__ volatile("divl %2" : "+a"(quotient), "+d"(rest) : "r"(0));
}

OWN static void unknown(void)
{
	__asm__ volatile("ud2");
}

OWN static void forbidden(void)
{
	__asm__ volatile("hlt");
}

OWN static void breakpoint(void)
{
	__asm__ volatile("int3");
}

/* ---------------- Stacks and threads ---------------- */

static void do_nothing(int signal)
{
	(void)signal;
}

/* A handler that has nowhere to run. */
OWN static void stackless(void)
{
	const struct itimerval soon = {.it_value = {.tv_usec = 10000}};

	signal(SIGALRM, do_nothing);
	signal(SIGSEGV, do_nothing);
	setitimer(ITIMER_REAL, &soon, NULL);
	__asm__ volatile("movl $0x1000, %esp\n1: jmp 1b");
}

static void *begin(void *unused)
{
	load();
	return unused;
}

OWN static void thread(void)
{
	pthread_t other;

	pthread_create(&other, NULL, begin, NULL);
	pthread_join(other, NULL);
}

OWN static void child(void)
{
	if (fork() == 0)
		load();
	wait(NULL);
}

static void leave(int number)
{
	(void)number;
	_exit(0);
}

OWN static void handled(void)
{
	signal(SIGSEGV, leave);
	load();
}

OWN static void ignored(void)
{
	signal(SIGSEGV, SIG_IGN);
	load();
}

OWN static void blocked(void)
{
	sigset_t set = 1ull << (SIGSEGV - 1);

	sigprocmask(SIG_BLOCK, &set, NULL);
	load();
}

/* ---------------- Others' doing ---------------- */

OWN static void killed(void)
{
	kill(getpid(), SIGSEGV);
}

OWN static void aborted(void)
{
	abort();
}

OWN static void terminated(void)
{
	task_terminate(mach_task_self());
}

static const struct {
	const char *name;
	void (*function)(void);
} wrongs[] = {
	{"load", load},           {"store", store},           {"text", text},
	{"jump", jump},           {"execute", execute},       {"orphan", orphan},
	{"hunger", hunger},       {"divide", divide},         {"unknown", unknown},
	{"forbidden", forbidden}, {"breakpoint", breakpoint}, {"stackless", stackless},
	{"thread", thread},       {"child", child},           {"handled", handled},
	{"ignored", ignored},     {"blocked", blocked},       {"killed", killed},
	{"aborted", aborted},     {"terminated", terminated},
};

int main(int argc, char **argv)
{
	for (size_t n = 0; argc > 1 && n < sizeof wrongs / sizeof wrongs[0]; n++)
		if (strcmp(argv[1], wrongs[n].name) == 0)
			wrongs[n].function();
	return EXIT_SUCCESS;
}
