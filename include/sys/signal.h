/* SPDX-License-Identifier: MIT */
/*
 * Signals: numbers, actions, and what UX puts on a thread's stack when it delivers one.  Numbers
 * and structures are Linux's.
 */
#ifndef SYS_SIGNAL_H
#define SYS_SIGNAL_H

#include <sys/types.h>

#define SIGHUP    1
#define SIGINT    2
#define SIGQUIT   3
#define SIGILL    4
#define SIGTRAP   5
#define SIGABRT   6
#define SIGIOT    SIGABRT
#define SIGBUS    7
#define SIGFPE    8
#define SIGKILL   9
#define SIGUSR1   10
#define SIGSEGV   11
#define SIGUSR2   12
#define SIGPIPE   13
#define SIGALRM   14
#define SIGTERM   15
#define SIGSTKFLT 16
#define SIGCHLD   17
#define SIGCONT   18
#define SIGSTOP   19
#define SIGTSTP   20
#define SIGTTIN   21
#define SIGTTOU   22
#define SIGURG    23
#define SIGXCPU   24
#define SIGXFSZ   25
#define SIGVTALRM 26
#define SIGPROF   27
#define SIGWINCH  28
#define SIGIO     29
#define SIGPOLL   SIGIO
#define SIGPWR    30
#define SIGSYS    31

/* Real-time signals: of one kind several can be pending, and are taken in the order they came. */
#define SIGRTMIN 32
#define SIGRTMAX 64
#define NSIG     65 /* One more than the last. */

typedef uint64_t sigset_t; /* Bit n - 1 is signal n. */
#define SIGNAL_BIT(signal) (1ull << ((signal)-1))

#define SIG_BLOCK   0
#define SIG_UNBLOCK 1
#define SIG_SETMASK 2

#define SA_NOCLDSTOP 0x00000001
#define SA_SIGINFO   0x00000004
#define SA_ONSTACK   0x08000000
#define SA_RESTART   0x10000000
#define SA_NODEFER   0x40000000
#define SA_RESETHAND 0x80000000

#define SS_ONSTACK  1
#define SS_DISABLE  2
#define MINSIGSTKSZ 2048
#define SIGSTKSZ    8192

typedef struct {
	void *ss_sp;
	int ss_flags;
	size_t ss_size;
} stack_t;

/* si_code of any signal; what is above 0 is the kernel's or, with SI_KERNEL, the server's. */
#define SI_USER   0    /* kill() */
#define SI_QUEUE  (-1) /* sigqueue() */
#define SI_TIMER  (-2)
#define SI_TKILL  (-6) /* pthread_kill() or raise() */
#define SI_KERNEL 0x80

#define ILL_ILLOPC  1
#define ILL_PRVOPC  5 /* Forbidden to programs, or a segment that is none. */
#define FPE_INTDIV  1
#define FPE_INTOVF  2
#define FPE_FLTINV  7
#define FPE_FLTSUB  8 /* The instruction `bound`. */
#define SEGV_MAPERR 1
#define SEGV_ACCERR 2
#define BUS_ADRALN  1
#define BUS_ADRERR  2 /* There is no memory for it, or its user may have no more. */
#define BUS_OBJERR  3 /* The page's pager failed. */
#define TRAP_BRKPT  1
#define TRAP_TRACE  2
#define CLD_EXITED  1
#define CLD_KILLED  2
#define CLD_STOPPED 5

typedef union sigval {
	int sival_int;
	void *sival_ptr;
} sigval_t;

#define SI_MAX_SIZE 128

typedef struct {
	int si_signo;
	int si_errno;
	int si_code;
	union {
		struct {              /* Of kill(), raise() and their like, and SIGCHLD: */
			pid_t si_pid; /* who sent it, */
			uid_t si_uid;
			union {
				sigval_t si_value; /* of sigqueue(): what it gave; */
				int si_status;     /* of SIGCHLD: exit status or signal. */
			};
		};
		struct { /* SI_TIMER: */
			int si_timerid;
			int si_overrun; /* how many times more it has expired. */
		};
		void *si_addr; /* Of faults: where. */
		uint32_t si_reserved[(SI_MAX_SIZE - 3 * sizeof(int)) / sizeof(uint32_t)];
	};
} siginfo_t;

/* What FNSAVE stores, the status once more, and what FXSAVE stores; registers are the first's. */
struct _fpreg {
	uint16_t significand[4];
	uint16_t exponent;
};

struct _fpstate {
	uint32_t cw, sw, tag, ipoff, cssel, dataoff, datasel;
	struct _fpreg _st[8];
	uint16_t status;
	uint16_t magic; /* 0: what FXSAVE stores is there too. */
	uint32_t _fxsr_env[6];
	uint32_t mxcsr;
	uint32_t reserved;
	uint32_t _fxsr_st[8][4];
	uint32_t _xmm[8][4];
	uint32_t padding[56];
};

/* The registers that the signal interrupted. */
typedef struct sigcontext {
	uint16_t gs, gs_reserved, fs, fs_reserved, es, es_reserved, ds, ds_reserved;
	uint32_t edi, esi, ebp, esp, ebx, edx, ecx, eax;
	uint32_t trapno; /* Of a fault: which exception of the processor's; */
	uint32_t err;    /* 0, as nobody tells. */
	uint32_t eip;
	uint16_t cs, cs_reserved;
	uint32_t eflags;
	uint32_t esp_at_signal;
	uint16_t ss, ss_reserved;
	struct _fpstate *fpstate; /* Null: as at a program's start. */
	uint32_t oldmask;         /* The lower half of uc_sigmask. */
	uint32_t cr2;             /* Of SIGSEGV and SIGBUS: the address. */
} mcontext_t;

typedef struct ucontext {
	uint32_t uc_flags;
	struct ucontext *uc_link;
	stack_t uc_stack;
	mcontext_t uc_mcontext;
	sigset_t uc_sigmask; /* To be in force again when the handler returns. */
} ucontext_t;

/*
 * What UX leaves at the stack pointer (4 bytes below a multiple of 16, as after a call) before it
 * has the thread go on at the trampoline that sigaction named: Linux's frame, where the last two
 * words are code of Linux's.  A handler ends with the instruction ud2, which lies SIGNAL_END bytes
 * before the trampoline, and the frame's address in ebx: then registers and mask are set as the
 * context says.
 */
#define SIGNAL_END 2

struct signal_frame {
	uint32_t return_address; /* 0: the trampoline does not return. */
	uint32_t signal;
	uint32_t siginfo; /* Addresses of the two below. */
	uint32_t ucontext;
	siginfo_t info;
	ucontext_t context;
	uint32_t handler;
	uint32_t flags; /* SA_ bits of the action. */
};

/* Handlers as messages carry them. */
#define SIG_DFL_WORD 0u
#define SIG_IGN_WORD 1u

#endif
