/* SPDX-License-Identifier: MIT */
/*
 * callbench: what calls of the Unix server cost, in turns of the time stamp counter: under the
 * fixed instruction clock, in instructions.
 *
 * Each line is a name and the median of several samples.  `make bench` prints them in its table.
 * With names as arguments only these are measured; what only root may must be named.  Markers stand
 * around the samples of each.
 */
#include <assay.h>
#include <fcntl.h>
#include <mach.h>
#include <mach/map_fd.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ktrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bsm/audit.h>
#include <bsm/audit_kevents.h>

#define SAMPLES    101
#define FEW        21
#define PAGE       4096
#define FILE_NAME  "/bin/sh" /* Any that has pages enough, */
#define FILE_PAGES 16
#define PROGRAM    "/bin/true" /* and a program that does nothing. */

static _Noreturn void fail(const char *what)
{
	perror(what);
	exit(1);
}

/* ---------------- Operations ---------------- */

static int file = -1;
static char buffer[PAGE];

static void get_pid(void)
{
	getpid();
}

static void set_umask(void)
{
	umask(022);
}

static void open_and_close(void)
{
	int fd = open(FILE_NAME, O_RDONLY);

	if (fd < 0 || close(fd) != 0)
		fail(FILE_NAME);
}

/* The file's first pages again and again: they are in the cache from the first time on. */
static void read_page(void)
{
	static unsigned page;

	if (page++ % FILE_PAGES == 0)
		lseek(file, 0, SEEK_SET);
	if (read(file, buffer, PAGE) != PAGE)
		fail(FILE_NAME);
}

static void run_program(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		execl(PROGRAM, PROGRAM, NULL);
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 0)
		fail(PROGRAM);
}

/* ---------------- A call that is traced ---------------- */

/* Several may run in one folder. */
static char trace[32];

static void start_trace(void)
{
	snprintf(trace, sizeof trace, "callbench.%d.trace", getpid());
	close(open(trace, O_CREAT | O_TRUNC | O_WRONLY, 0600));
	if (ktrace(trace, KTROP_SET, KTRFAC_SYSCALL | KTRFAC_SYSRET, getpid()) != 0)
		fail("ktrace");
}

static void end_trace(void)
{
	if (ktrace(trace, KTROP_CLEARFILE, 0, 0) != 0)
		fail("ktrace");
	unlink(trace);
}

/* ---------------- A call that is audited ---------------- */

#define TRAIL "/tmp/callbench.trail"
#define CLASS 1u

/* There is a trail, and umask() is in it; getpid() never is.  The machine's own is not ended. */
static void start_audit(void)
{
	int condition = AUC_NOAUDIT;
	au_evclass_map_t class = {AUE_UMASK, CLASS};
	auditinfo_t info = {.ai_mask = {CLASS, CLASS}};

	if (auditon(A_GETCOND, &condition, sizeof condition) == 0 && condition == AUC_AUDITING) {
		fputs("callbench: a trail is written already: `audit -t` ends it\n", stderr);
		exit(1);
	}
	close(open(TRAIL, O_CREAT | O_TRUNC | O_WRONLY, 0600));
	if (auditon(A_SETCLASS, &class, sizeof class) != 0 || setaudit(&info) != 0 ||
	    auditctl(TRAIL) != 0)
		fail("audit");
}

static void end_audit(void)
{
	if (auditctl("") != 0)
		fail("audit");
	unlink(TRAIL);
}

/* ---------------- A pipe there and one back ---------------- */

static int there[2], back[2];

static void echo(void)
{
	char byte;

	while (read(there[0], &byte, 1) == 1 && write(back[1], &byte, 1) == 1)
		;
	_exit(0);
}

static void start_echo(void)
{
	if (pipe(there) != 0 || pipe(back) != 0)
		fail("pipe");
	if (fork() == 0) {
		close(there[1]);
		echo();
	}
	close(there[0]);
	close(back[1]);
}

static void round_trip(void)
{
	char byte = 'x';

	if (write(there[1], &byte, 1) != 1 || read(back[0], &byte, 1) != 1)
		fail("pipe");
}

/* ---------------- A page of a file ---------------- */

static volatile const char *next_page;

static void touch_page(void)
{
	(void)*next_page;
	next_page += PAGE;
}

/* A file of our own, which nobody has mapped before. */
static void map_new_file(void)
{
	const unsigned pages = SAMPLES + 1;
	static const char name[] = "callbench.data";
	vm_offset_t address = 0;
	int fd = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);

	if (fd < 0)
		fail(name);
	memset(buffer, 'x', sizeof buffer);
	for (unsigned page = 0; page < pages; page++) {
		if (write(fd, buffer, PAGE) != PAGE)
			fail(name);
	}
	if (map_fd(fd, 0, &address, TRUE, pages * PAGE) != KERN_SUCCESS)
		fail("map_fd");
	close(fd);
	unlink(name);
	next_page = (volatile const char *)address;
}

/* ---------------- Samples ---------------- */

static int compare(const void *one, const void *other)
{
	uint32_t a = *(const uint32_t *)one, b = *(const uint32_t *)other;

	return (a > b) - (a < b);
}

static void measure(const char *name, void (*operation)(void), unsigned samples)
{
	static uint32_t taken[SAMPLES];

	operation();
	hot_start();
	for (unsigned n = 0; n < samples; n++) {
		uint64_t begin = cycles();

		operation();
		taken[n] = (uint32_t)(cycles() - begin);
	}
	hot_stop();
	qsort(taken, samples, sizeof taken[0], compare);
	printf("%s %u\n", name, (unsigned)taken[samples / 2]);
}

static const struct row {
	const char *name;
	void (*operation)(void);
	unsigned samples;
	void (*prepare)(void);
	void (*finish)(void);
	int is_roots;
} rows[] = {
	{"getpid", get_pid, SAMPLES, NULL, NULL, 0},
	{"getpid-traced", get_pid, SAMPLES, start_trace, end_trace, 0},
	{"open-close", open_and_close, SAMPLES, NULL, NULL, 0},
	{"read-page", read_page, SAMPLES, NULL, NULL, 0},
	{"pipe", round_trip, SAMPLES, start_echo, NULL, 0},
	{"page-in", touch_page, SAMPLES, map_new_file, NULL, 0},
	{"fork-exec", run_program, FEW, NULL, NULL, 0},
	{"umask", set_umask, SAMPLES, NULL, NULL, 0},
	{"getpid-audited", get_pid, SAMPLES, start_audit, end_audit, 1},
	{"umask-audited", set_umask, SAMPLES, start_audit, end_audit, 1},
};

static int is_named(const char *name, char **names)
{
	while (*names != NULL && strcmp(*names, name) != 0)
		names++;
	return *names != NULL;
}

int main(int argc, char **argv)
{
	file = open(FILE_NAME, O_RDONLY);
	if (file < 0)
		fail(FILE_NAME);
	for (const struct row *row = rows; row < rows + sizeof rows / sizeof rows[0]; row++) {
		if (argc > 1 ? !is_named(row->name, argv + 1) : row->is_roots)
			continue;
		if (row->prepare != NULL)
			row->prepare();
		measure(row->name, row->operation, row->samples);
		if (row->finish != NULL)
			row->finish();
	}
	return 0;
}
