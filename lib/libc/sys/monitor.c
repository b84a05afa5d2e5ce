/* SPDX-License-Identifier: MIT */
/*
 * monstartup(), moncontrol() and monitor(): a gmon.out out of what profil() counts.  Their manual
 * is docs/calls/monitor.md.  There is one profile, and one thread at a time begins and ends it.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/gmon.h>
#include <unistd.h>

#include "../internal.h"

#define UNIT           (HISTFRACTION * sizeof(HISTCOUNTER)) /* Bytes of code that have a counter. */
#define UNIT_MAX       0x10000u
#define SCALE_OF(unit) (2 * 0x10000u / (unit)) /* profil()'s; the smallest that it knows is 2. */
#define TEMPORARY      ".new"
#define CODE_END       0xc0000000u /* No program has any beyond. */

static struct {
	HISTCOUNTER *counters; /* NULL: nothing has been begun. */
	uint32_t n;
	uint32_t low;
	uint32_t unit;
	bool is_ours; /* The counters are to be freed. */
	pid_t pid;    /* Who has begun. */
} profile;

static __attribute__((format(printf, 1, 2))) void monitor_say(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	fprintf(stderr, "%s: ", getprogname());
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
}

/* ---------------- Beginning ---------------- */

static void monitor_forget(void)
{
	profil(NULL, 0, 0, 0);
	if (profile.is_ours)
		free(profile.counters);
	profile.counters = NULL;
}

static void monitor_switch(bool is_on)
{
	int result = is_on ? profil((char *)profile.counters, profile.n * sizeof(HISTCOUNTER),
				    profile.low, SCALE_OF(profile.unit))
			   : profil(NULL, 0, 0, 0);

	if (result != 0)
		monitor_say("moncontrol: the kernel does not profile this program: %s",
			    strerror(errno));
}

static void monitor_begin(uint32_t low, uint32_t unit, HISTCOUNTER *counters, uint32_t n)
{
	static bool is_registered;

	profile.low = low;
	profile.unit = unit;
	profile.counters = counters;
	profile.n = n;
	profile.pid = getpid();
	if (!is_registered && atexit(_mcleanup) != 0)
		monitor_say("no memory to write gmon.out at the end; call monitor(0)");
	is_registered = true;
	monitor_switch(true);
}

static bool monitor_may_begin(const char *who, uint32_t low, uint32_t high)
{
	if (__profile_control != NULL)
		monitor_say(
			"%s: all of this program is profiled (-pg); call moncontrol() for parts",
			who);
	else if (low >= high || high > CODE_END)
		monitor_say(
			"%s: there is no code from 0x%x to 0x%x; give where it begins and where "
			"it ends",
			who, low, high);
	return __profile_control == NULL && low < high && high <= CODE_END;
}

static uint32_t monitor_counters(uint32_t low, uint32_t high, uint32_t unit)
{
	return (high - low - 1) / unit + 1;
}

void monstartup(unsigned long lowpc, unsigned long highpc)
{
	uint32_t low = (uint32_t)(lowpc & ~(UNIT - 1)), n;
	HISTCOUNTER *counters;

	if (!monitor_may_begin("monstartup", lowpc, highpc))
		return;
	n = monitor_counters(low, highpc, UNIT);
	counters = calloc(n, sizeof *counters);
	if (counters == NULL) {
		monitor_say("monstartup: no memory for %u counters; profile less code, or call "
			    "monitor() with a buffer",
			    n);
		return;
	}
	monitor_forget();
	profile.is_ours = true;
	monitor_begin(low, UNIT, counters, n);
}

/* As many bytes of code have a counter as it takes for all to fit. */
static void monitor_begin_in(HISTCOUNTER *buffer, uint32_t room, uint32_t low, uint32_t high)
{
	uint32_t unit = UNIT;

	while (unit < UNIT_MAX && monitor_counters(low, high, unit) > room)
		unit *= 2;
	if (buffer == NULL || monitor_counters(low, high, unit) > room) {
		monitor_say(
			"monitor: a buffer of %u counters is too short for %u bytes of code; it "
			"takes %u at least",
			buffer == NULL ? 0 : room, high - low,
			monitor_counters(low, high, UNIT_MAX));
		return;
	}
	monitor_forget();
	memset(buffer, 0, room * sizeof *buffer);
	profile.is_ours = false;
	monitor_begin(low, unit, buffer, monitor_counters(low, high, unit));
}

void monitor(const void *lowpc, ...)
{
	uint32_t low = (uint32_t)(uintptr_t)lowpc, high, room;
	HISTCOUNTER *buffer;
	va_list arguments;

	if (lowpc == NULL) {
		_mcleanup();
		return;
	}
	va_start(arguments, lowpc);
	high = va_arg(arguments, uint32_t);
	buffer = va_arg(arguments, HISTCOUNTER *);
	room = va_arg(arguments, uint32_t);
	va_end(arguments);
	if (monitor_may_begin("monitor", low, high))
		monitor_begin_in(buffer, room, (uint32_t)(low & ~(UNIT - 1)), high);
}

void moncontrol(int mode)
{
	if (__profile_control != NULL)
		__profile_control(mode != 0);
	else if (profile.counters == NULL)
		monitor_say("moncontrol: nothing has been begun; call monstartup() first");
	else
		monitor_switch(mode != 0);
}

/* ---------------- The end ---------------- */

/* Where GNU's library has it; a child of the one that has begun has a file of its own. */
static void monitor_path(char path[PATH_MAX])
{
	const char *prefix = getenv("GMON_OUT_PREFIX");
	bool is_own = getuid() == geteuid() && getgid() == getegid();

	if (prefix != NULL && prefix[0] != '\0' && is_own)
		snprintf(path, PATH_MAX, "%s.%d", prefix, getpid());
	else if (getpid() != profile.pid)
		snprintf(path, PATH_MAX, "gmon.out.%d", getpid());
	else
		snprintf(path, PATH_MAX, "gmon.out");
}

static bool monitor_put(FILE *file)
{
	const size_t size = profile.n * sizeof(HISTCOUNTER);
	const struct gmonhdr head = {
		.lpc = profile.low,
		.hpc = profile.low + profile.n * profile.unit,
		.ncnt = (int32_t)(sizeof head + size),
		.version = GMONVERSION,
		.profrate = (int32_t)sysconf(_SC_CLK_TCK),
	};
	bool is_put = fwrite(&head, sizeof head, 1, file) == 1 &&
		      fwrite(profile.counters, 1, size, file) == size;

	return fclose(file) == 0 && is_put;
}

/*
 * The file is one of another name until it is whole: what was there before is kept for so long, and
 * nothing is written through a link that somebody has planted.
 */
static void monitor_write(void)
{
	char path[PATH_MAX], temporary[PATH_MAX + sizeof TEMPORARY];
	FILE *file;
	int fd;

	monitor_path(path);
	snprintf(temporary, sizeof temporary, "%s" TEMPORARY, path);
	unlink(temporary);
	fd = open(temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
	file = fd >= 0 ? fdopen(fd, "w") : NULL;
	if (file == NULL || !monitor_put(file) || rename(temporary, path) != 0)
		monitor_say("%s cannot be written: %s; run it in a folder that you may write to, "
			    "with room on the disk",
			    path, strerror(errno));
	unlink(temporary); /* It is there only if something went wrong. */
}

void _mcleanup(void)
{
	if (__profile_write != NULL) {
		__profile_write();
	} else if (profile.counters != NULL) {
		monitor_switch(false);
		monitor_write();
		monitor_forget();
	}
}
