/* SPDX-License-Identifier: MIT */
/* How the machine stops on a bug of the kernel, and how the run ends otherwise. */
#ifndef I386_ENTRY_PANIC_H
#define I386_ENTRY_PANIC_H

#include <stdbool.h>
#include <stdint.h>
#include <stdnoreturn.h>

struct frame;

/* A panic whose registers and backtrace are those of `frame`, which was in kernel mode. */
noreturn void panic_at(const struct frame *frame, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* The end by a time limit, found out in an interrupt or an NMI that interrupted `frame`. */
noreturn void panic_timeout_at(const struct frame *frame, const char *why);

/* The number, and one, of the CPU that ends the run: it sets this once, atomically. */
extern uint32_t panic_ending;

/* Whether one does: for who waits for another CPU in an NMI, and may call nothing. */
static inline bool panic_ends_the_run(void)
{
	return __atomic_load_n(&panic_ending, __ATOMIC_ACQUIRE) != 0;
}

/* Whether this CPU ends the run: then no NMI is for it, though the sampling clock may send some. */
bool panic_is_here(void);

/* In the NMI handler: stops this CPU for good if another one ends the run. */
void panic_stop_if_asked(const struct frame *frame);

#endif
