/* SPDX-License-Identifier: MIT */
/*
 * The kernel's log and the console that programs print on.
 *
 * Both go out through the sinks that the command line names (console=, log=).  Output is polled and
 * synchronous, so that the last words of a dying kernel are seen; one lock keeps lines whole, and a
 * panic takes it by force.
 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/machine.h"

/*
 * Prints one formatted message of the kernel, on a line of its own: a line that a program has begun
 * on the same device is ended first, and a message that does not end in "\n" gets one.
 */
void klog(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* As klog(), with `prefix` before it, on the same line. */
void klog_va(const char *prefix, const char *format, va_list args);

/* Prints `length` bytes for a program, byte for byte. */
void console_write(const char *bytes, size_t length);

/* Adds `length` bytes of a program's to the log; those of one call stay together. */
void log_write(const char *bytes, size_t length);

/* Chooses the sinks from the kernel's command line; before that the log goes to both defaults. */
void log_configure(void);

/* Whether messages of the kernel, or what programs print, go there. */
bool log_uses(enum machine_console console);

/*
 * From now on this CPU alone prints, whoever holds the lock: every other CPU that tries waits for
 * ever.  For panic only, and for one CPU.
 */
void log_seize(void);

#endif
