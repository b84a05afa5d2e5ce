/* SPDX-License-Identifier: MIT */
/* The kernel's surroundings on the host: see kernel.h. */
#include "host/kernel.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc_site.h"
#include "base/assert.h"
#include "base/log.h"
#include "base/machine.h"
#include "base/random.h"
#include "thread/share.h"
#include "thread/work.h"
#include "vm/pager/pageout.h"

#define TEXT_SIZE 4096

/* CPUs of the host's own threads all run; a test that has others brings the rest of holder.h. */
bool cpus_in_turn;

char host_memory[HOST_MEMORY_SIZE] __attribute__((aligned(PAGE_SIZE)));

jmp_buf host_panic_point;

static bool panic_expected;
static bool panicked;
static char panic_text[TEXT_SIZE];

static char log_text[TEXT_SIZE];
static size_t log_length;

void host_panic_expect(void)
{
	panic_expected = true;
	panicked = false;
}

void host_panic_missed(void)
{
	panic_expected = false;
}

bool host_panicked(void)
{
	return panicked;
}

const char *host_panic_text(void)
{
	return panic_text;
}

/* Leaves the code that has failed, or the program if nobody waits for the failure. */
static noreturn void leave(void)
{
	if (!panic_expected) {
		check_fail("%s", panic_text);
		exit(EXIT_FAILURE);
	}
	panic_expected = false;
	panicked = true;
	longjmp(host_panic_point, 1);
}

void assert_failed(const char *expression, const char *file, int line)
{
	snprintf(panic_text, sizeof(panic_text), "%s:%d: assertion failed: %s", file, line,
		 expression);
	leave();
}

void panic(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	vsnprintf(panic_text, sizeof(panic_text), format, args);
	va_end(args);
	leave();
}

__attribute__((weak)) void klog(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	log_length += (size_t)vsnprintf(log_text + log_length, sizeof(log_text) - log_length,
					format, args);
	va_end(args);
	if (log_length >= sizeof(log_text))
		log_length = sizeof(log_text) - 1;
}

const char *host_log(void)
{
	static char text[TEXT_SIZE];

	memcpy(text, log_text, log_length);
	text[log_length] = '\0';
	log_length = 0;
	return text;
}

__attribute__((weak)) void page_clear(void *page)
{
	memset(page, 0, PAGE_SIZE);
}

__attribute__((weak)) void page_copy(void *to, const void *from)
{
	memcpy(to, from, PAGE_SIZE);
}

unsigned host_pageout_wakes;
bool host_privileged;
enum page_class host_class;
bool host_users;

__attribute__((weak)) void pageout_wake(void)
{
	host_pageout_wakes++;
}

__attribute__((weak)) uint32_t pause_turns_left = 1;

__attribute__((weak)) void kernel_pause(void)
{
}

__attribute__((weak)) bool page_caller_is_privileged(void)
{
	return host_privileged;
}

__attribute__((weak)) enum page_class page_caller_class(void)
{
	return host_class;
}

uint32_t page_caller_label(void)
{
	return 0;
}

__attribute__((weak)) bool page_users_are_there(void)
{
	return host_users;
}

/* On the host no allocation is made to fail. */
bool alloc_watched;

bool alloc_site_hit(struct alloc_site *site)
{
	(void)site;
	return false;
}

uint32_t host_random_below(uint32_t *state, uint32_t n)
{
	return (uint32_t)((uint64_t)random_next(state) * n >> 32);
}

__attribute__((weak)) void holder_pause(void)
{
	machine_pause();
}

/* On the host no thread waits for its owner's turn. */
__attribute__((weak)) void share_init(struct share *share)
{
	(void)share;
}

__attribute__((weak)) void share_end(const struct share *share)
{
	(void)share;
}
