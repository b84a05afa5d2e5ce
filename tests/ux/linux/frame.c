/* SPDX-License-Identifier: MIT */
/*
 * For the host, as a program of 32 bits without a library: what Linux leaves on the stack of a
 * handler.  It writes from there to the stack's end to its output, after the address of its
 * beginning; test_linux.py reads that by our headers.
 *
 * The signal is that of the instruction at `wrong`, with numbers in the registers that are easily
 * told apart, 1.0 in the FPU and a mask in force.  The handler's own stack is an alternate one.
 */
#define NR_exit           1
#define NR_write          4
#define NR_rt_sigaction   174
#define NR_rt_sigprocmask 175
#define NR_sigaltstack    186

#define SIGILL     4
#define SA_SIGINFO 0x00000004
#define SA_RESTORE 0x04000000
#define SA_ONSTACK 0x08000000
#define SETMASK    2

/* As the kernel wants them. */
static const unsigned mask[2] = {0x00010200, 0x80000001};
static char stack[16384] __attribute__((aligned(16)));
static const struct {
	void *address;
	int flags;
	unsigned size;
} other_stack = {stack, 0, sizeof stack};

void handle(const char *frame);
void _start(void);
extern char begin_handler[];

static const struct {
	void *handler;
	unsigned flags;
	void *restorer;
	unsigned mask[2];
} action = {begin_handler, SA_SIGINFO | SA_RESTORE | SA_ONSTACK, begin_handler, {0, 0}};

__asm__(".globl begin_handler, wrong\n"
	"begin_handler:\n"
	"	movl %esp, %eax\n"
	"	pushl %eax\n"
	"	call handle\n"
	"wrong_registers:\n"
	"	fld1\n"
	"	movl $0x11111111, %ebx\n"
	"	movl $0x22222222, %ecx\n"
	"	movl $0x33333333, %edx\n"
	"	movl $0x44444444, %esi\n"
	"	movl $0x55555555, %edi\n"
	"	movl $0x66666666, %ebp\n"
	"	movl $0x77777777, %eax\n"
	"wrong:\n"
	"	ud2\n");

static int call(int number, int one, int two, int three, int four)
{
	int result;

	__asm__ volatile("int $0x80"
			 : "=a"(result)
			 : "a"(number), "b"(one), "c"(two), "d"(three), "S"(four)
			 : "memory");
	return result;
}

void handle(const char *frame)
{
	call(NR_write, 1, (int)&frame, sizeof frame, 0);
	call(NR_write, 1, (int)frame, stack + sizeof stack - frame, 0);
	call(NR_exit, 0, 0, 0, 0);
}

void _start(void)
{
	int wrong = call(NR_sigaltstack, (int)&other_stack, 0, 0, 0);

	wrong |= call(NR_rt_sigaction, SIGILL, (int)&action, 0, sizeof mask);
	wrong |= call(NR_rt_sigprocmask, SETMASK, (int)mask, 0, sizeof mask);
	if (wrong == 0)
		__asm__ volatile("jmp wrong_registers");
	call(NR_exit, 1, 0, 0, 0);
}
