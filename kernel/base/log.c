/* SPDX-License-Identifier: MIT */
/*
 * The kernel's log and the programs' console (base/log.h).
 *
 * Owns the choice of devices, what was last printed on each, and the lock that keeps messages
 * whole.  The lock is not the kernel lock: a dying CPU prints without that.
 * Interrupt handlers do not print; a panic inside one seizes the log first.
 */
#include "base/log.h"

#include <stdint.h>

#include "base/arguments.h"
#include "base/assert.h"
#include "base/cpu.h"
#include "base/format.h"
#include "base/spinlock.h"
#include "base/string.h"

#define BIT(console) (1u << (console))
#define KEPT         BIT(MACHINE_CONSOLES) /* No console, but where the log's end is kept. */
#define KEPT_BYTES   8192u

/* By their names on the command line. */
static const char *const console_names[MACHINE_CONSOLES] = {
	[MACHINE_CONSOLE_COM0] = "com0",
	[MACHINE_CONSOLE_COM1] = "com1",
	[MACHINE_CONSOLE_VGA] = "vga",
};

#define CONSOLES_SERIAL  (BIT(MACHINE_CONSOLE_COM0) | BIT(MACHINE_CONSOLE_COM1))
#define CONSOLES_DEFAULT (BIT(MACHINE_CONSOLE_COM0) | BIT(MACHINE_CONSOLE_VGA))

/* The lock guards all but the choice of devices, which only log_configure() changes, at boot. */
static struct {
	struct spinlock lock;
	uint32_t seizer;   /* 1 + the CPU that has seized it for good, or 0. */
	uint32_t mid_line; /* Consoles whose last character did not end a line. */
	bool mid_log;      /* The line begun on the kernel's consoles is of log_write(). */
	uint32_t kernel;   /* Consoles that messages of the kernel go to, */
	uint32_t programs; /* and what programs print. */
	uint32_t with_cr;  /* Consoles that want a carriage return before each line feed. */
} output = {
	.kernel = CONSOLES_DEFAULT | KEPT,
	.programs = CONSOLES_DEFAULT,
	.with_cr = CONSOLES_SERIAL,
};

/*
 * The end of the log, for gdb, which reads it from outside (`assay log`): byte n of all that was
 * ever written is bytes[n % KEPT_BYTES], for the last KEPT_BYTES below `written`.  Guarded by the
 * lock, as what is printed is.  Nothing in the kernel reads it, so the compiler is told that
 * somebody does.  A byte is there before it is counted, so that a machine stopped between the two
 * shows no other in its place.
 */
volatile struct log_kept {
	uint32_t written; /* Goes around, which KEPT_BYTES divides. */
	char bytes[KEPT_BYTES];
} log_kept __attribute__((used));

static void log_keep(char c)
{
	log_kept.bytes[log_kept.written % KEPT_BYTES] = c;
	log_kept.written++;
}

/* cpu_number() is not asked before there is need: messages come before CPUs have numbers. */
static uint32_t log_seizer(void)
{
	return __atomic_load_n(&output.seizer, __ATOMIC_ACQUIRE);
}

static bool log_seized_by_this_cpu(void)
{
	return log_seizer() != 0 && log_seizer() == 1 + cpu_number();
}

/*
 * Who gets the lock after it has been seized goes no further: the machine is about to end, and the
 * last words belong to another CPU.
 */
static void log_output_begin(void)
{
	if (log_seized_by_this_cpu())
		return;
	spinlock_acquire(&output.lock);
	while (log_seizer() != 0)
		machine_relax();
}

/* A seized lock stays held: the CPU that was printing leaves the next one waiting. */
static void log_output_end(void)
{
	if (log_seizer() == 0)
		spinlock_release(&output.lock);
}

/*
 * Terminals on a serial line go back to the left only when told; the screen's driver knows better.
 */
static void log_put_on(enum machine_console console, char c)
{
	if (c == '\n' && (output.with_cr & BIT(console)))
		machine_console_put(console, '\r');
	machine_console_put(console, c);
}

/* Puts a character on each console of the set, and notes where that leaves their lines. */
static void log_put(uint32_t consoles, char c)
{
	assert(consoles < 2 * KEPT);
	if (consoles & KEPT)
		log_keep(c);
	for (unsigned console = 0; console < MACHINE_CONSOLES; console++) {
		if (consoles & BIT(console))
			log_put_on(console, c);
	}
	if (c == '\n')
		output.mid_line &= ~consoles;
	else
		output.mid_line |= consoles;
}

/* Ends the lines that have been begun on the kernel's consoles, and on no other. */
static void log_finish_lines(void)
{
	log_put(output.kernel & output.mid_line, '\n');
}

static void log_put_kernel(void *context, char c)
{
	(void)context;
	log_put(output.kernel, c);
}

/*
 * Finishing the lines before takes a program's half line out of the way, after it the kernel's
 * own.
 */
void klog_va(const char *prefix, const char *format, va_list args)
{
	assert(format != NULL);
	log_output_begin();
	output.mid_log = false;
	log_finish_lines();
	while (*prefix != '\0')
		log_put(output.kernel, *prefix++);
	format_to(log_put_kernel, NULL, format, args);
	log_finish_lines();
	log_output_end();
}

void klog(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	klog_va("", format, args);
	va_end(args);
}

/*
 * The bytes of one call stay together.  There is nothing to finish first: no message of the kernel
 * leaves a line half done.
 */
void console_write(const char *bytes, size_t length)
{
	assert(bytes != NULL || length == 0);
	log_output_begin();
	if ((output.kernel & output.programs) != 0)
		output.mid_log = false;
	for (size_t i = 0; i < length; i++)
		log_put(output.programs, bytes[i]);
	log_output_end();
}

/* A line of its own that was begun before goes on, unless something came in between. */
void log_write(const char *bytes, size_t length)
{
	assert(bytes != NULL || length == 0);
	log_output_begin();
	if (!output.mid_log)
		log_finish_lines();
	for (size_t i = 0; i < length; i++)
		log_put(output.kernel, bytes[i]);
	output.mid_log = (output.mid_line & output.kernel) != 0;
	log_output_end();
}

/*
 * Takes nothing by waiting: the CPU that holds the lock may be the one that dies, or may have been
 * stopped while it held it.  Of several CPUs that die at once the first prints.
 */
void log_seize(void)
{
	uint32_t nobody = 0;

	__atomic_compare_exchange_n(&output.seizer, &nobody, 1 + cpu_number(), false,
				    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
	while (!log_seized_by_this_cpu())
		machine_relax();
}

bool log_uses(enum machine_console console)
{
	return ((output.kernel | output.programs) & BIT(console)) != 0;
}

/* Puts the console that `argument` names into each of the sets; the sets stay if it names none. */
static void log_choose(const char *argument, uint32_t *one, uint32_t *other)
{
	char name[16];

	if (!argument_string(argument, name, sizeof(name)))
		return;
	for (unsigned console = 0; console < MACHINE_CONSOLES; console++) {
		if (strcmp(name, console_names[console]) == 0) {
			*one = BIT(console) | (*one & KEPT);
			*other = BIT(console) | (*other & KEPT);
			return;
		}
	}
	klog("log: there is no console \"%s\"\n", name);
}

/* console= moves everything, then log= takes the kernel's messages elsewhere. */
void log_configure(void)
{
	log_choose("console", &output.kernel, &output.programs);
	log_choose("log", &output.kernel, &output.kernel);
	if (argument_present("raw"))
		output.with_cr = 0;
	assert((output.kernel & KEPT) != 0 && output.kernel != KEPT && output.programs != 0);
}
