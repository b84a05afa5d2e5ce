/* SPDX-License-Identifier: MIT */
/*
 * The ground that parts of the kernel stand on when they are tested on the host.
 *
 * A test program names in its first comment the sources it links, as `links: base/zone.c ...`,
 * under kernel/.  This gives them panic() and assertions, physical memory, and a log that tests can
 * read; all of it gives way to the kernel's own where a test links that.
 */
#ifndef HOST_KERNEL_H
#define HOST_KERNEL_H

#include <setjmp.h>
#include <stdbool.h>
#include <stdint.h>

#include "check.h"
#include "i386/cpu/memory.h"
#include "vm/page/page.h"

#define COUNT_OF(array) (sizeof(array) / sizeof((array)[0]))

/*
 * Expects that the statement ends in a failed assertion or a panic.  What it changed before stays
 * changed.  One that is not expected ends the program.
 */
#define EXPECT_PANIC(statement)                                                             \
	({                                                                                  \
		if (setjmp(host_panic_point) == 0) {                                        \
			host_panic_expect();                                                \
			statement;                                                          \
			host_panic_missed();                                                \
		}                                                                           \
		check_true(__FILE__, __LINE__, "a panic in: " #statement, host_panicked()); \
	})

extern jmp_buf host_panic_point;
void host_panic_expect(void);
void host_panic_missed(void);
bool host_panicked(void);

/* What the last panic, or the last failed assertion, said. */
const char *host_panic_text(void);

/* What klog() has printed since the last call of this. */
const char *host_log(void);

/* How often the page-out daemon was woken; whether the current thread is vm_privileged, and what
 * class it is of; whether there are users. */
extern unsigned host_pageout_wakes;
extern bool host_privileged;
extern enum page_class host_class;
extern bool host_users;

/* A number from 0 to n - 1 out of a repeatable sequence (base/random.h). */
uint32_t host_random_below(uint32_t *state, uint32_t n);

#endif
