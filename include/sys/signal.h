/* SPDX-License-Identifier: MIT */
/* Signals: numbers, actions, and what UX puts on a thread's stack when it delivers one. */
#ifndef SYS_SIGNAL_H
#define SYS_SIGNAL_H

#include <sys/types.h>

#define SIGHUP    1
#define SIGINT    2
#define SIGQUIT   3
#define SIGILL    4
#define SIGTRAP   5
#define SIGABRT   6
#define SIGEMT    7
#define SIGFPE    8
#define SIGKILL   9
#define SIGBUS    10
#define SIGSEGV   11
#define SIGSYS    12
#define SIGPIPE   13
#define SIGALRM   14
#define SIGTERM   15
#define SIGURG    16
#define SIGSTOP   17
#define SIGTSTP   18
#define SIGCONT   19
#define SIGCHLD   20
#define SIGTTIN   21
#define SIGTTOU   22
#define SIGIO     23
#define SIGXCPU   24
#define SIGXFSZ   25
#define SIGVTALRM 26
#define SIGPROF   27
#define SIGWINCH  28
#define SIGINFO   29
#define SIGUSR1   30
#define SIGUSR2   31
#define NSIG      32

typedef uint32_t sigset_t; /* Bit n - 1 is signal n. */
#define SIGNAL_BIT(signal) (1u << ((signal)-1))

#define SIG_BLOCK   1
#define SIG_UNBLOCK 2
#define SIG_SETMASK 3

#define SA_ONSTACK   0x0001
#define SA_RESTART   0x0002
#define SA_RESETHAND 0x0004
#define SA_NOCLDSTOP 0x0008
#define SA_NODEFER   0x0010
#define SA_SIGINFO   0x0040

#define SS_ONSTACK  1
#define SS_DISABLE  4
#define MINSIGSTKSZ 2048
#define SIGSTKSZ    8192

typedef struct {
	void *ss_sp;
	size_t ss_size;
	int ss_flags;
} stack_t;

/* si_code */
#define SI_USER   0x10001 /* kill() */
#define SI_TIMER  0x10003
#define SI_KERNEL 0x10006
#define SI_THREAD 0x10007 /* pthread_kill() or raise() */

#define ILL_ILLOPC  1
#define ILL_PRVOPC  5 /* Forbidden to programs, or a segment that is none. */
#define FPE_INTDIV  1
#define FPE_INTOVF  2
#define FPE_FLTINV  7
#define FPE_FLTSUB  8 /* The instruction `bound`. */
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN  1
#define BUS_OBJERR  3 /* The page's pager failed. */
#define TRAP_BRKPT  1
#define TRAP_TRACE  2

typedef struct {
	int si_signo;
	int si_code;
	int si_errno;
	pid_t si_pid; /* Who sent it, */
	uid_t si_uid;
	int si_status; /* of SIGCHLD: how the child ended; of timers: how many expiries, */
	void *si_addr; /* of faults: where. */
	int si_reserved;
} siginfo_t;

/* The registers that the signal interrupted, as thread_get_state() gives them. */
typedef struct {
	uint32_t gs, fs, es, ds;
	uint32_t edi, esi, ebp, esp_unused, ebx, edx, ecx, eax;
	uint32_t eip, cs, eflags, esp, ss;
} mcontext_t;

typedef struct {
	mcontext_t uc_mcontext;
	sigset_t uc_sigmask; /* To be in force again when the handler returns. */
	stack_t uc_stack;
	uint32_t uc_reserved;
} ucontext_t;

/*
 * What UX leaves at the stack pointer (4 bytes below a multiple of 16, as after a call) before it
 * has the thread go on at the trampoline that sigaction named.  A handler ends with the instruction
 * ud2, which lies SIGNAL_END bytes before the trampoline, and the frame's address in ebx: then
 * registers and mask are set as the context says.
 */
#define SIGNAL_END 2

struct signal_frame {
	uint32_t return_address; /* 0: the trampoline does not return. */
	uint32_t signal;
	uint32_t siginfo; /* Addresses of the two below. */
	uint32_t ucontext;
	uint32_t handler;
	uint32_t flags; /* SA_ bits of the action. */
	siginfo_t info;
	ucontext_t context;
};

/* Handlers as messages carry them. */
#define SIG_DFL_WORD 0u
#define SIG_IGN_WORD 1u

#endif
