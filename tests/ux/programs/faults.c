/* SPDX-License-Identifier: MIT */
/*
 * What a program does wrong, as signals; and the stacks that handlers run on.
 *
 * guest: cpus=1 limit=30
 * guest: cpus=2 limit=30
 */
#include <assay.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_unix.h"

#define NOWHERE    0x60000124u
#define STACK_SIZE SIGSTKSZ
#define ROUNDS     20

static sigjmp_buf out;
static volatile sig_atomic_t handled, last, last_code, was_on_stack;
static void *volatile last_address;
static char stack[STACK_SIZE] __attribute__((aligned(16)));

static void leave(int signal, siginfo_t *info, void *context)
{
	const mcontext_t *registers = &((const ucontext_t *)context)->uc_mcontext;
	char here;

	handled++;
	last = signal;
	last_code = info->si_code;
	EXPECT_EQ(registers->trapno == 14, info->si_code != SI_USER && signal == SIGSEGV);
	EXPECT_EQ(registers->cr2, registers->trapno == 14 ? (uint32_t)info->si_addr : 0);
	last_address = info->si_addr;
	was_on_stack = &here >= stack && &here < stack + sizeof stack;
	siglongjmp(out, 1);
}

static void handle(int signal, int flags)
{
	const struct sigaction action = {.sa_sigaction = leave, .sa_flags = SA_SIGINFO | flags};

	EXPECT_EQ(sigaction(signal, &action, NULL), 0);
}

/* ---------------- Ways to do wrong ---------------- */

static void read_nowhere(void)
{
	(void)*(volatile int *)(uintptr_t)NOWHERE;
}

static void write_text(void)
{
	*(volatile char *)(uintptr_t)read_nowhere = 0;
}

static void divide_by_zero(void)
{
	uint32_t quotient = 1, rest = 0;

	__asm__ volatile("divl %2" : "+a"(quotient), "+d"(rest) : "r"(0));
}

static void bad_instruction(void)
{
	__asm__ volatile("ud2");
}

static void forbidden_instruction(void)
{
	__asm__ volatile("hlt");
}

static void breakpoint(void)
{
	__asm__ volatile("int3");
}

static const struct fault {
	void (*run)(void);
	int signal, code;
} all[] = {
	{read_nowhere, SIGSEGV, SEGV_MAPERR},        {write_text, SIGSEGV, SEGV_ACCERR},
	{divide_by_zero, SIGFPE, FPE_INTDIV},        {bad_instruction, SIGILL, ILL_ILLOPC},
	{forbidden_instruction, SIGILL, ILL_PRVOPC}, {breakpoint, SIGTRAP, TRAP_BRKPT},
};

#define FAULTS (sizeof all / sizeof all[0])

TEST(faults_are_signals)
{
	for (volatile unsigned round = 0; round < ROUNDS; round++) {
		const struct fault *fault = &all[round % FAULTS];

		handle(fault->signal, 0);
		handled = 0;
		if (sigsetjmp(out, 1) == 0)
			fault->run();
		EXPECT_EQ(handled, 1);
		EXPECT_EQ(last, fault->signal);
		EXPECT_EQ(last_code, fault->code);
	}
	if (sigsetjmp(out, 1) == 0)
		read_nowhere();
	EXPECT_EQ((uintptr_t)last_address, NOWHERE);
}

/* ---------------- Where nobody takes them ---------------- */

static int status_of(const struct fault *fault, int how)
{
	sigset_t set = SIGNAL_BIT(fault->signal);
	int status = -1;
	pid_t pid = fork();

	if (pid == 0) {
		signal(fault->signal, how == SIG_BLOCK ? SIG_DFL : SIG_IGN);
		if (how == SIG_BLOCK)
			sigprocmask(SIG_BLOCK, &set, NULL);
		else if (how == 0)
			signal(fault->signal, SIG_DFL);
		fault->run();
		_exit(0);
	}
	EXPECT_EQ(waitpid(pid, &status, 0), pid);
	return status;
}

/* By default, ignored, blocked: it cannot go on. */
TEST(faults_end_a_program)
{
	for (unsigned n = 0; n < FAULTS; n++) {
		EXPECT_EQ(status_of(&all[n], 0), all[n].signal);
		EXPECT_EQ(status_of(&all[n], SIG_SETMASK), all[n].signal);
		EXPECT_EQ(status_of(&all[n], SIG_BLOCK), all[n].signal);
	}
}

/* ---------------- Mending ---------------- */

/* Registers and the FPU are where Linux has them, and what is changed there is what there is. */
static void change_fpu(int signal, siginfo_t *info, void *context)
{
	mcontext_t *registers = &((ucontext_t *)context)->uc_mcontext;
	struct _fpstate *fpu = registers->fpstate;

	(void)signal;
	handled++;
	EXPECT(info->si_errno == 0 && (uint32_t)info->si_addr == registers->eip);
	EXPECT(registers->ebx == 0x11111111 && registers->ecx == 0x22222222);
	EXPECT(registers->edx == 0x33333333 && registers->esi == 0x44444444);
	EXPECT_EQ(registers->trapno, 6);
	EXPECT(registers->err == 0 && registers->cr2 == 0);
	EXPECT(registers->esp == registers->esp_at_signal && registers->cs != 0);
	EXPECT((fpu->cw & 0xffff) == 0x37f && fpu->magic == 0 && fpu->mxcsr == 0x1f80);
	EXPECT_EQ(fpu->status, fpu->sw & 0xffff);
	EXPECT(fpu->_st[0].significand[3] == 0x8000 && fpu->_st[0].exponent == 0x3fff);
	fpu->_st[0].exponent++;
	registers->ebx++;
	registers->eip += 2; /* ud2 */
}

TEST(contexts_are_linux)
{
	const struct sigaction action = {.sa_sigaction = change_fpu, .sa_flags = SA_SIGINFO};
	uint32_t value = 0;
	double number = 0;

	EXPECT_EQ(sigaction(SIGILL, &action, NULL), 0);
	handled = 0;
	__asm__ volatile("movl $0x44444444, %%esi\n\t"
			 "fld1\n\t"
			 "ud2\n\t"
			 "fstpl %1"
			 : "=b"(value), "=m"(number)
			 : "b"(0x11111111), "c"(0x22222222), "d"(0x33333333)
			 : "esi");
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(value, 0x11111112);
	EXPECT(number == 2.0);
	signal(SIGILL, SIG_DFL);
}

static void empty_fpu(int signal, siginfo_t *info, void *context)
{
	(void)info;
	((ucontext_t *)context)->uc_mcontext.fpstate = NULL;
	handled = signal;
}

/* A handler that takes the FPU's state away leaves one as at the beginning. */
TEST(contexts_without_fpu)
{
	const struct sigaction action = {.sa_sigaction = empty_fpu, .sa_flags = SA_SIGINFO};
	uint16_t control = 0x27f;

	EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	__asm__ volatile("fldcw %0" : : "m"(control));
	raise(SIGUSR1);
	__asm__ volatile("fnstcw %0" : "=m"(control));
	EXPECT_EQ(handled, SIGUSR1);
	EXPECT_EQ(control, 0x37f);
	signal(SIGUSR1, SIG_DFL);
}

/* What the handler changes in the context is how the program goes on. */
static void mend(int signal, siginfo_t *info, void *context)
{
	ucontext_t *interrupted = context;

	(void)signal;
	(void)info;
	handled++;
	interrupted->uc_mcontext.eip += 2; /* ud2 */
	interrupted->uc_mcontext.eax = 42;
	interrupted->uc_sigmask |= SIGNAL_BIT(SIGUSR2);
}

TEST(contexts_can_be_changed)
{
	const struct sigaction action = {.sa_sigaction = mend, .sa_flags = SA_SIGINFO};
	sigset_t mask = 0;
	uint32_t value = 0;

	EXPECT_EQ(sigaction(SIGILL, &action, NULL), 0);
	handled = 0;
	__asm__ volatile("ud2" : "+a"(value));
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(value, 42);
	EXPECT_EQ(sigprocmask(SIG_SETMASK, &mask, &mask), 0);
	EXPECT_EQ(mask, SIGNAL_BIT(SIGUSR2));
}

/* ---------------- Stacks ---------------- */

static void use_stack(void)
{
	const stack_t new_stack = {.ss_sp = stack, .ss_size = sizeof stack};

	EXPECT_EQ(sigaltstack(&new_stack, NULL), 0);
}

/* Deeper than any stack: each call needs more. */
static int descend(volatile char *above, unsigned depth)
{
	volatile char room[1024];

	room[0] = *above;
	return depth == 0 ? 0 : descend(room, depth - 1) + room[0];
}

TEST(overflow_is_handled_on_another_stack)
{
	char byte = 0;

	use_stack();
	handle(SIGSEGV, SA_ONSTACK);
	for (volatile int round = 0; round < 2; round++) {
		handled = 0;
		if (sigsetjmp(out, 1) == 0)
			descend(&byte, UINT32_MAX);
		EXPECT_EQ(handled, 1);
		EXPECT(was_on_stack);
	}
	handle(SIGSEGV, 0);
	if (sigsetjmp(out, 1) == 0)
		read_nowhere();
	EXPECT(!was_on_stack);
}

static void look_at_stack(int signal)
{
	const stack_t other = {.ss_flags = SS_DISABLE};
	stack_t now;

	(void)signal;
	handled++;
	EXPECT_EQ(sigaltstack(NULL, &now), 0);
	EXPECT_EQ(now.ss_flags, SS_ONSTACK);
	EXPECT(now.ss_sp == stack);
	EXPECT_FAILS(sigaltstack(&other, NULL), EPERM);
}

TEST(stacks_in_use_stay)
{
	const struct sigaction action = {.sa_handler = look_at_stack, .sa_flags = SA_ONSTACK};
	stack_t other = {.ss_flags = SS_DISABLE};

	use_stack();
	EXPECT_EQ(sigaction(SIGUSR1, &action, NULL), 0);
	handled = 0;
	raise(SIGUSR1);
	EXPECT_EQ(handled, 1);
	EXPECT_EQ(sigaltstack(&other, NULL), 0);
	EXPECT_EQ(sigaltstack(NULL, &other), 0);
	EXPECT_EQ(other.ss_flags, SS_DISABLE);
	other = (stack_t){.ss_sp = stack, .ss_size = MINSIGSTKSZ - 1};
	EXPECT_FAILS(sigaltstack(&other, NULL), ENOMEM);
	other = (stack_t){.ss_sp = stack, .ss_size = sizeof stack, .ss_flags = 64};
	EXPECT_FAILS(sigaltstack(&other, NULL), EINVAL);
}

static void lose_stack(void)
{
	__asm__ volatile("xorl %esp, %esp\n1: jmp 1b");
}

static void do_nothing(int signal)
{
	(void)signal;
}

/* Until the child has lost its stack it takes the signal. */
TEST(no_stack_no_handler)
{
	pid_t pid, ended;
	int status = 0;

	signal(SIGUSR1, do_nothing);
	signal(SIGSEGV, SIG_DFL);
	pid = fork();
	if (pid == 0)
		lose_stack();
	do {
		kill(pid, SIGUSR1);
		swtch();
		ended = waitpid(pid, &status, WNOHANG);
	} while (ended == 0);
	EXPECT_EQ(ended, pid);
	EXPECT_EQ(status, SIGSEGV);
}
