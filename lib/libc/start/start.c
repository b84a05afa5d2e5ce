/* SPDX-License-Identifier: MIT */
/* From the first instruction to main(). */
#include <mach.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "../internal.h"
#include "start.h"

static const char *program_name = "";

int main(int argc, char **argv, char **envp);

/* A profiling library's beginning; none is linked in otherwise. */
void monstartup_crt0(void) __attribute__((weak));

/* Functions with the attributes `constructor` and `destructor`, gathered by the linker. */
extern void (*const __preinit_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*const __preinit_array_end[])(void) __attribute__((visibility("hidden")));
extern void (*const __init_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*const __init_array_end[])(void) __attribute__((visibility("hidden")));
extern void (*const __fini_array_start[])(void) __attribute__((visibility("hidden")));
extern void (*const __fini_array_end[])(void) __attribute__((visibility("hidden")));

/* ---------------- The first thread ---------------- */

/* Memory that is there before anything can be allocated, if that is enough. */
static struct tcb *first_block(mach_port_t port)
{
	static char room[FIRST_BLOCK_SIZE] __attribute__((aligned(16)));
	size_t size = __tcb_size();
	void *memory = room;

	if (size > sizeof room)
		memory = __pages_allocate((size + LIBC_PAGE - 1) & ~(size_t)(LIBC_PAGE - 1));
	return memory == NULL ? NULL : __tcb_make(memory, port, FIRST_THREAD);
}

/* The right by which the first thread calls: the task's bootstrap port. */
static mach_port_t find_server(void)
{
	mach_port_t port = MACH_PORT_NULL;

	task_get_bootstrap_port(mach_task_self_cached(), &port);
	return port;
}

static int begin(void)
{
	struct tcb *block = first_block(find_server());

	return block != NULL && __tcb_use(block);
}

int __libc_begin_again(struct tcb *block)
{
	block->port = find_server();
	block->id = FIRST_THREAD;
	return __tcb_use(block);
}

/* ---------------- Before and after main() ---------------- */

static void run(void (*const *from)(void), void (*const *to)(void))
{
	for (; from != to; from++)
		(*from)();
}

static void run_destructors(void)
{
	void (*const *function)(void) = __fini_array_end;

	while (function != __fini_array_start)
		(*--function)();
}

static void run_constructors(void)
{
	if (&__fini_array_start[0] != &__fini_array_end[0])
		atexit(run_destructors);
	run(__preinit_array_start, __preinit_array_end);
	run(__init_array_start, __init_array_end);
}

const char *getprogname(void)
{
	return program_name;
}

void setprogname(const char *path)
{
	const char *slash = strrchr(path, '/');

	program_name = slash != NULL ? slash + 1 : path;
}

_Noreturn void __libc_start(uintptr_t *stack)
{
	int argc = (int)stack[0];
	char **argv = (char **)(stack + 1);

	environ = argv + argc + 1;
	if (!begin())
		__builtin_trap(); /* Nothing works without it, not even saying so. */
	if (argc > 0)
		setprogname(argv[0]);
	if (monstartup_crt0 != NULL)
		monstartup_crt0();
	run_constructors();
	exit(main(argc, argv, environ));
}
