/* SPDX-License-Identifier: MIT */
/*
 * What a boot program may use: the kernel's traps, and a few functions on top of them.
 *
 * Boot programs run before there is a C library, with nothing below them but the kernel.  This
 * header and libassay.a are all they need; the numbers and layouts come from include/.
 */
#ifndef ASSAY_H
#define ASSAY_H

#include <assay/report.h>
#include <assay/traps.h>
#include <mach/kern_return.h>
#include <mach/traps.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_SIZE        4096u
#define PRIORITY_USUAL   25 /* Of a thread that asks for nothing special; 0 is best, 63 last. */
#define TIMEOUT_NONE     0xffffffffu /* Wait without a limit. */
#define CPU_ANY          (-1)
#define NANOS_PER_SECOND 1000000000u

/* Mach's traps (traps.c). */
kern_return_t mach_print(const char *string);
kern_return_t null_trap(void); /* A hole in the table: KERN_INVALID_ARGUMENT, and nothing else. */
bool swtch(void);              /* Yields; true if other threads may want this CPU. */
bool swtch_pri(int priority);  /* The same at the worst priority. */
kern_return_t thread_switch(uint32_t thread, int option, uint32_t milliseconds);

/* Assay's own traps (traps.c). */
_Noreturn void assay_exit(int status); /* Ends the task with all its threads. */
kern_return_t assay_thread_create(void (*entry)(void), void *stack_top, int priority, uint32_t *id);
_Noreturn void assay_thread_exit(void);
kern_return_t assay_thread_join(uint32_t id, uint32_t timeout_ms);
kern_return_t assay_thread_bind(int cpu);
kern_return_t assay_memory_map(void *address, uint32_t size, uint32_t protection);
kern_return_t assay_memory_unmap(void *address, uint32_t size);
kern_return_t assay_memory_protect(void *address, uint32_t size, uint32_t protection);
kern_return_t assay_clock_read(enum assay_clock which, uint64_t *value);
kern_return_t assay_counts(struct machine_count *counts, uint32_t room, uint32_t *n);
kern_return_t assay_cpu_info(struct assay_cpu_info *info);
kern_return_t assay_fail_allocation(uint32_t site, uint32_t nth);
kern_return_t assay_allocation_site(uint32_t site, struct assay_allocation_site *info);
kern_return_t assay_interrupts_off(uint32_t microseconds); /* At most 100,000. */

/*
 * Starts run(argument) in a thread of its own, on a stack that the caller provides and keeps until
 * the thread has been joined.  The thread ends when run returns.  (thread.c)
 */
kern_return_t thread_start(void (*run)(void *), void *argument, void *stack, size_t size,
			   int priority, uint32_t *id);

/*
 * Formatted output (print.c): %d %i %u %x %c %s %p %%, the modifiers l, ll and z, the flags - and
 * 0, and a width as a number or *.  format() writes at most `room` bytes, always ends them with a
 * zero and returns how many characters the whole would have taken.  One print() of a line under
 * PRINT_CHUNK characters is one trap, so lines of several threads do not mix.
 */
#define PRINT_CHUNK 512
void print(const char *format, ...) __attribute__((format(printf, 1, 2)));
void print_list(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
size_t format(char *buffer, size_t room, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
size_t format_list(char *buffer, size_t room, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));

/* Divides *number in place and returns the remainder: 64-bit division without a runtime library. */
uint32_t divide(uint64_t *number, uint32_t by);

/* The usual functions of <string.h> and <stdlib.h> (string.c). */
void *memcpy(void *to, const void *from, size_t size);
void *memmove(void *to, const void *from, size_t size);
void *memset(void *to, int byte, size_t size);
int memcmp(const void *one, const void *other, size_t size);
size_t strlen(const char *string);
int strcmp(const char *one, const char *other);
int strncmp(const char *one, const char *other, size_t limit);
char *strchr(const char *string, int character);
unsigned long strtoul(const char *string, char **end, int base);

/* What `tools/hot --marked` counts between: see docs/tools/hot.md.  They change nothing. */
#define hot_start() __asm__ volatile("xchgw %%bx, %%bx" ::: "memory")
#define hot_stop()  __asm__ volatile("xchgw %%cx, %%cx" ::: "memory")

/* The time stamp counter: under the fixed instruction clock, the number of instructions so far. */
static inline uint64_t cycles(void)
{
	uint32_t low, high;

	__asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
	return (uint64_t)high << 32 | low;
}

#endif
